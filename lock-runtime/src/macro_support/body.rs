//! Running a body under a lock: what the attribute and `run` have in common.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::futures::Notified;

use crate::call_tree::{self, Current, OnLoss, Scope};
use crate::client::guard::LockGuard;
use crate::control::is_removed;
use crate::error::LockError;
use crate::lease::{Hold, Loss};
use crate::telemetry;

/// What becomes of a body whose lock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLost {
    /// It is dropped at its current await, and the call fails.
    Cancel,
    /// It runs to its end, and its result is kept.
    Finish,
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was dropped, since its lock was lost.
    Dropped,
    /// It ended by itself, with an error of its own: no failure of the lock ever replaces that.
    Failed,
    /// It ended by itself.
    Well,
}

impl Ended {
    /// It ended by itself; `failed` says whether its result is an error of its own.
    pub fn with(failed: bool) -> Ended {
        if failed { Ended::Failed } else { Ended::Well }
    }

    pub(crate) fn of<R>(outcome: &Result<R, LockError>) -> Ended {
        match outcome {
            Ok(_) => Ended::Well,
            Err(_) => Ended::Dropped,
        }
    }
}

/// Polls a body inside its call tree for as long as the lock is held.
///
/// The body stays where its caller pinned it: moving it in here would copy it. It is dropped from
/// here, though, inside its call tree: what its destructors call enters the lock, and does not
/// wait for it.
///
/// This is compiled once more for every locked function, so it only tells the [`Driver`], which is
/// compiled once, what to poll.
#[must_use = "futures do nothing unless polled"]
pub struct Drive<'a, B> {
    body: Pin<&'a mut Option<B>>,
    driver: Driver<'a>,
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
    Driver::new(guard, on_lost).of(body)
}

impl<B: Future> Future for Drive<'_, B> {
    type Output = Result<B::Output, LockError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut inside = this.driver.enter();
        if let Err(lost) = inside.start(&mut this.body) {
            return Poll::Ready(Err(lost));
        }
        let body = this.body.as_mut().as_pin_mut();
        match body
            .expect("a body is not polled after it has ended")
            .poll(cx)
        {
            // Whether the lock was held until here is settled with the release: an error of the
            // body's own goes before.
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => inside.sleep(&mut this.body, cx).map(Err),
        }
    }
}

impl<B> Drop for Drive<'_, B> {
    fn drop(&mut self) {
        self.driver.discard(&mut self.body);
    }
}

impl<B> fmt::Debug for Drive<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive")
            .field("hold", &self.driver.hold)
            .finish_non_exhaustive()
    }
}

/// A place that a body can be dropped in.
trait Discard {
    fn discard(&mut self);
}

impl<B> Discard for Pin<&mut Option<B>> {
    fn discard(&mut self) {
        self.set(None);
    }
}

/// What is the same for every body.
pub(super) struct Driver<'a> {
    hold: &'a Hold,
    /// The body's scope, and while the body is inside, the one to return to.
    scope: Option<Current>,
    on_lost: OnLost,
    started: bool,
    /// Wakes this task when the hold is lost; made when the body sleeps for the first time. Boxed,
    /// so that the future of a locked function is no larger for it.
    lost: Option<Pin<Box<Notified<'a>>>>,
}

impl<'a> Driver<'a> {
    pub(super) fn new(guard: &'a LockGuard, on_lost: OnLost) -> Driver<'a> {
        let on_loss = match on_lost {
            OnLost::Cancel => OnLoss::Dropped,
            OnLost::Finish => OnLoss::Finishes,
        };
        Driver {
            hold: guard.frame().held(),
            scope: Some(Current::new(Scope::inside_current(
                guard.client().id(),
                guard.frame(),
                on_loss,
            ))),
            on_lost,
            started: false,
            lost: None,
        }
    }

    pub(super) fn of<B>(self, body: Pin<&'a mut Option<B>>) -> Drive<'a, B> {
        Drive { body, driver: self }
    }

    fn enter(&mut self) -> Inside<'_, 'a> {
        call_tree::enter(&mut self.scope);
        Inside(self)
    }

    /// Drops the body where what its destructors call enters the lock.
    #[inline(never)]
    fn discard(&mut self, body: &mut dyn Discard) {
        let _inside = self.enter();
        body.discard();
    }
}

/// The body's scope is the current one until this is dropped.
struct Inside<'i, 'a>(&'i mut Driver<'a>);

impl Inside<'_, '_> {
    /// Looks at the lock before a poll.
    fn start(&mut self, body: &mut dyn Discard) -> Result<(), LockError> {
        let driver = &mut *self.0;
        // Whatever is to become of a body whose lock is lost, none starts without it.
        let stops = driver.on_lost == OnLost::Cancel || !driver.started;
        driver.started = true;
        if stops && let Some(loss) = driver.hold.loss() {
            body.discard();
            return Err(driver.hold.lost_error(loss));
        }
        Ok(())
    }

    /// Looks at the lock after a poll that left the body asleep. `Ready` says that it was stopped.
    fn sleep(&mut self, body: &mut dyn Discard, cx: &mut Context<'_>) -> Poll<LockError> {
        let driver = &mut *self.0;
        if driver.on_lost == OnLost::Finish {
            return Poll::Pending;
        }
        // Registers this task, so that a loss wakes it up while the body sleeps. What was notified
        // is not looked at: the answer to the question below is.
        let hold = driver.hold;
        let lost = driver.lost.get_or_insert_with(|| Box::pin(hold.notified()));
        let _ = lost.as_mut().poll(cx);
        match hold.loss() {
            Some(loss) if !is_removed!("check_after_a_poll") => {
                body.discard();
                Poll::Ready(hold.lost_error(loss))
            }
            _ => Poll::Pending,
        }
    }
}

impl Drop for Inside<'_, '_> {
    /// Once, and not in every locked function.
    #[inline(never)]
    fn drop(&mut self) {
        call_tree::leave(&mut self.0.scope);
    }
}

/// Gives the lock back after a body that ended so. `Err` is to replace the body's result.
///
/// # Errors
///
/// `Lost`: the lock turned out not to have been held throughout, and neither the attribute nor the
/// body's own error keeps the result.
pub(crate) async fn settle(
    guard: LockGuard,
    on_lost: OnLost,
    ended: Ended,
) -> Result<(), LockError> {
    warn_if_shared(&guard);
    verdict(on_lost, ended, guard.release().await)
}

/// As `settle`, blocking the thread.
///
/// # Errors
///
/// As `settle`.
pub fn settle_blocking(guard: LockGuard, on_lost: OnLost, ended: Ended) -> Result<(), LockError> {
    warn_if_shared(&guard);
    verdict(on_lost, ended, guard.release_blocking())
}

/// Runs a synchronous body inside the call tree of `guard`.
pub fn run_blocking<R>(guard: &LockGuard, body: impl FnOnce() -> R) -> R {
    let scope = Scope::inside_current(guard.client().id(), guard.frame(), OnLoss::Blocks);
    let _entered = call_tree::entered(Some(scope));
    body()
}

/// What the release means for the result of a body that ended so.
fn verdict(
    on_lost: OnLost,
    ended: Ended,
    released: Result<(), LockError>,
) -> Result<(), LockError> {
    let keeps = match ended {
        Ended::Dropped => false,
        Ended::Failed => true,
        Ended::Well => on_lost == OnLost::Finish,
    };
    match released {
        Err(lost) if keeps => {
            telemetry::finished_without_lock(&lost);
            Ok(())
        }
        released => released,
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

    fn lost() -> Result<(), LockError> {
        Err(LockError::new(LockErrorKind::Lost))
    }

    #[test]
    fn ok_means_held_throughout() {
        let verdict = verdict(OnLost::Cancel, Ended::Well, lost());
        assert!(verdict.unwrap_err().is_lost());
    }

    #[test]
    fn the_bodys_own_error_is_never_masked() {
        assert!(verdict(OnLost::Cancel, Ended::with(true), lost()).is_ok());
        assert!(verdict(OnLost::Cancel, Ended::with(false), lost()).is_err());
    }

    #[test]
    fn finish_keeps_the_result_of_a_lost_body() {
        assert!(verdict(OnLost::Finish, Ended::Well, lost()).is_ok());
    }

    #[test]
    fn a_dropped_body_has_no_result() {
        for on_lost in [OnLost::Cancel, OnLost::Finish] {
            assert!(verdict(on_lost, Ended::Dropped, lost()).is_err());
        }
    }
}
