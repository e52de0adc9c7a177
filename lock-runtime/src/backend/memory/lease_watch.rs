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

/// The lease of a holder, and the timer of its deadline, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct LeaseWatch {
    lease: Weak<Lease>,
    /// `None` for a lease without a deadline, and if no timer is available: then the holder finds the end when it next
    /// compares its clock.
    timer: Option<ExpiryTimer>,
}

#[derive(Debug)]
enum ExpiryTimer {
    /// A task on the holder's runtime, with its timers.
    Task(AbortHandle),
    /// A timer of the background thread, for a holder on the real clock.
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

    /// Notifies the holder that the store has ended the lease. The lease's timer may not have done so, since it cannot
    /// fire while the holder's runtime is blocked.
    pub(crate) fn expire(self) {
        if let Some(lease) = self.lease() {
            lease.lose(lease.expiry());
        }
    }

    /// Follows the deadline of the lease, which was extended.
    pub(crate) fn restart(&mut self, lease: &Arc<Lease>) {
        // The task reads the new deadline by itself.
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
            // The runtime of a lease that is downgraded may be gone.
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

/// Compares the clock with the deadline when that is due, even if it was moved.
fn spawn_timer(runtime: &Handle, lease: &Arc<Lease>) -> AbortHandle {
    let lease = Arc::downgrade(lease);
    let task = runtime.spawn(async move {
        while let Some(left) = lease.upgrade().and_then(|lease| match lease.loss() {
            None => Some(lease.deadline().since(lease.now())),
            Some(_) => None,
        }) {
            // tokio's timer counts whole milliseconds; slightly late is early enough.
            tokio::time::sleep(left).await;
        }
    });
    task.abort_handle()
}

/// Compares the clock with the deadline once, when the current deadline is due.
fn background_timer(lease: &Arc<Lease>) -> Option<Timer<'static>> {
    struct Look(Weak<Lease>);

    impl Wake for Look {
        fn wake(self: Arc<Look>) {
            // A lease that is found expired is lost from then on, and its holder is notified.
            let _ = self.0.upgrade().map(|lease| lease.loss());
        }
    }

    let until = Instant::now().checked_add(lease.deadline().since(lease.now()))?;
    let look = Waker::from(Arc::new(Look(Arc::downgrade(lease))));
    Some(Background::get().ok()?.timers().timer_at(until, &look))
}
