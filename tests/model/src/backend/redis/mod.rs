//! What the runtime's `backend::redis` decides without I/O.

pub(crate) mod quorum;
