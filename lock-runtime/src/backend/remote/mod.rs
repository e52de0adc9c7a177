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
pub(crate) mod local_queue;
pub(crate) mod local_turns;
pub(crate) mod local_waiter;
pub(crate) mod news;
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

use crate::backend::redis::{self, Server, Signal, Target};
use crate::backend::remote::acquisition::{Contender, Step, Turn, Won};
use crate::backend::remote::grant_notifier::Calls;
use crate::backend::remote::local_queue::Lines;
use crate::backend::remote::local_waiter::{Entrance, Outcome, Reply, Seat};
use crate::backend::remote::news::News;
use crate::backend::remote::owner::Episode;
use crate::backend::remote::registry::{Doubt, Roster, Tenure};
use crate::backend::wire::{Fault, Wire};
use crate::backend::{Backend, Delivery, Released, Request};
use crate::background::Keeper;
use crate::background::clock::Clock;
use crate::background::in_flight::Tally;
use crate::background::moment::Moment;
use crate::background::offload::{Errand, Runner, Task};
use crate::background::panics::shielded;
use crate::background::timers::Alarms;
use crate::config::Options;
use crate::control::is_removed;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockName, RecordNames};
use crate::lease::owner_id::Owner;
use crate::lease::schedule::Lease;
use crate::lease::{Hold, Loss};

/// The locks of one client on the server behind `W`.
pub(crate) struct Remote<W: Wire> {
    wire: W,
    clock: Clock,
    keeper: Keeper,
    /// How long one attempt to reach the server may take.
    pub(crate) attempt: Duration,
    calls: Calls,
    lines: Mutex<Lines<Seat<W>, News>>,
    roster: Mutex<Roster>,
    /// How many callers in a row may have one grant.
    pub(crate) local_turns: u32,
    await_release: bool,
    /// The watchdog has to look at the roster sooner than it planned to.
    sooner: Arc<Notify>,
    /// Calls that are under way, and owners that are being ended.
    pub(crate) unsettled: Tally,
}

impl Remote<Server> {
    /// A client of one server. Nothing is sent before it is used.
    pub(crate) fn open(url: &str, options: &Options) -> Result<Arc<Remote<Server>>, LockError> {
        let target = Target::parse(url, options)?;
        let keeper = Keeper::get()?;
        let calls = Calls::default();
        let sooner = Arc::new(Notify::new());
        let remote = Arc::new_cyclic(|remote: &Weak<Remote<Server>>| {
            let remote = remote.clone();
            let on_connect = {
                let calls = calls.clone();
                Arc::new(move || calls.names_of_connection())
            };
            let on_signal = Arc::new(move |signal: Signal<'_>| {
                if let Some(remote) = remote.upgrade() {
                    remote.signal(signal);
                }
            });
            Remote {
                wire: Server::new(
                    target,
                    keeper.clone(),
                    options.background_only,
                    options.command_timeout,
                    on_connect,
                    on_signal,
                ),
                clock: redis::CLOCK,
                keeper: keeper.clone(),
                attempt: options.command_timeout,
                local_turns: options.local_turns,
                await_release: options.await_release,
                calls: calls.clone(),
                lines: Mutex::default(),
                roster: Mutex::default(),
                sooner: sooner.clone(),
                unsettled: Tally::default(),
            }
        });
        keeper.spawn(watchdog::run(Arc::downgrade(&remote), sooner));
        Ok(remote)
    }
}

impl<W: Wire> Remote<W> {
    pub(crate) fn wire(&self) -> &W {
        &self.wire
    }

    /// Timers for what is polled wherever its caller is.
    pub(crate) fn alarms(&self) -> &Alarms {
        self.keeper.alarms()
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn lines(&self) -> MutexGuard<'_, Lines<Seat<W>, News>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn roster(&self) -> MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is still the process that the keeper runs in.
    pub(crate) fn check_process(&self) -> Result<(), LockError> {
        self.keeper.check_process()
    }

    /// A new owner.
    pub(crate) fn episode(
        &self,
        label: &Arc<str>,
        names: &RecordNames,
    ) -> Result<Episode, LockError> {
        Episode::begin(label, names, &self.calls)
    }

    /// An owner of this client's that has ended, and is to be ended again.
    pub(crate) fn episode_again(&self, owner: Owner, names: &RecordNames) -> Episode {
        Episode::again(owner, names, &self.calls)
    }

    /// A caller that does what is to be done for it.
    pub(crate) fn runner(&self) -> Runner {
        Runner::new(&self.keeper)
    }

    /// Leaves something to a caller.
    pub(crate) fn give(&self, errand: &Arc<Errand>, task: Task) {
        errand.give(&self.keeper, task);
    }

    /// Notes what is known at the head of a line, and tells those in it whose time is up.
    pub(crate) fn announce(&self, lock: &LockName, news: News) {
        let mut lines = self.lines();
        let mut now = None;
        let has_time = |seat: &Seat<W>| *now.get_or_insert_with(Instant::now) < seat.until;
        let leaving = lines.announce(lock, &news, has_time);
        drop(lines);
        for seat in leaving {
            shielded(|| drop(seat.reply.send(Err(news.clone().into_error()))));
        }
    }

    /// Has the watchdog look again.
    pub(crate) fn look_sooner(&self) {
        self.sooner.notify_one();
    }

    /// Has the watchdog look again if something is due before it would.
    pub(crate) fn look_if_needed(&self) {
        let sooner = self.roster().needs_a_look();
        if sooner {
            self.look_sooner();
        }
    }

    pub(crate) async fn ping(self: Arc<Self>) -> Result<(), LockError> {
        let remote = self.clone();
        self.on_keeper(async move { remote.wire.ping().await.map_err(Fault::into_error) })
            .await?
    }

    /// Makes the next one in a line its head, and acts for it.
    pub(crate) fn pass_turn(self: &Arc<Self>, lock: &LockName, turn: Turn) {
        let (seat, news) = loop {
            let mut lines = self.lines();
            let Some(seat) = lines.call(lock) else {
                drop(lines);
                return self.decline(turn);
            };
            let news = turn.news(lines.news(lock));
            lines.update(lock, news.clone());
            drop(lines);
            if !seat.reply.is_closed() {
                break (seat, news);
            }
        };
        let Seat {
            request,
            until,
            reply,
            errand,
        } = seat;
        let mut contender = Contender::new(self, request, until, true);
        match contender.take(turn, news) {
            Step::Won(won) => {
                let delivery = self.deliver(&contender.request, won);
                shielded(|| drop(reply.send(Ok(delivery))));
            }
            step => self.give(&errand, self.compete(contender, step, reply)),
        }
    }

    /// Ends what nobody wants any more.
    pub(crate) fn decline(self: &Arc<Self>, turn: Turn) {
        if let Turn::Queued(episode) | Turn::Confirmed(episode) | Turn::Granted(episode, ..) = turn
        {
            drop(reaper::end(self, episode));
        }
    }

    /// Runs `task` on the keeper's thread, to its end even if the caller goes away.
    async fn on_keeper<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, LockError> {
        self.check_process()?;
        let gone = || LockError::new(LockErrorKind::Shutdown);
        let task = self.keeper.spawn(task).ok_or_else(gone)?;
        // Outside of the budget of the caller's task, as an errand is.
        unconstrained(task).await.map_err(|_| gone())
    }

    /// Has a contender go on until its outcome is delivered or its caller goes.
    fn compete(
        self: &Arc<Self>,
        mut contender: Contender<W>,
        step: Step,
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
                outcome = contender.compete(step) => Some(outcome),
            };
            let outcome =
                outcome.map(|outcome| outcome.map(|won| remote.deliver(&contender.request, won)));
            drop(contender);
            if let Some(outcome) = outcome {
                // If the caller is gone by now, the delivery comes back and is dropped: given back.
                shielded(|| drop(reply.send(outcome)));
            }
            drop(counted);
        })
    }

    fn deliver(self: &Arc<Self>, request: &Request, won: Won) -> Delivery<Self> {
        Delivery::new(self, self.settle_in(request, won))
    }

    /// Makes the hold of a grant and puts it under the watchdog's eyes.
    fn settle_in(&self, request: &Request, won: Won) -> Arc<Hold> {
        if won.heads_line {
            let holder = News::HeldHere(request.label.clone());
            self.announce(&request.names.lock, holder);
        }
        let lease = Lease::granted(won.grant.at, &request.terms);
        let hold = Arc::new(Hold::new(
            request.key.clone(),
            won.episode.ticket.owner,
            won.grant.answer.token,
            request.terms,
            (request.function, request.template),
            self.clock,
            &lease,
        ));
        let tenure = Tenure {
            hold: hold.clone(),
            episode: won.episode,
            lease,
            contended: won.contended,
            heads_line: won.heads_line,
            turn: 0,
            since: won.grant.at,
            under_way: 0,
            doubt: Doubt::None,
        };
        let mut roster = self.roster();
        roster.insert(tenure, won.grant.at);
        let sooner = roster.needs_a_look() | roster.may_ask();
        drop(roster);
        if sooner {
            self.look_sooner();
        }
        hold
    }

    fn signal(self: &Arc<Self>, signal: Signal<'_>) {
        match signal {
            Signal::Up(incarnation) => {
                self.calls.connected(incarnation);
                self.roster().is_connected();
                self.look_sooner();
            }
            Signal::Down(incarnation) => {
                self.calls.disconnected(incarnation);
                self.calls.call_all();
                if !is_removed!("renewal_after_a_move") {
                    self.roster().is_disconnected(self.now());
                }
                self.look_sooner();
            }
            Signal::Message(payload) => {
                let Some((owner, lock)) =
                    Owner::parse_prefix(payload).zip(payload.get(Owner::LEN..))
                else {
                    return;
                };
                if !self.calls.call(owner)
                    && (self.calls.has_just_ended(owner) || is_removed!("owner_of_a_message"))
                {
                    reaper::end_again(self, owner, lock);
                }
                // After the call: a holder that is about to retain its lease has heard it, or is seen here.
                let retained = self.roster().retained.remove_owner(owner);
                self.end_retained(retained);
            }
        }
    }

    /// Passes the lease of a holder that is done to the next caller, or retains it. `None` if it is to be
    /// given back.
    pub(crate) fn hand_on(self: &Arc<Self>, hold: &Hold, may_retain: bool) -> Option<Released> {
        // In a forked child it must not even look: another thread may have held the mutexes when the
        // process was forked.
        if self.check_process().is_err() {
            return Some(Released::Unconfirmed);
        }
        local_turns::hand_on(self, hold, may_retain)
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
        let retained = self.roster().retained.close();
        for tenure in retained {
            reaper::release_unheard(self, tenure);
        }
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.keeper.spawn(task);
    }
}

impl<W: Wire> Drop for Remote<W> {
    fn drop(&mut self) {
        // The watchdog finds that there is nothing left to watch.
        self.sooner.notify_one();
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
        let (request, heads_line) = match Entrance::of(&self, request, until) {
            Entrance::Head(request) => (request, true),
            Entrance::Beside(request) => (request, false),
            Entrance::Held(delivery) => return Ok(delivery),
            Entrance::Line(mut seated) => {
                match self.alarms().timeout_at(until, seated.served()).await {
                    Ok(outcome) => return outcome.ok_or_else(gone)?,
                    // What the head of the line knows need not be asked again.
                    Err(_) => match seated.time_is_up() {
                        Some(news) => return Err(news.into_error()),
                        None => {
                            let last = until + self.attempt;
                            let served = self.alarms().timeout_at(last, seated.served()).await;
                            return match served {
                                Ok(outcome) => outcome.ok_or_else(gone)?,
                                Err(_) if seated.stand_up() => Err(News::unknown().into_error()),
                                // Called at that moment: its turn is seen to already, and knows its time.
                                Err(_) => seated.served().await.ok_or_else(gone)?,
                            };
                        }
                    },
                }
            }
        };
        let contender = Contender::new(&self, request, until, heads_line);
        let (reply, mut outcome) = oneshot::channel();
        let mut runner = self.runner();
        self.give(runner.errand(), self.compete(contender, Step::Ask, reply));
        runner.wait_for(&mut outcome).await.ok_or_else(gone)?
    }

    fn handed_over(&self, hold: &Hold) {
        hold.handed_over();
        // It was to be confirmed before, or a renewal was due, and neither was sent.
        if hold.is_doubted() || hold.remaining() < hold.terms.first_ttl() / 2 {
            self.roster().is_due(hold);
            self.look_sooner();
        }
    }

    async fn renew(self: Arc<Self>, hold: Arc<Hold>) -> Result<(), LockError> {
        if let Some(loss) = hold.loss() {
            return Err(hold.lost_error(loss));
        }
        let remote = self.clone();
        self.on_keeper(async move { watchdog::renew_now(&remote, &hold).await })
            .await?
    }

    async fn release(self: Arc<Self>, hold: Arc<Hold>) -> Released {
        if let Some(released) = self.hand_on(&hold, true) {
            return released;
        }
        let tenure = self.roster().remove(&hold);
        match tenure {
            Some(tenure) if self.await_release => reaper::release(&self, tenure).await,
            Some(tenure) => reaper::release_unheard(&self, tenure),
            None => Released::Unconfirmed,
        }
    }

    fn abandon(self: Arc<Self>, hold: Arc<Hold>) {
        // A process that panics may be about to end, and what it retains would stay for its ttl.
        if self.hand_on(&hold, !std::thread::panicking()).is_some() {
            return;
        }
        let tenure = self.roster().remove(&hold);
        if let Some(tenure) = tenure {
            reaper::release_unheard(&self, tenure);
        }
    }

    fn live(&self) -> Vec<Arc<Hold>> {
        self.roster().holds().cloned().collect()
    }

    async fn settled(&self) {
        self.unsettled.zero().await;
    }
}

impl<W: Wire> Remote<W> {
    /// A hold was lost, because of `loss` or, if that is `None`, because its deadline passed: nobody
    /// waits for its holder any longer.
    pub(crate) fn lost(self: &Arc<Self>, owner: Owner, loss: Option<Loss>) {
        let (lost, retained) = {
            let mut roster = self.roster();
            // In one step: a caller that comes in between must not have a lease that is not ours.
            (roster.lost(owner), roster.retained.remove_owner(owner))
        };
        self.end_retained(retained);
        let Some((hold, line)) = lost else { return };
        hold.lose(loss.unwrap_or_else(|| hold.expiry()));
        if let Some(lock) = line {
            self.pass_turn(&lock, Turn::Start);
        }
    }
}
