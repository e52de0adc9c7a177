//! The decisions of the runtime's `backend::redis::quorum`.

include!("../../../../../../lock-runtime/src/backend/redis/quorum/pure.rs");

mod reduced;

pub(crate) use reduced::Time;
