//! A caller that waits behind the head of its line.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use crate::backend::remote::Remote;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_queue::WaiterId;
use crate::backend::remote::local_turns;
use crate::backend::remote::reaper;
use crate::backend::wire::Wire;
use crate::backend::{Request, Undelivered};
use crate::background::offload::{InlineRunner, OffloadedTask};
use crate::error::LockError;
use crate::key::LockName;

/// The way back to a caller.
pub(crate) type Reply<W> = oneshot::Sender<Outcome<W>>;

/// What a call comes to.
pub(crate) type Outcome<W> = Result<Undelivered<Remote<W>>, LockError>;

/// What a caller leaves in line: what it wants, and where to bring it.
pub(crate) struct LocalWaiter<W: Wire> {
    pub(crate) request: Request,
    /// When its wait is over.
    pub(crate) until: Instant,
    pub(crate) reply: Reply<W>,
    /// Where to leave what is to be done for it: nobody behind has to wait for a caller that is busy.
    pub(crate) offloaded: Arc<OffloadedTask>,
}

/// The caller of a seat. It gives its place up when this is dropped.
pub(crate) struct QueuePosition<W: Wire> {
    remote: Arc<Remote<W>>,
    lock: LockName,
    waiter_id: Option<WaiterId>,
    outcome: oneshot::Receiver<Outcome<W>>,
    runner: InlineRunner,
}

/// Where a call begins.
pub(crate) enum Joined<W: Wire> {
    /// At the head of a line that nobody was in.
    Head(Request),
    /// Behind it.
    LocalQueue(QueuePosition<W>),
    /// Beside it: it has no time to wait.
    Beside(Request),
    /// It has the lock, by a lease that was retained.
    Held(Undelivered<Remote<W>>),
}

impl<W: Wire> Joined<W> {
    /// Becomes the head of a line, or takes its last place: in one step, or the line could end in
    /// between, and somebody would wait behind a head that is not there.
    pub(crate) fn of(remote: &Arc<Remote<W>>, request: Request, until: Instant) -> Joined<W> {
        let mut queues = remote.queues();
        if queues.head(&request.names.lock).is_none() {
            return Joined::Head(request);
        }
        if let Some(undelivered) = local_turns::resume(remote, &mut queues, &request) {
            drop(queues);
            remote.wake_watchdog_if_due();
            return Joined::Held(undelivered);
        }
        let retained = remote.registry().retained.remove(&request.names.lock);
        if let Some(mut tenure) = retained {
            // Nobody waits behind it. What this caller sends follows the end on the same connection.
            tenure.heads_queue = false;
            drop(queues);
            reaper::release_unawaited(remote, tenure);
            return Joined::Head(request);
        }
        let Some(tail) = queues.head(&request.names.lock) else {
            return Joined::Head(request);
        };
        if request.wait.is_zero() {
            return Joined::Beside(request);
        }
        let (reply, outcome) = oneshot::channel();
        let runner = remote.runner();
        let lock = request.names.lock.clone();
        let waiter = LocalWaiter {
            request,
            until,
            reply,
            offloaded: runner.offloaded().clone(),
        };
        let waiter_id = Some(tail.join(waiter));
        Joined::LocalQueue(QueuePosition {
            remote: remote.clone(),
            lock,
            waiter_id,
            outcome,
            runner,
        })
    }
}

impl<W: Wire> QueuePosition<W> {
    /// Waits for what its turn comes to.
    pub(crate) async fn outcome(&mut self) -> Option<Outcome<W>> {
        let outcome = self.runner.wait_for(&mut self.outcome).await;
        // Whoever is served stands in no line any more.
        self.waiter_id = None;
        self.runner.expects_nothing();
        outcome
    }

    /// Is gone without having given its place up, as one whose seat was called at that moment.
    #[cfg(test)]
    pub(crate) fn forget_place(mut self) {
        self.waiter_id = None;
    }

    /// Its time is up: leaves with what is known at the head, or stays to hear that.
    pub(crate) fn time_out(&mut self) -> Option<LastKnown> {
        let mut queues = self.remote.queues();
        let Some(last_known) = queues.last_known(&self.lock) else {
            queues.stay(&self.lock);
            return None;
        };
        // Called at that moment, it is served soon.
        queues.leave(&self.lock, self.waiter_id?)?;
        self.waiter_id = None;
        Some(last_known)
    }

    /// Gives the place up. `false` if it was called before.
    pub(crate) fn leave(&mut self) -> bool {
        let waiter_id = self.waiter_id.take();
        let left =
            waiter_id.and_then(|waiter_id| self.remote.queues().leave(&self.lock, waiter_id));
        left.is_some()
    }
}

impl<W: Wire> Drop for QueuePosition<W> {
    fn drop(&mut self) {
        // In a forked child another thread may have held the mutex when the process was forked.
        if self.waiter_id.is_some() && self.remote.check_process().is_ok() {
            self.leave();
        }
    }
}
