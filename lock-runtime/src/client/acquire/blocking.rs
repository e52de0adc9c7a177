//! The calls that block their thread.

use std::time::Duration;

use super::{Acquire, unless_busy};
use crate::backend::caller::{Caller, on_this_thread};
use crate::call_tree::OnLost;
use crate::client::body_end::{self, BodyEnd};
use crate::client::guard::LockGuard;
use crate::error::LockError;

impl Acquire {
    /// Like [`acquire`](Acquire::acquire), but blocks the thread.
    ///
    /// This works with and without a runtime. Inside one, the thread's other tasks do not run meanwhile, so never wait
    /// here for a lock that another task of the same thread holds.
    ///
    /// # Errors
    ///
    /// The same as [`acquire`](Acquire::acquire). If the call tree holds the lock and a sibling is inside, the call
    /// fails at once with `Reentered`: it cannot wait, since both may live in one task.
    pub fn acquire_blocking(self) -> Result<LockGuard, LockError> {
        on_this_thread(self.acquire_for(Caller::Thread))
    }

    /// Like [`try_acquire`](Acquire::try_acquire), but blocks the thread, for at most one attempt.
    ///
    /// # Errors
    ///
    /// The same as [`acquire_blocking`](Acquire::acquire_blocking), except `Busy`.
    pub fn try_acquire_blocking(self) -> Result<Option<LockGuard>, LockError> {
        unless_busy(self.wait(Duration::ZERO).acquire_blocking())
    }

    /// Like [`run`](Acquire::run), but blocks the thread.
    ///
    /// The body cannot be stopped: if the lock is lost, the body runs to its end, and then the call fails with `Lost`.
    ///
    /// # Errors
    ///
    /// The same as [`acquire_blocking`](Acquire::acquire_blocking), and `Lost`.
    pub fn run_blocking<R>(self, body: impl FnOnce(&LockGuard) -> R) -> Result<R, LockError> {
        let guard = self.acquire_blocking()?;
        let output = guard.run_body_blocking(|| body(&guard));
        on_this_thread(body_end::release_after(
            Caller::Thread,
            guard,
            OnLost::Cancel,
            BodyEnd::Succeeded,
        ))?;
        Ok(output)
    }
}
