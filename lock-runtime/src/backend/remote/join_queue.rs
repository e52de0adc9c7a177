//! Begins a call: at the head of its local queue, behind the head, or with a retained lease.

use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use crate::backend::engine::local_queue::WaiterId;
use crate::backend::redis::Subscription;
use crate::backend::remote::Remote;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_queues::LocalQueues;
use crate::backend::remote::promotion::LocalWaiter;
use crate::backend::remote::{local_turns, release};
use crate::backend::undelivered::{Outcome, Undelivered};
use crate::background::offload::InlineRunner;
use crate::error::{LockError, LockErrorKind};
use crate::key::LockName;
use crate::lease::{Mode, Request};

/// Where a call begins.
pub(crate) enum Joined {
    /// At the head of a new local queue.
    Head(Request),
    /// Behind the head.
    Waits(QueuePosition),
    /// Outside the queue: the caller does not wait.
    Beside(Request),
    /// With the lock, because a lease was retained.
    Holds(Undelivered),
}

/// The position of a caller in its local queue. Dropping it leaves the queue.
pub(crate) struct QueuePosition {
    remote: Arc<Remote>,
    mode: Mode,
    lock: LockName,
    waiter: Option<WaiterId>,
    until: Instant,
    runner: InlineRunner<Outcome>,
    /// Makes the client listen for releases as long as the caller waits.
    _subscription: Option<Subscription>,
}

/// Makes the caller the head of the local queue, or appends it. Both happen under one mutex: otherwise the queue could
/// end in between, and the caller would wait behind a head that is gone.
pub(crate) fn join(remote: &Arc<Remote>, request: Request, until: Instant) -> Joined {
    let mut queues = remote.queues_of(request.mode);
    if request.mode.share().is_some() {
        return join_shares(remote, queues, request, until);
    }
    if request.locks.len() > 1 {
        drop(queues);
        return join_none(remote, request);
    }
    if queues.enter(&request.lock().names.lock).is_none() {
        return Joined::Head(request);
    }
    if let Some(undelivered) = local_turns::resume(remote, &mut queues, &request) {
        drop(queues);
        remote.wake_watchdog_if_due();
        return Joined::Holds(undelivered);
    }
    let retained = remote
        .registry()
        .retained
        .remove(&request.lock().names.lock);
    if let Some(mut entry) = retained {
        // No caller waits behind a retained lease. This caller's commands follow its `end` on the same connection.
        entry.holding.leave_queue();
        drop(queues);
        release::release_unawaited(remote, entry);
        return Joined::Head(request);
    }
    enter_or_wait(remote, queues, request, until)
}

/// Begins a call for several locks, which queues in Redis itself and is in no local queue. Leases that this client
/// retains would keep it out.
fn join_none(remote: &Arc<Remote>, request: Request) -> Joined {
    for lock in request.locks.iter() {
        let retained = remote.registry().retained.remove(&lock.names.lock);
        if let Some(entry) = retained {
            release::release_unawaited(remote, entry);
        }
    }
    Joined::Beside(request)
}

/// Like [`join`], but for a share. A lease that this client retains would keep it out.
fn join_shares(
    remote: &Arc<Remote>,
    queues: MutexGuard<'_, LocalQueues<LocalWaiter, LastKnown>>,
    request: Request,
    until: Instant,
) -> Joined {
    let retained = remote
        .registry()
        .retained
        .remove(&request.lock().names.lock);
    let joined = enter_or_wait(remote, queues, request, until);
    if let Some(entry) = retained {
        release::release_unawaited(remote, entry);
    }
    joined
}

/// Makes the caller a head, or appends it behind the heads.
fn enter_or_wait(
    remote: &Arc<Remote>,
    mut queues: MutexGuard<'_, LocalQueues<LocalWaiter, LastKnown>>,
    request: Request,
    until: Instant,
) -> Joined {
    let Some(tail) = queues.enter(&request.lock().names.lock) else {
        return Joined::Head(request);
    };
    if request.wait.is_zero() {
        return Joined::Beside(request);
    }
    let (runner, reply) = remote.inline_runner();
    let (mode, lock) = (request.mode, request.lock().names.lock.clone());
    let subscription = remote.wire.subscription(&lock);
    let waiter = tail.join(LocalWaiter {
        request,
        until,
        reply,
        task: runner.offloaded().clone(),
        counted: remote.unsettled.one(),
    });
    Joined::Waits(QueuePosition {
        remote: remote.clone(),
        mode,
        lock,
        waiter: Some(waiter),
        until,
        runner,
        _subscription: subscription,
    })
}

impl QueuePosition {
    /// Waits for the outcome of the acquisition that begins when this caller is promoted.
    ///
    /// A caller whose time is up fails with the head's knowledge. If the head knows nothing yet, the caller waits for
    /// it for up to one more command timeout.
    pub(crate) async fn wait(mut self) -> Outcome {
        let gone = || LockError::new(LockErrorKind::Shutdown);
        let remote = self.remote.clone();
        let timers = remote.timers();
        if let Ok(outcome) = timers.timeout_at(self.until, self.outcome()).await {
            return outcome.ok_or_else(gone)?;
        }
        if let Some(last_known) = self.time_out() {
            return Err(last_known.into_error(remote.now()));
        }
        let last = self.until + remote.command_timeout;
        match timers.timeout_at(last, self.outcome()).await {
            Ok(outcome) => outcome.ok_or_else(gone)?,
            Err(_) if self.leave() => Err(LastKnown::unknown().into_error(remote.now())),
            // The caller was just promoted: its acquisition has begun, with the same deadline.
            Err(_) => self.outcome().await.ok_or_else(gone)?,
        }
    }

    async fn outcome(&mut self) -> Option<Outcome> {
        let outcome = self.runner.answer().await;
        // A caller with an outcome has left the queue.
        self.waiter = None;
        self.runner.expects_nothing();
        outcome
    }

    /// Leaves with the head's knowledge, or stays until the head knows something.
    fn time_out(&mut self) -> Option<LastKnown> {
        let mut queues = self.remote.queues_of(self.mode);
        let Some(last_known) = queues.last_known(&self.lock) else {
            queues.await_announcement(&self.lock);
            return None;
        };
        // A caller that was just promoted will soon have its outcome.
        let left = queues.leave(&self.lock, self.waiter?)?;
        drop(queues);
        // Without the mutex: dropping the reply wakes this caller.
        drop(left);
        self.waiter = None;
        Some(last_known)
    }

    /// Leaves the queue. Returns `false` if the caller was already promoted.
    fn leave(&mut self) -> bool {
        let waiter = self.waiter.take();
        let queues = || self.remote.queues_of(self.mode);
        let left = waiter.and_then(|waiter| queues().leave(&self.lock, waiter));
        left.is_some()
    }

    /// Drops the caller without leaving, as if it had been promoted at that moment.
    #[cfg(test)]
    pub(crate) fn vanish(mut self) {
        self.waiter = None;
    }
}

impl Drop for QueuePosition {
    fn drop(&mut self) {
        // In a forked child, another thread of the parent may have held the mutex during the fork.
        if self.waiter.is_some() && self.remote.check_process().is_ok() {
            self.leave();
        }
    }
}
