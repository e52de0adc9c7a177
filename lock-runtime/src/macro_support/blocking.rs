//! One call of a synchronous locked function.

use crate::client::LockGuard;

/// Runs a synchronous body inside the call tree of `guard`.
pub fn run_blocking<R>(guard: &LockGuard, body: impl FnOnce() -> R) -> R {
    guard.run_body_blocking(body)
}
