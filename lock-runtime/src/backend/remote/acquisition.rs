//! One call on its way to a lock.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::Request;
use crate::backend::remote::Remote;
use crate::backend::remote::news::News;
use crate::backend::remote::owner::Episode;
use crate::backend::remote::poll_interval::{LONGEST, PollInterval, backoff};
use crate::backend::remote::reaper;
use crate::backend::wire::{Acquired, Fault, Sent, Wire};
use crate::background::moment::Moment;
use crate::background::random;
use crate::control::is_removed;
use crate::error::{LockError, LockErrorKind};
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::lease::schedule::margin;

/// What the head of a line hands to the next one.
#[derive(Debug)]
pub(crate) enum Turn {
    /// To begin anew.
    Start,
    /// A place in the queue, to be kept up.
    Queued(Episode),
    /// A place in the queue, which the server has just confirmed.
    Confirmed(Episode),
    /// The lock, granted for the ttl that the episode asked for.
    Granted(Episode, Sent<Grant>),
}

impl Turn {
    /// What is known of the lock when it goes to the next one, who will find out more. That a caller of
    /// this client had it is not true any more.
    pub(crate) fn news(&self, news: Option<News>) -> Option<News> {
        match self {
            Turn::Confirmed(_) => Some(News::HandedOn),
            _ => news.filter(|news| !matches!(news, News::HeldHere(_))),
        }
    }
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

/// What comes next for a contender.
#[derive(Debug)]
pub(crate) enum Step {
    /// It has the lock.
    Won(Won),
    /// It asks now.
    Ask,
    /// It asks again after this time, or when it is called.
    Wait(Duration),
    /// Its time is up, or the server refuses it.
    Over,
}

/// A call that competes for a lock. Dropped at any time it hands on what it has.
pub(crate) struct Contender<W: Wire> {
    remote: Arc<Remote<W>>,
    pub(crate) request: Request,
    /// When its wait is over.
    until: Instant,
    /// `None` before its first command, and once it was handed on.
    episode: Option<Episode>,
    heads_line: bool,
    /// The last thing known of the lock.
    last: Option<News>,
    polls: PollInterval,
    /// Attempts in a row that failed.
    failures: u32,
}

impl<W: Wire> Contender<W> {
    pub(crate) fn new(
        remote: &Arc<Remote<W>>,
        request: Request,
        until: Instant,
        heads_line: bool,
    ) -> Contender<W> {
        Contender {
            remote: remote.clone(),
            request,
            until,
            episode: None,
            heads_line,
            last: None,
            polls: PollInterval::default(),
            failures: 0,
        }
    }

    /// Takes over what the head of its line left to it, and what that knew.
    pub(crate) fn take(&mut self, turn: Turn, news: Option<News>) -> Step {
        let ttl = self.request.terms.first_ttl();
        match turn {
            Turn::Start => Step::Ask,
            Turn::Queued(ref episode)
            | Turn::Confirmed(ref episode)
            | Turn::Granted(ref episode, ..)
                if !episode.chain.fits(ttl) && !is_removed!("ttl_of_the_successor") =>
            {
                self.remote.decline(turn);
                Step::Ask
            }
            Turn::Queued(episode) => {
                self.episode = Some(episode);
                if Instant::now() < self.until {
                    return Step::Ask;
                }
                // Called when its time is up, as all may be who came together.
                self.last = news;
                self.at_the_end()
            }
            Turn::Confirmed(episode) => {
                self.episode = Some(episode);
                Step::Wait(LONGEST)
            }
            Turn::Granted(episode, grant) => {
                self.episode = Some(episode);
                if is_fresh(self.remote.now(), grant.at, ttl) {
                    return Step::Won(self.won(grant));
                }
                Step::Ask
            }
        }
    }

    /// Competes until the lock is had or the wait is over.
    pub(crate) async fn compete(&mut self, mut step: Step) -> Result<Won, LockError> {
        // A grant is announced while nobody here sends anything.
        loop {
            step = match step {
                Step::Won(won) => return Ok(won),
                Step::Ask => self.ask().await,
                Step::Wait(pause) => self.pause(pause).await,
                Step::Over => return Err(self.give_up().await),
            }
        }
    }

    /// Waits until it is time to ask again, or the wait is over.
    async fn pause(&mut self, pause: Duration) -> Step {
        let now = Instant::now();
        let Some(episode) = self.episode.as_ref().filter(|_| now < self.until) else {
            return self.at_the_end();
        };
        let next = self.until.min(now + pause);
        match self
            .remote
            .alarms()
            .timeout_at(next, episode.called())
            .await
        {
            Err(_) if next == self.until => self.at_the_end(),
            Ok(()) if is_removed!("confirmation_of_a_grant") => {
                let (at, token) = (self.remote.now(), FencingToken::new(0));
                let contended = true;
                let answer = Grant { contended, token };
                Step::Won(self.won(Sent { at, answer }))
            }
            _ => Step::Ask,
        }
    }

    /// Whoever has never asked does so once: it may be had, and if not it is known who has it.
    fn at_the_end(&self) -> Step {
        match self.last {
            Some(_) => Step::Over,
            None => Step::Ask,
        }
    }

    /// Asks once for the lock, and for a place in its queue where it may wait there.
    async fn ask(&mut self) -> Step {
        // Whoever is not at the head has no time left: one attempt, and no place in the queue.
        let queue = self.heads_line && !self.request.wait.is_zero();
        let ttl = self.request.terms.first_ttl();
        if self.episode.is_none() {
            let Request { label, names, .. } = &self.request;
            match self.remote.episode(label, names) {
                Ok(episode) => self.episode = Some(episode),
                Err(error) => {
                    self.learn(failed(Fault::unavailable(error.to_string())));
                    return Step::Over;
                }
            }
        }
        let episode = self.episode.as_mut().expect("it was made above");
        let Episode {
            ticket,
            names,
            chain,
            ..
        } = episode;
        let wire = self.remote.wire();
        match wire.acquire(chain, ticket, names, ttl, queue).await {
            Ok(Sent {
                at,
                answer: Acquired::Held(grant),
            }) => {
                if is_fresh(self.remote.now(), at, ttl) {
                    return Step::Won(self.won(Sent { at, answer: grant }));
                }
                let late = "the answer took longer than the lease that it granted";
                self.learn(failed(Fault::unavailable(late)));
                Step::Wait(Duration::ZERO)
            }
            Ok(Sent {
                answer: Acquired::Waiting(waiting),
                ..
            }) => {
                self.failures = 0;
                chain.not_held();
                if queue {
                    chain.waits();
                }
                let callers = self.remote.unsettled.number();
                let pause = self.polls.after(&waiting, callers, random::jitter());
                self.learn(News::Held(Box::new(waiting.holder)));
                Step::Wait(pause)
            }
            Err(Fault::Refused(reason)) => {
                chain.not_held();
                self.learn(failed(Fault::Refused(reason)));
                Step::Over
            }
            Err(fault) => {
                self.learn(failed(fault));
                self.failures += 1;
                if is_removed!("same_owner_for_each_attempt") {
                    let Request { label, names, .. } = &self.request;
                    let another = self.remote.episode(label, names).ok();
                    // Dropped, the owner of this attempt would be ended again when a message names it.
                    mem::forget(mem::replace(&mut self.episode, another));
                }
                Step::Wait(backoff(self.failures, random::jitter()))
            }
        }
    }

    /// Notes what is known of the lock, for those behind it as well.
    fn learn(&mut self, news: News) {
        if self.heads_line {
            self.remote.announce(&self.request.names.lock, news.clone());
        }
        self.last = Some(news);
    }

    fn won(&mut self, grant: Sent<Grant>) -> Won {
        Won {
            episode: self.episode.take().expect("a grant has an owner"),
            grant,
            contended: grant.answer.contended || matches!(self.last, Some(News::Held(_))),
            heads_line: mem::take(&mut self.heads_line),
        }
    }

    /// Leaves, and waits until nothing of it is left behind, but no longer than one attempt after
    /// the end of its wait: the rest goes on without it. The error says why.
    async fn give_up(&mut self) -> LockError {
        let error = match self.last.take() {
            Some(news) => news.into_error(),
            None => LockError::new(LockErrorKind::Unavailable),
        };
        let inherited = self.heads_line
            && error.kind() != LockErrorKind::Rejected
            && self.remote.lines().peek(&self.request.names.lock).is_some();
        if !inherited && let Some(episode) = self.episode.take() {
            let ended = reaper::end(&self.remote, episode);
            let until = self.until + self.remote.attempt;
            let _ = self.remote.alarms().timeout_at(until, ended).await;
        }
        error
    }
}

fn failed(fault: Fault) -> News {
    News::Failed(Box::new(fault))
}

/// Whether a lease that was confirmed in answer to a request sent at `at` has time left.
fn is_fresh(now: Moment, at: Moment, ttl: Duration) -> bool {
    now < at + ttl.saturating_sub(margin(ttl))
}

impl<W: Wire> Drop for Contender<W> {
    fn drop(&mut self) {
        if !self.heads_line && self.episode.is_none() || self.remote.check_process().is_err() {
            return;
        }
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
