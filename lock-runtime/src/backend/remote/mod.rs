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
//! Callers enter through this file, and the wire reports to [`event_handler`]. [`join_queue`] and [`acquisition`] get a
//! lock, [`release`] and [`local_turns`] give it away, and [`watchdog`] renews it. They use [`promotion`] and [`reaper`],
//! and all of them share [`Remote`].
//!
//! # Invariants
//!
//! - Mutexes are taken in the order local queues, registry, notifier. None is held across an await, or while wakers,
//!   replies and subscribers run.

pub(crate) mod acquisition;
pub(crate) mod asking;
pub(crate) mod client_ids;
pub(crate) mod contended_locks;
pub(crate) mod delivery;
pub(crate) mod downgrade;
pub(crate) mod event_handler;
pub(crate) mod grant_notifier;
pub(crate) mod held;
pub(crate) mod join_queue;
pub(crate) mod last_known;
pub(crate) mod lease_entry;
pub(crate) mod local_queues;
pub(crate) mod local_turns;
pub(crate) mod minting;
pub(crate) mod poll_interval;
pub(crate) mod promotion;
pub(crate) mod reaper;
pub(crate) mod registered_owner;
pub(crate) mod registry;
pub(crate) mod release;
pub(crate) mod retained;
pub(crate) mod run_writer;
pub(crate) mod servers;
pub(crate) mod watchdog;

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::coop::unconstrained;

use crate::backend::remote::acquisition::Acquisition;
use crate::backend::remote::contended_locks::ContendedLocks;
use crate::backend::remote::downgrade::Downgrading;
use crate::backend::remote::event_handler::EventHandler;
use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::remote::join_queue::Joined;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::local_queues::LocalQueues;
use crate::backend::remote::minting::MintPlaces;
use crate::backend::remote::promotion::LocalWaiter;
use crate::backend::remote::reaper::UnendedOwner;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::remote::registry::LeaseRegistry;
use crate::backend::remote::run_writer::RunWriter;
use crate::backend::remote::servers::Servers;
use crate::backend::undelivered::{Abandon, Acquiring, Outcome};
use crate::backend::watching::WatchedLocks;
use crate::backend::wire::WireEvents;
use crate::backend::wire::error::WireError;
use crate::backend::wire::unended::Unended;
use crate::backend::{Backend, ReleaseOutcome};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::in_flight::InFlight;
use crate::background::moment::Moment;
use crate::background::offload::{InlineRunner, Reply, Task};
use crate::background::panics::catch_panics;
use crate::background::sync::Mutex;
use crate::background::timers::Timers;
use crate::config::Options;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockName, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::{Lease, Mode, Request};

/// How many callers of a client may queue in Redis at the same time for shares of one lock. Further callers wait in the
/// client for one of these places.
const MAX_WAITING_SHARES: u32 = 64;

/// The locks of one client on its servers: the state that its acquisitions, releases and renewals share.
///
/// The mutexes are taken in the order `queues` or `share_queues`, `registry`, notifier; the mutex of `downgrading` is
/// taken alone. They are never held across an await, and are free when wakers, replies and subscribers run.
pub(crate) struct Remote {
    pub(crate) wire: Servers,
    pub(crate) clock: Clock,
    pub(crate) background: Background,
    /// The timeout of one command, including the connect.
    pub(crate) command_timeout: Duration,
    /// Whether a lock is granted only after replicas have it.
    pub(crate) waits_for_replicas: bool,
    /// How many callers in a row may use one grant.
    pub(crate) local_turns: u32,
    pub(crate) await_release: bool,
    pub(crate) notifier: GrantNotifier,
    queues: Mutex<LocalQueues<LocalWaiter, LastKnown>>,
    /// The queues of callers for shares. Several of these callers queue in Redis at the same time.
    share_queues: Mutex<LocalQueues<LocalWaiter, LastKnown>>,
    registry: Mutex<LeaseRegistry>,
    pub(crate) contended: ContendedLocks,
    pub(crate) mint_places: MintPlaces,
    pub(crate) downgrading: Arc<Downgrading>,
    /// Wakes the watchdog before its planned check.
    pub(crate) watchdog: Arc<Notify>,
    /// The acquisitions in flight, and the owners that are being ended.
    pub(crate) unsettled: InFlight,
    /// Owners that are ended on the next connection.
    pub(crate) unended: Unended<UnendedOwner>,
    pub(crate) watched: WatchedLocks,
    pub(crate) runs: RunWriter,
}

impl Remote {
    pub(crate) fn new(
        wire: Servers,
        clock: Clock,
        background: Background,
        notifier: GrantNotifier,
        options: &Options,
    ) -> Remote {
        // Without a queue on the server, local turns would keep out clients that came first.
        let local_turns = if wire.has_queue() {
            options.local_turns
        } else {
            1
        };
        Remote {
            wire,
            clock,
            background,
            command_timeout: options.command_timeout,
            waits_for_replicas: options.replicas().is_some(),
            local_turns,
            await_release: options.await_release,
            notifier,
            queues: Mutex::new(LocalQueues::with_heads(1)),
            share_queues: Mutex::new(LocalQueues::with_heads(MAX_WAITING_SHARES)),
            registry: Mutex::default(),
            contended: ContendedLocks::default(),
            mint_places: MintPlaces::default(),
            downgrading: Arc::default(),
            watchdog: Arc::default(),
            unsettled: InFlight::default(),
            unended: Unended::default(),
            watched: WatchedLocks::default(),
            runs: RunWriter::default(),
        }
    }

    /// Returns the local queues of callers that want a lock exclusively.
    pub(crate) fn queues(&self) -> MutexGuard<'_, LocalQueues<LocalWaiter, LastKnown>> {
        self.queues.lock()
    }

    /// Returns the local queues of callers in this mode.
    pub(crate) fn queues_of(
        &self,
        mode: Mode,
    ) -> MutexGuard<'_, LocalQueues<LocalWaiter, LastKnown>> {
        match mode.share() {
            None => self.queues.lock(),
            Some(_) => self.share_queues.lock(),
        }
    }

    pub(crate) fn registry(&self) -> MutexGuard<'_, LeaseRegistry> {
        self.registry.lock()
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Returns timers for the futures of callers with or without a runtime.
    pub(crate) fn timers(&self) -> &Timers {
        self.background.timers()
    }

    /// Fails in a forked child of the client's process.
    pub(crate) fn check_process(&self) -> Result<(), LockError> {
        self.background.check_process()
    }

    pub(crate) fn new_owner(
        &self,
        label: &Arc<str>,
        names: OneOrMore<RecordNames>,
        mode: Mode,
    ) -> Result<RegisteredOwner, LockError> {
        RegisteredOwner::new(label, names, mode, &self.notifier)
    }

    /// Creates a waiting caller, and the duty to answer it.
    pub(crate) fn inline_runner<T: Send + 'static>(&self) -> (InlineRunner<T>, Reply<T>) {
        InlineRunner::new(&self.background)
    }

    /// Runs `task` on the background thread.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_boxed(Box::pin(task));
    }

    /// Like [`spawn`](Remote::spawn), for a task that is already boxed.
    pub(crate) fn spawn_boxed(&self, task: Task) {
        self.background.spawn_boxed(task);
    }

    /// Runs `task` on the background thread to its end, even if the caller goes away.
    pub(crate) async fn run_in_background<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, LockError> {
        self.check_process()?;
        let gone = || LockError::new(LockErrorKind::Shutdown);
        let task = self.background.spawn(task).ok_or_else(gone)?;
        // Ignores the coop budget of the caller's task, as offloaded tasks do.
        unconstrained(task).await.map_err(|_| gone())
    }

    /// Stores what the head of a local queue knows, and fails the callers behind it that have no time left.
    pub(crate) fn announce(&self, mode: Mode, lock: &LockName, last_known: LastKnown) {
        let mut queues = self.queues_of(mode);
        let mut now = None;
        let has_time = |waiter: &LocalWaiter| *now.get_or_insert_with(Instant::now) < waiter.until;
        let leaving = queues.announce(lock, &last_known, has_time);
        drop(queues);
        for waiter in leaving {
            let error = last_known.clone().into_error(self.now());
            catch_panics(|| drop(waiter.reply.send(Err(error))));
        }
    }

    /// Wakes the watchdog, which then checks for due work.
    pub(crate) fn wake_watchdog(&self) {
        self.watchdog.notify_one();
    }

    /// Wakes the watchdog if work is due before its planned check.
    pub(crate) fn wake_watchdog_if_due(&self) {
        let is_earlier = self.registry().plan_earlier();
        if is_earlier {
            self.wake_watchdog();
        }
    }
}

/// Opens a client of the servers that `connect` creates. Sends nothing until the client is used.
pub(crate) fn open(
    options: &Options,
    clock: Clock,
    connect: impl FnOnce(Background, Arc<dyn WireEvents>) -> Result<Servers, LockError>,
) -> Result<Arc<Remote>, LockError> {
    let background = Background::get()?;
    let notifier = GrantNotifier::default();
    let events = Arc::new(EventHandler::new(notifier.clone()));
    let wire = connect(background.clone(), events.clone())?;
    let remote = Arc::new(Remote::new(
        wire,
        clock,
        background.clone(),
        notifier,
        options,
    ));
    events.deliver_to(Arc::downgrade(&remote));
    background.spawn(watchdog::run(Arc::downgrade(&remote)));
    Ok(remote)
}

impl Remote {
    /// Checks that the server answers.
    pub(crate) async fn ping(self: Arc<Self>) -> Result<(), LockError> {
        let remote = self.clone();
        self.run_in_background(
            async move { remote.wire.ping().await.map_err(WireError::into_error) },
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

    async fn token(
        self: Arc<Self>,
        lease: Arc<Lease>,
        wait_ends: Option<Instant>,
    ) -> Result<FencingToken, LockError> {
        minting::token(&self, &lease, wait_ends).await
    }

    async fn renew(self: Arc<Self>, lease: Arc<Lease>) -> Result<(), LockError> {
        if let Some(reason) = lease.loss() {
            return Err(lease.lost_error(reason));
        }
        let remote = self.clone();
        self.run_in_background(async move { watchdog::renew_now(&remote, &lease).await })
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

impl Drop for Remote {
    fn drop(&mut self) {
        // In a forked child the watchdog is the parent's, and so is the descriptor that would wake its thread.
        if self.check_process().is_ok() {
            // The watchdog then finds no client, and ends.
            self.watchdog.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
