//! The machines of the runtime's `backend::engine`.

include!("../../../../../lock-runtime/src/backend/engine/pure.rs");
