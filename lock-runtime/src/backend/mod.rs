//! Where locks are kept.

pub(crate) mod memory;
