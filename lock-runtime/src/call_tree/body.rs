//! Runs a body inside its call tree, for as long as the lock is held.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::futures::Notified;

use super::current::{self, Current, current, entered};
use super::frame::Frame;
use super::on_lost::OnLost;
use super::scope::Scope;
use crate::backend::memory::Memory;
use crate::control::is_removed;
use crate::error::LockError;
use crate::lease::Lease;

/// Polls a body inside its call tree for as long as the lock is held. `Err` means that the lock was lost and
/// the body dropped.
///
/// The body stays where its caller pinned it, since moving it in here would copy it. Nevertheless this drops it, inside
/// its call tree, so that its destructors enter the lock instead of waiting for it.
///
/// This is compiled for every locked function, so it only passes the body to the [`BodyDriver`], which is compiled
/// once.
#[must_use = "futures do nothing unless polled"]
pub struct Drive<'a, B> {
    body: Pin<&'a mut Option<B>>,
    driver: BodyDriver<'a>,
}

impl<B: Future> Future for Drive<'_, B> {
    type Output = Result<B::Output, LockError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut inside = this.driver.enter();
        if let Err(lost) = inside.before_poll(&mut this.body) {
            return Poll::Ready(Err(lost));
        }
        let body = this.body.as_mut().as_pin_mut();
        match body
            .expect("a body is not polled after it has ended")
            .poll(cx)
        {
            // The release decides whether the lock was held until now, and the body's own error takes precedence.
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => inside.after_poll(&mut this.body, cx).map(Err),
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
            .field("lease", &self.driver.lease)
            .finish_non_exhaustive()
    }
}

/// Drops a body in place, whatever its type.
trait Discard {
    fn discard(&mut self);
}

impl<B> Discard for Pin<&mut Option<B>> {
    fn discard(&mut self) {
        self.set(None);
    }
}

/// The part of [`Drive`] that is the same for every body.
///
/// The deadline is checked before every poll, and after every poll that leaves the body asleep. So a body that was
/// asleep when its lease ended does not continue. When a body ends, the release makes the check.
pub(crate) struct BodyDriver<'a> {
    lease: &'a Lease,
    /// `None` for nearly every body, which holds one lease, and which no test interrupts.
    beside: Option<Box<Beside<'a>>>,
    /// The body's scope, and while the body is inside, the one to return to.
    scope: Option<Current>,
    on_lost: OnLost,
    is_started: bool,
    /// Wakes this task when the lease is lost; made when the body sleeps for the first time. Boxed,
    /// so that the future of a locked function is no larger for it.
    lost: Option<Pin<Box<Notified<'a>>>>,
}

/// What few bodies have.
struct Beside<'a> {
    /// The other leases under which the body runs: the leases of locks that its call tree already held.
    leases: Vec<&'a Lease>,
    /// Like [`BodyDriver::lost`], for each of the leases.
    lost: Vec<Pin<Box<Notified<'a>>>>,
    /// The store of a test that interrupts bodies.
    interrupting: Option<&'a Memory>,
    awaits: usize,
}

impl<'a> Beside<'a> {
    fn of(leases: Vec<&'a Lease>, interrupting: Option<&'a Memory>) -> Option<Box<Beside<'a>>> {
        (!leases.is_empty() || interrupting.is_some()).then(|| {
            Box::new(Beside {
                leases,
                lost: Vec::new(),
                interrupting,
                awaits: 0,
            })
        })
    }

    /// Counts an await of the body under `lease` for a test, and returns whether that interrupts it.
    fn is_interrupted(&mut self, lease: &Lease) -> bool {
        let Some(memory) = self.interrupting else {
            return false;
        };
        let number = self.awaits;
        self.awaits += 1;
        memory.body_slept(lease, number)
    }

    /// Makes the loss of a lease wake this task.
    fn register(&mut self, cx: &mut Context<'_>) {
        if self.lost.is_empty() {
            let leases = self.leases.iter();
            self.lost = leases.map(|lease| Box::pin(lease.notified())).collect();
        }
        for lost in &mut self.lost {
            let _ = lost.as_mut().poll(cx);
        }
    }
}

impl<'a> BodyDriver<'a> {
    /// Creates a driver for a body under `frame`, whose lock is from the client with this number. The body also holds
    /// the locks of the frames `beside`.
    pub(crate) fn new(
        client: u64,
        frame: &'a Arc<Frame>,
        beside: impl Iterator<Item = &'a Arc<Frame>> + Clone,
        on_lost: OnLost,
    ) -> BodyDriver<'a> {
        let leases = beside.clone().map(|frame| -> &Lease { frame.lease() });
        let leases = leases.collect();
        let outer = scope_of(client, beside, on_lost);
        let scope = Scope::new(client, frame, on_lost, outer);
        BodyDriver {
            lease: frame.lease(),
            beside: Beside::of(leases, frame.lease().interrupting()),
            scope: Some(Current::new(scope)),
            on_lost,
            is_started: false,
            lost: None,
        }
    }

    pub(crate) fn drive<B>(self, body: Pin<&'a mut Option<B>>) -> Drive<'a, B> {
        Drive { body, driver: self }
    }

    /// Returns `Lost` if one of the leases is lost.
    fn lost_error(&self) -> Option<LockError> {
        let beside = self.beside.iter().flat_map(|beside| &beside.leases);
        let mut leases = std::iter::once(&self.lease).chain(beside);
        leases.find_map(|lease| lease.loss().map(|loss| lease.lost_error(loss)))
    }

    fn enter(&mut self) -> Inside<'_, 'a> {
        current::enter(&mut self.scope);
        Inside(self)
    }

    /// Drops the body inside its call tree.
    #[inline(never)]
    fn discard(&mut self, body: &mut dyn Discard) {
        let _inside = self.enter();
        body.discard();
    }
}

/// Makes the body's scope the current scope until this is dropped.
struct Inside<'i, 'a>(&'i mut BodyDriver<'a>);

impl Inside<'_, '_> {
    /// Checks the deadline before a poll.
    fn before_poll(&mut self, body: &mut dyn Discard) -> Result<(), LockError> {
        let driver = &mut *self.0;
        // No body starts without its lock, whatever `on_lost` selects for a later loss.
        let stops = driver.on_lost == OnLost::Cancel || !driver.is_started;
        driver.is_started = true;
        if stops && let Some(lost) = driver.lost_error() {
            body.discard();
            return Err(lost);
        }
        Ok(())
    }

    /// Checks the deadline after a poll that left the body asleep. `Ready` means that the body was dropped.
    fn after_poll(&mut self, body: &mut dyn Discard, cx: &mut Context<'_>) -> Poll<LockError> {
        let driver = &mut *self.0;
        if driver.on_lost != OnLost::Cancel {
            if let Some(beside) = &mut driver.beside {
                beside.is_interrupted(driver.lease);
            }
            return Poll::Pending;
        }
        // Registers this task, so that a loss wakes it while the body sleeps. Whether there was a notification does not
        // matter: the lease itself is checked below.
        let lease = driver.lease;
        let lost = driver
            .lost
            .get_or_insert_with(|| Box::pin(lease.notified()));
        let _ = lost.as_mut().poll(cx);
        if let Some(beside) = &mut driver.beside {
            beside.register(cx);
            if beside.is_interrupted(driver.lease) {
                // The bodies around this one come first if they run under the same lease. Otherwise the loss has woken
                // this task.
                return Poll::Pending;
            }
        }
        match driver.lost_error() {
            Some(lost) if !is_removed!(check_after_a_poll) => {
                body.discard();
                Poll::Ready(lost)
            }
            _ => Poll::Pending,
        }
    }
}

impl Drop for Inside<'_, '_> {
    /// Compiled once, not in every locked function.
    #[inline(never)]
    fn drop(&mut self) {
        current::leave(&mut self.0.scope);
    }
}

/// Returns the scope of a body that holds the locks of these frames, inside the current scope.
fn scope_of<'b>(
    client: u64,
    frames: impl Iterator<Item = &'b Arc<Frame>>,
    on_lost: OnLost,
) -> Option<Arc<Scope>> {
    frames.fold(current(), |outer, frame| {
        Some(Scope::new(client, frame, on_lost, outer))
    })
}

/// Runs a synchronous body under `frame` and the frames `beside`, whose locks are from the client with this number.
pub(crate) fn run_blocking<'b, R>(
    client: u64,
    frame: &Arc<Frame>,
    beside: impl Iterator<Item = &'b Arc<Frame>>,
    body: impl FnOnce() -> R,
) -> R {
    let outer = scope_of(client, beside, OnLost::Block);
    let scope = Scope::new(client, frame, OnLost::Block, outer);
    let _entered = entered(Some(scope));
    body()
}
