//! Locks on servers: everything between a caller and the [`servers`].
//!
//! Work that other callers depend on is a separate task. The task tracks the commands that it has sent and settles
//! them, whatever happens to its caller. The caller polls it while it waits, and the background takes it over when the
//! caller is gone ([`offload`](crate::background::offload)).
//!
//! Clients wait in one queue, in Redis. The callers of one client wait in a [local queue](local_queues) behind its
//! head, which queues in Redis for all of them. The head *polls*, and a poll is the acquire command itself: it proves
//! that the waiter is alive, restores its place if that was lost, and takes the lock if it is free. So the next poll
//! recovers from a dead holder, a lost message or an evicted queue. A grant comes by hand-off, and its message only
//! shortens the wait for that poll.
//!
//! Callers enter through this file, and the wire reports to [`events`]. [`join_queue`] and [`acquisition`] get a lock,
//! [`release`] and [`local_turns`] give it away, and [`watchdog`] renews it. They use [`pass_head`] and [`reaper`], and
//! all of them the [`context`].

pub(crate) mod acquisition;
pub(crate) mod client_ids;
pub(crate) mod contended_locks;
pub(crate) mod context;
pub(crate) mod delivery;
pub(crate) mod downgrade;
pub(crate) mod events;
pub(crate) mod grant_notifier;
pub(crate) mod held;
pub(crate) mod join_queue;
pub(crate) mod last_known;
pub(crate) mod lease_entry;
pub(crate) mod local_queues;
pub(crate) mod local_turns;
pub(crate) mod local_waiter;
pub(crate) mod minting;
pub(crate) mod pass_head;
pub(crate) mod poll_interval;
pub(crate) mod reaper;
pub(crate) mod registered_owner;
pub(crate) mod registry;
pub(crate) mod release;
pub(crate) mod retained;
pub(crate) mod servers;
pub(crate) mod watchdog;

use std::sync::Arc;
use std::time::Instant;

use crate::backend::remote::acquisition::Acquisition;
use crate::backend::remote::context::Context;
use crate::backend::remote::events::Events;
use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::remote::join_queue::Joined;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::servers::Servers;
use crate::backend::undelivered::{Abandon, Acquiring, Outcome};
use crate::backend::wire::WireEvents;
use crate::backend::wire::error::WireError;
use crate::backend::{Backend, ReleaseOutcome};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::panics::catch_panics;
use crate::config::Options;
use crate::error::{LockError, LockErrorKind};
use crate::lease::fencing_token::FencingToken;
use crate::lease::{Lease, Request};

/// The locks of one client on its servers.
pub(crate) type Remote = Context;

/// Opens a client of the servers that `connect` creates. Sends nothing until the client is used.
pub(crate) fn open(
    options: &Options,
    clock: Clock,
    connect: impl FnOnce(Background, Arc<dyn WireEvents>) -> Result<Servers, LockError>,
) -> Result<Arc<Remote>, LockError> {
    let background = Background::get()?;
    let notifier = GrantNotifier::default();
    let events = Arc::new(Events::new(notifier.clone()));
    let wire = connect(background.clone(), events.clone())?;
    let context = Arc::new(Context::new(
        wire,
        clock,
        background.clone(),
        notifier,
        options,
    ));
    events.deliver_to(Arc::downgrade(&context));
    background.spawn(watchdog::run(Arc::downgrade(&context)));
    Ok(context)
}

impl Remote {
    /// Checks that the server answers.
    pub(crate) async fn ping(self: Arc<Self>) -> Result<(), LockError> {
        let context = self.clone();
        self.run_in_background(
            async move { context.wire.ping().await.map_err(WireError::into_error) },
        )
        .await?
    }

    /// Stops retaining leases, and releases the retained ones.
    pub(crate) fn stop_retaining(self: &Arc<Self>) {
        if self.check_process().is_err() {
            return;
        }
        let retained = self.registry().retained.close();
        for entry in retained {
            release::release_unawaited(self, entry);
        }
    }
}

impl Backend for Remote {
    fn clock(&self) -> Clock {
        self.clock
    }

    /// Begins an offloaded task with the first attempt. Other callers depend on it, and must not wait for a caller
    /// whose runtime is busy.
    fn acquire(self: Arc<Self>, request: Request) -> Acquiring {
        if let Err(error) = self.check_process() {
            return Acquiring::ended(Err(error));
        }
        let until = Instant::now() + request.wait;
        let (request, heads_queue) = match join_queue::join(&self, request, until) {
            Joined::Head(request) => (request, true),
            Joined::Beside(request) => (request, false),
            Joined::Holds(undelivered) => return Acquiring::ended(Ok(undelivered)),
            Joined::Waits(position) => return Acquiring::boxed(position.wait()),
        };
        let acquisition = Acquisition::new(&self, request, until, heads_queue);
        let (runner, reply) = self.inline_runner();
        runner.offloaded().assign(acquisition.begin(reply));
        Acquiring::Inline(runner)
    }

    fn delivered(&self, lease: &Lease) {
        lease.delivered();
        // A confirmation or a renewal was due before, and was not sent. Subscribers may also have blocked since the
        // clock was last read.
        if lease.is_doubted() || lease.remaining() < lease.terms.first_ttl() / 2 {
            self.registry().confirm_soon(lease);
            self.wake_watchdog();
        }
    }

    async fn token(self: Arc<Self>, lease: Arc<Lease>) -> Result<FencingToken, LockError> {
        minting::token(&self, &lease).await
    }

    async fn renew(self: Arc<Self>, lease: Arc<Lease>) -> Result<(), LockError> {
        if let Some(reason) = lease.loss() {
            return Err(lease.lost_error(reason));
        }
        let context = self.clone();
        self.run_in_background(async move { watchdog::renew_now(&context, &lease).await })
            .await?
    }

    async fn downgrade(self: Arc<Self>, lease: Arc<Lease>) -> Outcome {
        self.check_process()?;
        if let Some(loss) = lease.loss() {
            let entry = self.registry().remove(&lease);
            if let Some(entry) = entry {
                release::release_unawaited(&self, entry);
            }
            return Err(lease.lost_error(loss));
        }
        let downgrading = self.downgrading.begin(&lease);
        let entry = self.registry().remove(&lease);
        let entry = entry.ok_or_else(|| lease.lost_error(lease.expiry()))?;
        // Counted here, not in the task, since a shutdown may check the count before the task runs.
        let counted = self.unsettled.one();
        let (mut runner, reply) = self.inline_runner();
        let reading = downgrade::downgrade(self.clone(), entry);
        let task = Box::pin(async move {
            let outcome = reading.await;
            drop(downgrading);
            // If the caller is gone by now, the lease comes back, and dropping it releases the lock.
            catch_panics(|| drop(reply.send(outcome)));
            drop(counted);
        });
        runner.offloaded().assign(task);
        let outcome = runner.answer().await;
        outcome.ok_or_else(|| LockError::new(LockErrorKind::Shutdown))?
    }

    async fn release(self: Arc<Self>, lease: Arc<Lease>) -> ReleaseOutcome {
        // The next caller gets the lease. Without one, `true` allows retaining it.
        if let Some(outcome) = local_turns::hand_over(&self, &lease, true) {
            return outcome;
        }
        let entry = self.registry().remove(&lease);
        match entry {
            Some(entry) if self.await_release => release::release(&self, entry).await,
            Some(entry) => release::release_unawaited(&self, entry),
            None => ReleaseOutcome::Unconfirmed,
        }
    }

    fn live(&self) -> Vec<Arc<Lease>> {
        // In this order: a lease that is in neither list has become a reader's lease, which the next call finds.
        let leases = |entry: &LeaseEntry| entry.lease.clone();
        let registered: Vec<_> = self.registry().entries().map(leases).collect();
        [registered, self.downgrading.leases()].concat()
    }

    async fn settled(&self) {
        self.unsettled.zero().await;
        self.wire.settled().await;
    }
}

impl Abandon for Remote {
    fn abandon(self: Arc<Self>, lease: Arc<Lease>) {
        // A process that panics may be about to end, and a retained lease would then block others until its ttl is
        // over.
        if local_turns::hand_over(&self, &lease, !std::thread::panicking()).is_some() {
            return;
        }
        let entry = self.registry().remove(&lease);
        if let Some(entry) = entry {
            release::release_unawaited(&self, entry);
        }
    }
}

#[cfg(test)]
mod tests;
