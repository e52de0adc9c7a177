//! Locks that a server keeps: everything between a caller and the wire.
//!
//! All of it runs on the keeper's thread. A caller only sends a task there and waits for its
//! answer, so whatever happens to the caller, the task knows what it has sent and settles it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use crate::backend::redis::{self, Server, Signal, Target};
use crate::backend::wire::{Fault, Wire};
use crate::backend::{Backend, Delivery, Released, Request};
use crate::clock::Clock;
use crate::error::{LockError, LockErrorKind};
use crate::hold::{Hold, Loss};
use crate::keeper::Keeper;
use crate::model::key::RecordNames;
use crate::model::lease::Lease;
use crate::model::owner::{Owner, ProcessId};
use crate::options::Options;
use crate::random;
use crate::roster::{Roster, Tenure};
use crate::tally::{Counted, Tally};
use crate::wait::calls::Calls;
use crate::wait::contender::{Contender, Seat, Turn, Won};
use crate::wait::episode::Episode;
use crate::wait::line::Lines;
use crate::{reaper, watchdog};

/// The locks of one client on the server behind `W`.
pub(crate) struct Remote<W> {
    wire: W,
    clock: Clock,
    process: ProcessId,
    keeper: Keeper,
    /// How long one attempt to reach the server may take.
    pub(crate) attempt: Duration,
    calls: Calls,
    lines: Mutex<Lines<Seat>>,
    roster: Mutex<Roster>,
    /// The watchdog has to look at the roster sooner than it planned to.
    sooner: Arc<Notify>,
    /// Calls that are under way, and owners that are being ended.
    pub(crate) unsettled: Tally,
}

impl Remote<Server> {
    /// A client of one server. Nothing is sent before it is used.
    pub(crate) fn open(url: &str, options: &Options) -> Result<Arc<Remote<Server>>, LockError> {
        let target = Target::parse(url, options)?;
        let process = random::process_id()?;
        let keeper = Keeper::get()?;
        let sooner = Arc::new(Notify::new());
        let remote = Arc::new_cyclic(|remote: &Weak<Remote<Server>>| {
            let remote = remote.clone();
            let on_signal = Arc::new(move |signal: Signal<'_>| {
                if let Some(remote) = remote.upgrade() {
                    remote.signal(signal);
                }
            });
            Remote {
                wire: Server::new(
                    target,
                    process,
                    keeper.clone(),
                    options.command_timeout,
                    on_signal,
                ),
                clock: redis::CLOCK,
                process,
                keeper: keeper.clone(),
                attempt: options.command_timeout,
                calls: Calls::default(),
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

    pub(crate) fn now(&self) -> crate::model::moment::Moment {
        self.clock.now()
    }

    pub(crate) fn lines(&self) -> MutexGuard<'_, Lines<Seat>> {
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
        label: &str,
        names: &Arc<RecordNames>,
    ) -> Result<Episode, LockError> {
        let owner = random::owner(self.process)?;
        Ok(Episode::new(owner, label, names, &self.calls))
    }

    /// An owner of this client's whose episode is over.
    pub(crate) fn stranger(&self, owner: Owner, names: &Arc<RecordNames>) -> Episode {
        Episode::new(owner, "", names, &self.calls)
    }

    /// Has the watchdog look again.
    pub(crate) fn look_sooner(&self) {
        self.sooner.notify_one();
    }

    pub(crate) async fn ping(self: Arc<Self>) -> Result<(), LockError> {
        let remote = self.clone();
        self.on_keeper(async move { remote.wire.ping().await.map_err(Fault::into_error) })
            .await?
    }

    /// Hands the head of a line to the next one in it. Must run on the keeper's thread.
    pub(crate) fn pass_turn(self: &Arc<Self>, lock: &str, mut turn: Turn) {
        loop {
            let Some(seat) = self.lines().call(lock) else {
                return self.decline(turn);
            };
            match seat.turn.send(turn) {
                Ok(()) => return,
                Err(declined) => turn = declined,
            }
        }
    }

    /// Ends what nobody wants any more.
    pub(crate) fn decline(self: &Arc<Self>, turn: Turn) {
        if let Turn::Queued(episode) | Turn::Granted(episode, ..) = turn {
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
        task.await.map_err(|_| gone())
    }

    /// One call, from its first command to the delivery of its outcome.
    async fn serve(
        self: Arc<Self>,
        request: Request,
        mut reply: oneshot::Sender<Result<Delivery<Self>, LockError>>,
        counted: Counted,
    ) {
        let outcome = tokio::select! {
            biased;
            // The caller is gone: dropping the contender hands on whatever it has.
            () = reply.closed() => None,
            outcome = Contender::new(&self, &request).compete() => Some(outcome),
        };
        if let Some(outcome) = outcome {
            let delivery = outcome.map(|won| Delivery::new(&self, self.settle_in(&request, won)));
            // If the caller is gone by now, the delivery comes back and is dropped: given back.
            drop(reply.send(delivery));
        }
        drop(counted);
    }

    /// Makes the hold of a grant and puts it under the watchdog's eyes.
    fn settle_in(&self, request: &Request, won: Won) -> Arc<Hold> {
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
        let due = lease.next_due();
        let mut roster = self.roster();
        let sooner = roster.next().is_none_or(|next| due < next);
        roster.insert(Tenure {
            hold: hold.clone(),
            episode: won.episode,
            lease,
            contended: won.contended,
            heads_line: won.heads_line,
        });
        drop(roster);
        if sooner {
            self.sooner.notify_one();
        }
        hold
    }

    fn signal(self: &Arc<Self>, signal: Signal<'_>) {
        match signal {
            Signal::Down => self.calls.call_all(),
            Signal::Message(payload) => {
                let Some((owner, lock)) =
                    Owner::parse_prefix(payload).zip(payload.get(Owner::LEN..))
                else {
                    return;
                };
                if !self.calls.call(owner) {
                    reaper::end_stranger(self, owner, lock);
                }
            }
        }
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.keeper.spawn(task);
    }
}

impl<W> Drop for Remote<W> {
    fn drop(&mut self) {
        // The watchdog finds that there is nothing left to watch.
        self.sooner.notify_one();
    }
}

impl<W: Wire> Backend for Remote<W> {
    fn clock(&self) -> Clock {
        self.clock
    }

    async fn acquire(self: Arc<Self>, request: Request) -> Result<Delivery<Self>, LockError> {
        self.check_process()?;
        let (reply, outcome) = oneshot::channel();
        let gone = || LockError::new(LockErrorKind::Shutdown);
        // Counted here and not in the task: a shutdown may look before that is run.
        let serve = self.clone().serve(request, reply, self.unsettled.one());
        self.keeper.spawn(serve).ok_or_else(gone)?;
        outcome.await.map_err(|_| gone())?
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
        let (reply, answer) = oneshot::channel();
        self.give_back(&hold, Some(reply));
        answer.await.unwrap_or(Released::Unconfirmed)
    }

    fn abandon(self: Arc<Self>, hold: Arc<Hold>) {
        self.give_back(&hold, None);
    }

    fn live(&self) -> Vec<Arc<Hold>> {
        self.roster().holds().cloned().collect()
    }

    async fn settled(&self) {
        self.unsettled.zero().await;
    }
}

impl<W: Wire> Remote<W> {
    /// Has a lock given back; from here on it is not renewed. The second time nothing happens. Nor
    /// does it in a forked child, which must not even look: the keeper may have held the roster's
    /// mutex when the process was forked.
    fn give_back(self: &Arc<Self>, hold: &Hold, reply: Option<oneshot::Sender<Released>>) {
        if self.check_process().is_err() {
            return;
        }
        let counted = self.unsettled.one();
        let tenure = self.roster().remove(hold.owner);
        if let Some(tenure) = tenure {
            self.spawn(reaper::give_back(self.clone(), tenure, reply, counted));
        }
    }

    /// A hold was lost, because of `loss` or, if that is `None`, because its deadline passed: nobody
    /// waits for its holder any longer.
    pub(crate) fn lost(self: &Arc<Self>, owner: Owner, loss: Option<Loss>) {
        let lost = self.roster().lost(owner);
        let Some((hold, line)) = lost else { return };
        hold.lose(loss.unwrap_or_else(|| hold.expiry()));
        if let Some(lock) = line {
            self.pass_turn(&lock, Turn::Start);
        }
    }
}
