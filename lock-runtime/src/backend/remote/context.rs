//! The state that the acquisitions, releases and renewals of one client share.
//!
//! # Invariants
//!
//! - Mutexes are taken in the order local queues, registry, notifier. None is held across an await, or while wakers,
//!   replies and subscribers run.

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::coop::unconstrained;

use crate::backend::remote::contended_locks::ContendedLocks;
use crate::backend::remote::downgrade::Downgrading;
use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_queues::LocalQueues;
use crate::backend::remote::local_waiter::LocalWaiter;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::remote::registry::LeaseRegistry;
use crate::backend::remote::servers::Servers;
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::in_flight::InFlight;
use crate::background::moment::Moment;
use crate::background::offload::{InlineRunner, Reply};
use crate::background::panics::catch_panics;
use crate::background::sync::Mutex;
use crate::background::timers::Timers;
use crate::config::Options;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockName, OneOrMore, RecordNames};
use crate::lease::Mode;

/// How many callers of a client may queue in Redis at the same time for shares of one lock. Further callers wait in the
/// client for one of these places.
const MAX_WAITING_SHARES: u32 = 64;

/// The shared state of one client's locks on its servers.
///
/// The mutexes are taken in the order `queues` or `share_queues`, `registry`, notifier; the mutex of `downgrading` is
/// taken alone. They are never held across an await, and are free when wakers, replies and subscribers run.
pub(crate) struct Context {
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
    pub(crate) downgrading: Arc<Downgrading>,
    /// Wakes the watchdog before its planned check.
    pub(crate) watchdog: Arc<Notify>,
    /// The acquisitions in flight, and the owners that are being ended.
    pub(crate) unsettled: InFlight,
}

impl Context {
    pub(crate) fn new(
        wire: Servers,
        clock: Clock,
        background: Background,
        notifier: GrantNotifier,
        options: &Options,
    ) -> Context {
        // Without a queue on the server, local turns would keep out clients that came first.
        let local_turns = if wire.has_queue() {
            options.local_turns
        } else {
            1
        };
        Context {
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
            downgrading: Arc::default(),
            watchdog: Arc::default(),
            unsettled: InFlight::default(),
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
        self.background.spawn(task);
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
        let is_due_earlier = self.registry().is_due_earlier();
        if is_due_earlier {
            self.wake_watchdog();
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The watchdog then finds no client, and ends.
        self.watchdog.notify_one();
    }
}
