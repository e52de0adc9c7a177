//! The decisions of the runtime's `backend::wire`.

include!("../../../../../lock-runtime/src/backend/wire/pure.rs");

pub(crate) mod error;
mod reduced;

pub(crate) use reduced::PRESENT;
