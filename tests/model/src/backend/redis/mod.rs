//! The decisions of the runtime's `backend::redis`.

pub(crate) mod quorum;
