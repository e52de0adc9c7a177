//! Runs one call of a synchronous locked function.

use crate::backend::caller::{Caller, on_this_thread};
use crate::call_tree::OnLost;
use crate::client::LockGuard;
use crate::client::body_end::{BodyEnd, release_after};
use crate::error::LockError;

/// Runs a synchronous body inside the call tree of `guard`.
pub fn run_blocking<R>(guard: &LockGuard, body: impl FnOnce() -> R) -> R {
    guard.run_body_blocking(body)
}

/// Releases the lock after a body with this end. `Err` replaces the body's result.
///
/// # Errors
///
/// `Lost`: the lock was not held throughout, and neither the attribute nor the body's own error keeps the result.
pub fn release_after_blocking(
    guard: LockGuard,
    on_lost: OnLost,
    end: BodyEnd,
) -> Result<(), LockError> {
    on_this_thread(release_after(Caller::Thread, guard, on_lost, end))
}
