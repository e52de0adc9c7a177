//! The machines of the runtime's `backend::engine`.

include!("../../../../../lock-runtime/src/backend/engine/pure.rs");

mod reduced;

pub(crate) use reduced::{JITTER, NOW, NOW_HELD, before_now};
