//! The decisions of the runtime's `backend::wire`.

include!("../../../../../lock-runtime/src/backend/wire/pure.rs");

mod reduced;

pub(crate) use reduced::PRESENT;
