//! Notifies a holder at its deadline that its lease is over.

use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::background::timers::Timer;
use crate::lease::Lease;

/// A holder's lease, with a timer for its deadline. Dropping this ends the timer.
#[derive(Debug)]
pub(crate) struct LeaseWatch {
    lease: Weak<Lease>,
    /// `None` for a lease without a deadline, or if no timer is available. In the latter case the holder notices the
    /// end when it next checks the clock.
    timer: Option<ExpiryTimer>,
}

#[derive(Debug)]
enum ExpiryTimer {
    /// A task on the holder's runtime, with the timers of that runtime.
    Task(AbortHandle),
    /// A timer of the background thread, for a holder that uses the real clock.
    Background(Timer<'static>),
}

impl LeaseWatch {
    pub(crate) fn start(lease: &Arc<Lease>) -> LeaseWatch {
        LeaseWatch {
            lease: Arc::downgrade(lease),
            timer: ExpiryTimer::start(lease),
        }
    }

    pub(crate) fn lease(&self) -> Option<Arc<Lease>> {
        self.lease.upgrade()
    }

    /// Notifies the holder that the store has ended the lease. The lease's own timer cannot fire while the holder's
    /// runtime is blocked.
    pub(crate) fn expire(self) {
        if let Some(lease) = self.lease() {
            lease.lose(lease.expiry());
        }
    }

    /// Adapts the timer after the deadline was extended.
    pub(crate) fn restart(&mut self, lease: &Arc<Lease>) {
        // A task reads the new deadline by itself.
        if let Some(ExpiryTimer::Background(current)) = &mut self.timer
            && let Some(timer) = background_timer(lease)
        {
            *current = timer;
        }
    }
}

impl ExpiryTimer {
    fn start(lease: &Arc<Lease>) -> Option<ExpiryTimer> {
        if lease.deadline() == Moment::NEVER {
            None
        } else if lease.clock() == Clock::Tokio {
            // When a lease is downgraded, its runtime may be gone.
            let runtime = Handle::try_current().ok()?;
            Some(ExpiryTimer::Task(spawn_timer(&runtime, lease)))
        } else {
            background_timer(lease).map(ExpiryTimer::Background)
        }
    }
}

impl Drop for ExpiryTimer {
    fn drop(&mut self) {
        if let ExpiryTimer::Task(task) = self {
            task.abort();
        }
    }
}

/// Checks the lease at its deadline, and again at the new one if the deadline has moved.
fn spawn_timer(runtime: &Handle, lease: &Arc<Lease>) -> AbortHandle {
    let lease = Arc::downgrade(lease);
    let task = runtime.spawn(async move {
        while let Some(left) = lease.upgrade().and_then(|lease| match lease.loss() {
            None => Some(lease.deadline().since(lease.now())),
            Some(_) => None,
        }) {
            // tokio rounds up to whole milliseconds, which is early enough.
            tokio::time::sleep(left).await;
        }
    });
    task.abort_handle()
}

/// Checks the lease once, at its current deadline.
fn background_timer(lease: &Arc<Lease>) -> Option<Timer<'static>> {
    struct Look(Weak<Lease>);

    impl Wake for Look {
        fn wake(self: Arc<Look>) {
            // The check stores the loss of an expired lease, and notifies its holder.
            let _ = self.0.upgrade().map(|lease| lease.loss());
        }
    }

    let until = Instant::now().checked_add(lease.deadline().since(lease.now()))?;
    let look = Waker::from(Arc::new(Look(Arc::downgrade(lease))));
    Some(Background::get().ok()?.timers().timer_at(until, &look))
}
