//! Running a body under a lock: what the attribute and `run` have in common.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::futures::Notified;

use crate::error::LockError;
use crate::guard::LockGuard;
use crate::hold::{Hold, Loss};
use crate::holds::{self, OnLoss, Scope};
use crate::telemetry;

/// What becomes of a body whose lock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLost {
    /// It is dropped at its current await, and the call fails.
    Cancel,
    /// It runs to its end, and its result is kept.
    Finish,
}

/// Polls a body inside its call tree for as long as the lock is held.
///
/// The body stays where its caller pinned it: moving it in here would copy it. It is dropped from
/// here, though, inside its call tree: what its destructors call enters the lock, and does not
/// wait for it.
#[must_use = "futures do nothing unless polled"]
pub struct Drive<'a, B> {
    body: Pin<&'a mut Option<B>>,
    hold: &'a Hold,
    scope: Arc<Scope>,
    on_lost: OnLost,
    started: bool,
    /// Wakes this task when the hold is lost; made when the body sleeps for the first time. Boxed,
    /// so that the future of a locked function is no larger for it.
    lost: Option<Pin<Box<Notified<'a>>>>,
}

impl<B> Drop for Drive<'_, B> {
    fn drop(&mut self) {
        let _entered = holds::enter(&self.scope);
        self.body.set(None);
    }
}

/// Runs `body` under `guard`. `Err` says that the lock was lost and the body dropped.
///
/// The deadline is compared before and after every poll, so a body that was asleep when its
/// lease ended does not run on, and one that blocked beyond it does not pass for held.
pub fn drive<'a, B: Future>(
    guard: &'a LockGuard,
    on_lost: OnLost,
    body: Pin<&'a mut Option<B>>,
) -> Drive<'a, B> {
    let on_loss = match on_lost {
        OnLost::Cancel => OnLoss::Dropped,
        OnLost::Finish => OnLoss::Finishes,
    };
    let hold: &Hold = guard.frame().held();
    Drive {
        body,
        hold,
        scope: Scope::inside_current(guard.client().id(), guard.frame(), on_loss),
        on_lost,
        started: false,
        lost: None,
    }
}

impl<B: Future> Future for Drive<'_, B> {
    type Output = Result<B::Output, LockError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let _entered = holds::enter(&this.scope);
        // Whatever is to become of a body whose lock is lost, none starts without it.
        let stops = this.on_lost == OnLost::Cancel || !this.started;
        this.started = true;
        if stops && let Some(loss) = this.hold.loss() {
            this.body.set(None);
            return Poll::Ready(Err(this.hold.lost_error(loss)));
        }
        let body = this.body.as_mut().as_pin_mut();
        let polled = body
            .expect("a body is not polled after it has ended")
            .poll(cx);
        if this.on_lost == OnLost::Finish || polled.is_ready() {
            // Whether the lock was held until here is settled with the release: an error of the
            // body's own goes before.
            return polled.map(Ok);
        }
        // Registers this task, so that a loss wakes it up while the body sleeps. What was notified
        // is not looked at: the answer to the question below is.
        let hold = this.hold;
        let lost = this.lost.get_or_insert_with(|| Box::pin(hold.notified()));
        let _ = lost.as_mut().poll(cx);
        match this.hold.loss() {
            None => Poll::Pending,
            Some(loss) => {
                this.body.set(None);
                Poll::Ready(Err(this.hold.lost_error(loss)))
            }
        }
    }
}

impl<B> fmt::Debug for Drive<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive")
            .field("hold", &self.hold)
            .finish_non_exhaustive()
    }
}

/// Gives the lock back after a body, and applies the contract to its result.
///
/// `failed` says whether the result is an error of the body's own, which no failure of the lock
/// ever replaces.
///
/// # Errors
///
/// `Lost`: the body was dropped because of it, or the lock turned out not to have been held
/// throughout.
pub async fn settle<R>(
    guard: LockGuard,
    on_lost: OnLost,
    outcome: Result<R, LockError>,
    failed: impl FnOnce(&R) -> bool,
) -> Result<R, LockError> {
    warn_if_shared(&guard);
    // Boxed, so that the future of every locked function is no larger for it.
    let released = Box::pin(guard.release()).await;
    verdict(on_lost, outcome, released, failed)
}

/// As [`settle`], blocking the thread; a synchronous body always has a result.
///
/// # Errors
///
/// As [`settle`].
pub fn settle_blocking<R>(
    guard: LockGuard,
    on_lost: OnLost,
    output: R,
    failed: impl FnOnce(&R) -> bool,
) -> Result<R, LockError> {
    warn_if_shared(&guard);
    let released = guard.release_blocking();
    verdict(on_lost, Ok(output), released, failed)
}

/// Runs a synchronous body inside the call tree of `guard`.
pub fn run_blocking<R>(guard: &LockGuard, body: impl FnOnce() -> R) -> R {
    let scope = Scope::inside_current(guard.client().id(), guard.frame(), OnLoss::Blocks);
    let _entered = holds::enter(&scope);
    body()
}

/// The result of a call, from that of its body and that of the release.
fn verdict<R>(
    on_lost: OnLost,
    outcome: Result<R, LockError>,
    released: Result<(), LockError>,
    failed: impl FnOnce(&R) -> bool,
) -> Result<R, LockError> {
    let output = outcome?;
    match released {
        Err(lost) if on_lost == OnLost::Cancel && !failed(&output) => Err(lost),
        Err(lost) => {
            telemetry::finished_without_lock(&lost);
            Ok(output)
        }
        Ok(()) => Ok(output),
    }
}

/// A body that ends while others share its hold leaves the lock with them: seldom meant.
fn warn_if_shared(guard: &LockGuard) {
    let held = guard.frame().held();
    if guard.frame().is_outermost() && guard.hold_count() > 1 && held.loss() != Some(Loss::Shutdown)
    {
        telemetry::hold_outlives_body(held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LockErrorKind;

    fn lost() -> LockError {
        LockError::new(LockErrorKind::Lost)
    }

    fn is_err(output: &Result<u8, &str>) -> bool {
        output.is_err()
    }

    #[test]
    fn ok_means_held_throughout() {
        let verdict = verdict(OnLost::Cancel, Ok(Ok(1)), Err(lost()), is_err);
        assert!(verdict.unwrap_err().is_lost());
    }

    #[test]
    fn the_bodys_own_error_is_never_masked() {
        let verdict = verdict(OnLost::Cancel, Ok(Err("no stock")), Err(lost()), is_err);
        assert_eq!(verdict.unwrap(), Err("no stock"));
    }

    #[test]
    fn finish_keeps_the_result_of_a_lost_body() {
        assert_eq!(
            verdict(OnLost::Finish, Ok(Ok(1)), Err(lost()), is_err).unwrap(),
            Ok(1)
        );
    }

    #[test]
    fn a_dropped_body_has_no_result() {
        assert!(
            verdict(OnLost::Cancel, Err(lost()), Ok(()), is_err)
                .unwrap_err()
                .is_lost()
        );
    }
}
