//! Somebody else's code, in the midst of ours.
//!
//! Wakers, subscribers and recorders are made by others, and may panic. That is no reason for a lock
//! to stay, or for a lease not to be renewed.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls what may panic. `None` if it did: the panic's message was printed, and that is all.
pub(crate) fn catch_panics<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}
