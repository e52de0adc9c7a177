//! One call on its way to a lock.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backend::Request;
use crate::backend::wire::{Acquired, Fault, Sent, Waiting, Wire};
use crate::error::{LockError, LockErrorKind};
use crate::model::lease::margin;
use crate::model::moment::Moment;
use crate::model::record::Grant;
use crate::random;
use crate::reaper;
use crate::remote::Remote;
use crate::wait::episode::Episode;
use crate::wait::line::Place;
use crate::wait::poll::{backoff, next_poll};

/// What the head of a line hands to the next one.
#[derive(Debug)]
pub(crate) enum Turn {
    /// To begin anew.
    Start,
    /// A place in the queue, to be kept up.
    Queued(Episode),
    /// The lock, granted for so long.
    Granted(Episode, Sent<Grant>, Duration),
}

/// A caller that waits behind the head of its line.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) ttl: Duration,
    pub(crate) label: Arc<str>,
    pub(crate) turn: oneshot::Sender<Turn>,
}

/// A lock that was had: the episode that holds it, and when it was last confirmed.
#[derive(Debug)]
pub(crate) struct Won {
    pub(crate) episode: Episode,
    pub(crate) grant: Sent<Grant>,
    /// Somebody queues behind it, or did a moment ago.
    pub(crate) contended: bool,
    pub(crate) heads_line: bool,
}

/// A call that competes for a lock. Dropped at any time it hands on what it has.
pub(crate) struct Contender<'a, W: Wire> {
    remote: &'a Arc<Remote<W>>,
    request: &'a Request,
    /// `None` before its first command, and once it was handed on.
    episode: Option<Episode>,
    heads_line: bool,
    /// The last thing known of the lock.
    last: Option<Result<Waiting, Fault>>,
}

impl<'a, W: Wire> Contender<'a, W> {
    pub(crate) fn new(remote: &'a Arc<Remote<W>>, request: &'a Request) -> Contender<'a, W> {
        Contender {
            remote,
            request,
            episode: None,
            heads_line: false,
            last: None,
        }
    }

    /// Competes until the lock is had or the wait is over.
    pub(crate) async fn compete(mut self) -> Result<Won, LockError> {
        let until = Instant::now() + self.request.wait;
        self.heads_line = self.remote.lines().head(&self.request.names.lock);
        let patient = !self.request.wait.is_zero();
        if !self.heads_line && patient {
            match self.turn(until).await {
                None => {}
                Some(turn) => {
                    self.heads_line = true;
                    if let Some(won) = self.take(turn) {
                        return Ok(won);
                    }
                }
            }
        }
        // Whoever is not at the head has no time left: one attempt, and no place in the queue.
        let queue = patient && self.heads_line;
        match self.poll(queue, until).await {
            Some(grant) => Ok(self.won(grant)),
            None => Err(self.give_up(until).await),
        }
    }

    /// Waits in line for its turn; `None` when the time is up.
    async fn turn(&mut self, until: Instant) -> Option<Turn> {
        let mut seated = Seated::sit(self.remote, self.request);
        tokio::select! {
            biased;
            turn = &mut seated.turn => turn.ok(),
            () = sleep_until(until) => seated.stand_up(),
        }
    }

    /// Takes over what the head before it left.
    fn take(&mut self, turn: Turn) -> Option<Won> {
        match turn {
            Turn::Start => None,
            Turn::Queued(episode) => {
                self.episode = Some(episode);
                None
            }
            Turn::Granted(episode, grant, ttl) => {
                self.episode = Some(episode);
                // A lease of another length is confirmed first: that brings it to ours.
                let ours = ttl == self.request.terms.first_ttl();
                (ours && is_fresh(self.remote.now(), grant.at, ttl)).then(|| self.won(grant))
            }
        }
    }

    /// Asks until the lock is had; `None` when the time is up or the server refuses.
    async fn poll(&mut self, queue: bool, until: Instant) -> Option<Sent<Grant>> {
        let ttl = self.request.terms.first_ttl();
        let episode = match self.episode.take() {
            Some(episode) => episode,
            None => match self
                .remote
                .episode(&self.request.label, &self.request.names)
            {
                Ok(episode) => episode,
                Err(error) => {
                    self.last = Some(Err(Fault::unavailable(error.to_string())));
                    return None;
                }
            },
        };
        let episode = self.episode.insert(episode);
        let mut failures = 0;
        loop {
            let Episode {
                ticket,
                names,
                chain,
                ..
            } = episode;
            let answer = self
                .remote
                .wire()
                .acquire(chain, ticket, names, ttl, queue)
                .await;
            let pause = match answer {
                Ok(Sent {
                    at,
                    answer: Acquired::Held(grant),
                }) => {
                    if is_fresh(self.remote.now(), at, ttl) {
                        return Some(Sent { at, answer: grant });
                    }
                    let late = "the answer took longer than the lease that it granted";
                    self.last = Some(Err(Fault::unavailable(late)));
                    Duration::ZERO
                }
                Ok(Sent {
                    answer: Acquired::Waiting(waiting),
                    ..
                }) => {
                    failures = 0;
                    chain.not_held();
                    let pause = next_poll(&waiting, random::jitter());
                    self.last = Some(Ok(waiting));
                    pause
                }
                Err(Fault::Refused(reason)) => {
                    chain.not_held();
                    self.last = Some(Err(Fault::Refused(reason)));
                    return None;
                }
                Err(fault) => {
                    self.last = Some(Err(fault));
                    failures += 1;
                    backoff(failures, random::jitter())
                }
            };
            let now = Instant::now();
            if now >= until {
                return None;
            }
            let next = until.min(now + pause);
            tokio::select! {
                biased;
                () = episode.called() => {}
                () = sleep_until(next) => if next == until { return None },
            }
        }
    }

    fn won(&mut self, grant: Sent<Grant>) -> Won {
        Won {
            episode: self.episode.take().expect("a grant has an owner"),
            grant,
            contended: grant.answer.contended || matches!(self.last, Some(Ok(_))),
            heads_line: std::mem::take(&mut self.heads_line),
        }
    }

    /// Leaves, and waits until nothing of it is left behind, but no longer than one attempt after
    /// `until`: the rest goes on without it. The error says why.
    async fn give_up(mut self, until: Instant) -> LockError {
        let error = match self.last.take() {
            Some(Ok(waiting)) => {
                LockError::new(LockErrorKind::Busy).with_holder(waiting.holder.describe())
            }
            Some(Err(fault)) => fault.into_error(),
            None => LockError::new(LockErrorKind::Unavailable),
        };
        let inherited = self.heads_line
            && error.kind() != LockErrorKind::Rejected
            && self.remote.lines().peek(&self.request.names.lock).is_some();
        if !inherited && let Some(episode) = self.episode.take() {
            let ended = reaper::end(self.remote, episode);
            let _ = timeout_at(until + self.remote.attempt, ended).await;
        }
        error
    }
}

/// Whether a lease that was confirmed in answer to a request sent at `at` has time left.
fn is_fresh(now: Moment, at: Moment, ttl: Duration) -> bool {
    now < at + ttl.saturating_sub(margin(ttl))
}

impl<W: Wire> Drop for Contender<'_, W> {
    fn drop(&mut self) {
        let episode = self.episode.take();
        let turn = episode
            .filter(|episode| episode.chain.stands())
            .map_or(Turn::Start, Turn::Queued);
        if self.heads_line {
            self.remote.pass_turn(&self.request.names.lock, turn);
        } else {
            self.remote.decline(turn);
        }
    }
}

/// A place in line that is given up when this is dropped.
struct Seated<'a, W: Wire> {
    remote: &'a Arc<Remote<W>>,
    lock: &'a Arc<str>,
    place: Option<Place>,
    turn: oneshot::Receiver<Turn>,
}

impl<'a, W: Wire> Seated<'a, W> {
    fn sit(remote: &'a Arc<Remote<W>>, request: &'a Request) -> Seated<'a, W> {
        let (turn, receiver) = oneshot::channel();
        let seat = Seat {
            ttl: request.terms.first_ttl(),
            label: request.label.clone(),
            turn,
        };
        let lock = &request.names.lock;
        let place = Some(remote.lines().join(lock, seat));
        Seated {
            remote,
            lock,
            place,
            turn: receiver,
        }
    }

    /// Gives the place up, unless the turn has come at the same time.
    fn stand_up(&mut self) -> Option<Turn> {
        let place = self.place.take()?;
        if self.remote.lines().leave(self.lock, place) {
            return None;
        }
        // Called already: lines and turns are only touched on the keeper's thread, so the turn
        // that belongs to the call has been sent.
        self.turn.try_recv().ok()
    }
}

impl<W: Wire> Drop for Seated<'_, W> {
    fn drop(&mut self) {
        if let Some(turn) = self.stand_up() {
            self.remote.pass_turn(self.lock, turn);
        }
    }
}
