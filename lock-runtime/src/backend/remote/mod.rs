//! Locks that a server keeps: everything between a caller and the wire.
//!
//! What others depend on is a task of its own, which knows what it has sent and settles it, whatever
//! happens to the caller: an errand that the caller does while it waits, and the keeper once it is gone.
//!
//! Clients wait in one queue, in Redis; the callers of one client wait in a [`local_queue`] behind the one
//! that acts for them there. That one *polls*, and a poll is the acquire command itself: it shows that the
//! waiter lives, restores its place if that was lost, and takes the lock if it turns out to be free. So a
//! dead holder, a lost message or an evicted queue is healed by the next poll. A grant comes by hand-off, with
//! a message that only shortens the wait for that poll.

pub(crate) mod acquisition;
pub(crate) mod grant_notifier;
pub(crate) mod last_known;
pub(crate) mod local_queue;
pub(crate) mod local_turns;
pub(crate) mod local_waiter;
pub(crate) mod owner;
pub(crate) mod poll_interval;
pub(crate) mod reaper;
pub(crate) mod registry;
pub(crate) mod retained;
pub(crate) mod watchdog;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};
use tokio::task::coop::unconstrained;

use crate::backend::redis::{self, Node, PushEvent, Target};
use crate::backend::remote::acquisition::{Acquired, Acquisition, Handoff, NextStep};
use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_queue::LocalQueues;
use crate::backend::remote::local_waiter::{Joined, LocalWaiter, Outcome, Reply};
use crate::backend::remote::owner::Owner;
use crate::backend::remote::registry::{Doubt, LeaseRegistry, Tenure};
use crate::backend::wire::{Wire, WireError};
use crate::backend::{Backend, ReleaseOutcome, Request, Undelivered};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::in_flight::InFlight;
use crate::background::moment::Moment;
use crate::background::offload::{InlineRunner, OffloadedTask, Task};
use crate::background::panics::catch_panics;
use crate::background::timers::Timers;
use crate::config::Options;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockName, RecordNames};
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::RenewalSchedule;
use crate::lease::{Lease, LossReason};

/// The locks of one client on the server behind `W`.
pub(crate) struct Remote<W: Wire> {
    wire: W,
    clock: Clock,
    background: Background,
    /// How long one attempt to reach the server may take.
    pub(crate) attempt: Duration,
    notifier: GrantNotifier,
    queues: Mutex<LocalQueues<LocalWaiter<W>, LastKnown>>,
    registry: Mutex<LeaseRegistry>,
    /// How many callers in a row may have one grant.
    pub(crate) local_turns: u32,
    await_release: bool,
    /// The watchdog has to look at the roster sooner than it planned to.
    is_earlier: Arc<Notify>,
    /// Calls that are under way, and owners that are being ended.
    pub(crate) unsettled: InFlight,
}

impl Remote<Node> {
    /// A client of one server. Nothing is sent before it is used.
    pub(crate) fn open(url: &str, options: &Options) -> Result<Arc<Remote<Node>>, LockError> {
        let target = Target::parse(url, options)?;
        let background = Background::get()?;
        let notifier = GrantNotifier::default();
        let is_earlier = Arc::new(Notify::new());
        let remote = Arc::new_cyclic(|remote: &Weak<Remote<Node>>| {
            let remote = remote.clone();
            let on_connect = {
                let notifier = notifier.clone();
                Arc::new(move || notifier.names_of_connection())
            };
            let on_push = Arc::new(move |signal: PushEvent<'_>| {
                if let Some(remote) = remote.upgrade() {
                    remote.signal(signal);
                }
            });
            Remote {
                wire: Node::new(
                    target,
                    background.clone(),
                    options.background_only,
                    options.command_timeout,
                    on_connect,
                    on_push,
                ),
                clock: redis::CLOCK,
                background: background.clone(),
                attempt: options.command_timeout,
                local_turns: options.local_turns,
                await_release: options.await_release,
                notifier: notifier.clone(),
                queues: Mutex::default(),
                registry: Mutex::default(),
                is_earlier: is_earlier.clone(),
                unsettled: InFlight::default(),
            }
        });
        background.spawn(watchdog::run(Arc::downgrade(&remote), is_earlier));
        Ok(remote)
    }
}

impl<W: Wire> Remote<W> {
    pub(crate) fn wire(&self) -> &W {
        &self.wire
    }

    /// Timers for what is polled wherever its caller is.
    pub(crate) fn timers(&self) -> &Timers {
        self.background.timers()
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn queues(&self) -> MutexGuard<'_, LocalQueues<LocalWaiter<W>, LastKnown>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn registry(&self) -> MutexGuard<'_, LeaseRegistry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is still the process that the keeper runs in.
    pub(crate) fn check_process(&self) -> Result<(), LockError> {
        self.background.check_process()
    }

    /// A new owner.
    pub(crate) fn owner(&self, label: &Arc<str>, names: &RecordNames) -> Result<Owner, LockError> {
        Owner::begin(label, names, &self.notifier)
    }

    /// An owner of this client's that has ended, and is to be ended again.
    pub(crate) fn ended_owner(&self, owner_id: OwnerId, names: &RecordNames) -> Owner {
        Owner::again(owner_id, names, &self.notifier)
    }

    /// A caller that does what is to be done for it.
    pub(crate) fn runner(&self) -> InlineRunner {
        InlineRunner::new(&self.background)
    }

    /// Leaves something to a caller.
    pub(crate) fn assign(&self, offloaded: &Arc<OffloadedTask>, task: Task) {
        offloaded.assign(&self.background, task);
    }

    /// Notes what is known at the head of a line, and tells those in it whose time is up.
    pub(crate) fn announce(&self, lock: &LockName, last_known: LastKnown) {
        let mut queues = self.queues();
        let mut now = None;
        let has_time =
            |waiter: &LocalWaiter<W>| *now.get_or_insert_with(Instant::now) < waiter.until;
        let leaving = queues.announce(lock, &last_known, has_time);
        drop(queues);
        for waiter in leaving {
            catch_panics(|| drop(waiter.reply.send(Err(last_known.clone().into_error()))));
        }
    }

    /// Has the watchdog look again.
    pub(crate) fn wake_watchdog(&self) {
        self.is_earlier.notify_one();
    }

    /// Has the watchdog look again if something is due before it would.
    pub(crate) fn wake_watchdog_if_due(&self) {
        let is_earlier = self.registry().is_due_earlier();
        if is_earlier {
            self.wake_watchdog();
        }
    }

    pub(crate) async fn ping(self: Arc<Self>) -> Result<(), LockError> {
        let remote = self.clone();
        self.on_background(async move { remote.wire.ping().await.map_err(WireError::into_error) })
            .await?
    }

    /// Makes the next one in a line its head, and acts for it.
    pub(crate) fn hand_over(self: &Arc<Self>, lock: &LockName, handoff: Handoff) {
        let (waiter, last_known) = loop {
            let mut queues = self.queues();
            let Some(waiter) = queues.call(lock) else {
                drop(queues);
                return self.end_unneeded(handoff);
            };
            let last_known = handoff.last_known(queues.last_known(lock));
            queues.update(lock, last_known.clone());
            drop(queues);
            if !waiter.reply.is_closed() {
                break (waiter, last_known);
            }
        };
        let LocalWaiter {
            request,
            until,
            reply,
            offloaded,
        } = waiter;
        let mut acquisition = Acquisition::new(self, request, until, true);
        match acquisition.take(handoff, last_known) {
            NextStep::Acquired(acquired) => {
                let undelivered = self.deliver(&acquisition.request, acquired);
                catch_panics(|| drop(reply.send(Ok(undelivered))));
            }
            step => self.assign(&offloaded, self.run(acquisition, step, reply)),
        }
    }

    /// Ends what nobody wants any more.
    pub(crate) fn end_unneeded(self: &Arc<Self>, handoff: Handoff) {
        if let Handoff::Queued(owner) | Handoff::Confirmed(owner) | Handoff::Granted(owner, ..) =
            handoff
        {
            drop(reaper::end(self, owner));
        }
    }

    /// Runs `task` on the keeper's thread, to its end even if the caller goes away.
    async fn on_background<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, LockError> {
        self.check_process()?;
        let gone = || LockError::new(LockErrorKind::Shutdown);
        let task = self.background.spawn(task).ok_or_else(gone)?;
        // Outside of the budget of the caller's task, as an errand is.
        unconstrained(task).await.map_err(|_| gone())
    }

    /// Has a contender go on until its outcome is delivered or its caller goes.
    fn run(
        self: &Arc<Self>,
        mut acquisition: Acquisition<W>,
        step: NextStep,
        mut reply: Reply<W>,
    ) -> Task {
        let remote = self.clone();
        // Counted here and not in the task: a shutdown may look before that is run.
        let counted = self.unsettled.one();
        Box::pin(async move {
            let outcome = tokio::select! {
                biased;
                // The caller is gone: dropping the contender hands on whatever it has.
                () = reply.closed() => None,
                outcome = acquisition.run(step) => Some(outcome),
            };
            let outcome = outcome.map(|outcome| {
                outcome.map(|acquired| remote.deliver(&acquisition.request, acquired))
            });
            drop(acquisition);
            if let Some(outcome) = outcome {
                // If the caller is gone by now, the delivery comes back and is dropped: given back.
                catch_panics(|| drop(reply.send(outcome)));
            }
            drop(counted);
        })
    }

    fn deliver(self: &Arc<Self>, request: &Request, acquired: Acquired) -> Undelivered<Self> {
        Undelivered::new(self, self.register(request, acquired))
    }

    /// Makes the hold of a grant and puts it under the watchdog's eyes.
    fn register(&self, request: &Request, acquired: Acquired) -> Arc<Lease> {
        if acquired.heads_queue {
            let holder = LastKnown::HeldHere(request.label.clone());
            self.announce(&request.names.lock, holder);
        }
        let schedule = RenewalSchedule::granted(acquired.grant.at, &request.terms);
        let lease = Arc::new(Lease::new(
            request.key.clone(),
            acquired.owner.id(),
            acquired.grant.answer.token,
            request.terms,
            (request.function, request.template),
            self.clock,
            &schedule,
        ));
        let tenure = Tenure {
            lease: lease.clone(),
            owner: acquired.owner,
            schedule,
            contended: acquired.contended,
            heads_queue: acquired.heads_queue,
            handoff: 0,
            since: acquired.grant.at,
            under_way: 0,
            doubt: Doubt::None,
        };
        let mut registry = self.registry();
        registry.insert(tenure, acquired.grant.at);
        let is_earlier = registry.is_due_earlier() | registry.may_confirm();
        drop(registry);
        if is_earlier {
            self.wake_watchdog();
        }
        lease
    }

    fn signal(self: &Arc<Self>, signal: PushEvent<'_>) {
        match signal {
            PushEvent::Up(connection_id) => {
                self.notifier.connected(connection_id);
                self.registry().connected();
                self.wake_watchdog();
            }
            PushEvent::Down(connection_id) => {
                self.notifier.disconnected(connection_id);
                self.notifier.notify_all();
                self.registry().disconnected(self.now());
                self.wake_watchdog();
            }
            PushEvent::Message(payload) => {
                let Some((owner_id, lock)) =
                    OwnerId::parse_prefix(payload).zip(payload.get(OwnerId::LEN..))
                else {
                    return;
                };
                if !self.notifier.call(owner_id) && self.notifier.has_just_ended(owner_id) {
                    reaper::end_again(self, owner_id, lock);
                }
                // After the call: a holder that is about to retain its lease has heard it, or is seen here.
                let retained = self.registry().retained.remove_owner(owner_id);
                self.end_retained(retained);
            }
        }
    }

    /// Passes the lease of a holder that is done to the next caller, or retains it. `None` if it is to be
    /// given back.
    pub(crate) fn hand_over_locally(
        self: &Arc<Self>,
        lease: &Lease,
        may_retain: bool,
    ) -> Option<ReleaseOutcome> {
        // In a forked child it must not even look: another thread may have held the mutexes when the
        // process was forked.
        if self.check_process().is_err() {
            return Some(ReleaseOutcome::Unconfirmed);
        }
        local_turns::hand_over_locally(self, lease, may_retain)
    }

    /// Ends the lease that an owner had retained, if it had.
    fn end_retained(self: &Arc<Self>, retained: Option<Tenure>) {
        if let Some(tenure) = retained {
            reaper::end_retained(self, tenure);
        }
    }

    /// Retains no lease any more, and gives those back that are.
    pub(crate) fn stop_retaining(self: &Arc<Self>) {
        if self.check_process().is_err() {
            return;
        }
        let retained = self.registry().retained.close();
        for tenure in retained {
            reaper::release_unawaited(self, tenure);
        }
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.background.spawn(task);
    }
}

impl<W: Wire> Drop for Remote<W> {
    fn drop(&mut self) {
        // The watchdog finds that there is nothing left to watch.
        self.is_earlier.notify_one();
    }
}

impl<W: Wire> Backend for Remote<W> {
    fn clock(&self) -> Clock {
        self.clock
    }

    /// All of it is an errand of the caller's: others depend on it, and must not wait for a caller
    /// whose runtime is busy.
    async fn acquire(self: Arc<Self>, request: Request) -> Outcome<W> {
        self.check_process()?;
        let gone = || LockError::new(LockErrorKind::Shutdown);
        let _counted = self.unsettled.one();
        let until = Instant::now() + request.wait;
        let (request, heads_queue) = match Joined::of(&self, request, until) {
            Joined::Head(request) => (request, true),
            Joined::Beside(request) => (request, false),
            Joined::Held(undelivered) => return Ok(undelivered),
            Joined::LocalQueue(mut position) => {
                match self.timers().timeout_at(until, position.outcome()).await {
                    Ok(outcome) => return outcome.ok_or_else(gone)?,
                    // What the head of the line knows need not be asked again.
                    Err(_) => match position.time_out() {
                        Some(last_known) => return Err(last_known.into_error()),
                        None => {
                            let last = until + self.attempt;
                            let outcome = self.timers().timeout_at(last, position.outcome()).await;
                            return match outcome {
                                Ok(outcome) => outcome.ok_or_else(gone)?,
                                Err(_) if position.leave() => {
                                    Err(LastKnown::unknown().into_error())
                                }
                                // Called at that moment: its turn is seen to already, and knows its time.
                                Err(_) => position.outcome().await.ok_or_else(gone)?,
                            };
                        }
                    },
                }
            }
        };
        let acquisition = Acquisition::new(&self, request, until, heads_queue);
        let (reply, mut outcome) = oneshot::channel();
        let mut runner = self.runner();
        self.assign(
            runner.offloaded(),
            self.run(acquisition, NextStep::Ask, reply),
        );
        runner.wait_for(&mut outcome).await.ok_or_else(gone)?
    }

    fn delivered(&self, lease: &Lease) {
        lease.delivered();
        // It was to be confirmed before, or a renewal was due, and neither was sent.
        if lease.is_doubted() || lease.remaining() < lease.terms.first_ttl() / 2 {
            self.registry().confirm_soon(lease);
            self.wake_watchdog();
        }
    }

    async fn renew(self: Arc<Self>, lease: Arc<Lease>) -> Result<(), LockError> {
        if let Some(loss) = lease.loss() {
            return Err(lease.lost_error(loss));
        }
        let remote = self.clone();
        self.on_background(async move { watchdog::renew_now(&remote, &lease).await })
            .await?
    }

    async fn release(self: Arc<Self>, lease: Arc<Lease>) -> ReleaseOutcome {
        if let Some(released) = self.hand_over_locally(&lease, true) {
            return released;
        }
        let tenure = self.registry().remove(&lease);
        match tenure {
            Some(tenure) if self.await_release => reaper::release(&self, tenure).await,
            Some(tenure) => reaper::release_unawaited(&self, tenure),
            None => ReleaseOutcome::Unconfirmed,
        }
    }

    fn abandon(self: Arc<Self>, lease: Arc<Lease>) {
        // A process that panics may be about to end, and what it retains would stay for its ttl.
        if self
            .hand_over_locally(&lease, !std::thread::panicking())
            .is_some()
        {
            return;
        }
        let tenure = self.registry().remove(&lease);
        if let Some(tenure) = tenure {
            reaper::release_unawaited(&self, tenure);
        }
    }

    fn live(&self) -> Vec<Arc<Lease>> {
        self.registry().leases().cloned().collect()
    }

    async fn settled(&self) {
        self.unsettled.zero().await;
    }
}

impl<W: Wire> Remote<W> {
    /// A hold was lost, because of `loss` or, if that is `None`, because its deadline passed: nobody
    /// waits for its holder any longer.
    pub(crate) fn lost(self: &Arc<Self>, owner_id: OwnerId, loss: Option<LossReason>) {
        let (lost, retained) = {
            let mut registry = self.registry();
            // In one step: a caller that comes in between must not have a lease that is not ours.
            (
                registry.lost(owner_id),
                registry.retained.remove_owner(owner_id),
            )
        };
        self.end_retained(retained);
        let Some((lease, queue)) = lost else { return };
        lease.lose(loss.unwrap_or_else(|| lease.expiry()));
        if let Some(lock) = queue {
            self.hand_over(&lock, Handoff::Start);
        }
    }
}
