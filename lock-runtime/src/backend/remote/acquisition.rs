//! One call on its way to a lock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::Request;
use crate::backend::remote::Remote;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::owner::Owner;
use crate::backend::remote::poll_interval::{LONGEST, PollInterval, backoff};
use crate::backend::remote::reaper;
use crate::backend::wire::{AcquireReply, Answered, Wire, WireError};
use crate::background::moment::Moment;
use crate::background::random;
use crate::error::{LockError, LockErrorKind};
use crate::lease::record::Grant;
use crate::lease::schedule::margin;

/// What the head of a line hands to the next one.
#[derive(Debug)]
pub(crate) enum Handoff {
    /// To begin anew.
    Start,
    /// A place in the queue, to be kept up.
    Queued(Owner),
    /// A place in the queue, which the server has just confirmed.
    Confirmed(Owner),
    /// The lock, granted for the ttl that the episode asked for.
    Granted(Owner, Answered<Grant>),
}

impl Handoff {
    /// What is known of the lock when it goes to the next one, who will find out more. That a caller of
    /// this client had it is not true any more.
    pub(crate) fn last_known(&self, last_known: Option<LastKnown>) -> Option<LastKnown> {
        match self {
            Handoff::Confirmed(_) => Some(LastKnown::HandedOff),
            _ => last_known.filter(|last_known| !matches!(last_known, LastKnown::HeldHere(_))),
        }
    }
}

/// A lock that was had: the episode that holds it, and when it was last confirmed.
#[derive(Debug)]
pub(crate) struct Acquired {
    pub(crate) owner: Owner,
    pub(crate) grant: Answered<Grant>,
    /// Somebody queues behind it, or did a moment ago.
    pub(crate) contended: bool,
    pub(crate) heads_queue: bool,
}

/// What comes next for a contender.
#[derive(Debug)]
pub(crate) enum NextStep {
    /// It has the lock.
    Acquired(Acquired),
    /// It asks now.
    Ask,
    /// It asks again after this time, or when it is called.
    Wait(Duration),
    /// Its time is up, or the server refuses it.
    Over,
}

/// A call that competes for a lock. Dropped at any time it hands on what it has.
pub(crate) struct Acquisition<W: Wire> {
    remote: Arc<Remote<W>>,
    pub(crate) request: Request,
    /// When its wait is over.
    until: Instant,
    /// `None` before its first command, and once it was handed on.
    owner: Option<Owner>,
    heads_queue: bool,
    /// The last thing known of the lock.
    last: Option<LastKnown>,
    polls: PollInterval,
    /// Attempts in a row that failed.
    failures: u32,
}

impl<W: Wire> Acquisition<W> {
    pub(crate) fn new(
        remote: &Arc<Remote<W>>,
        request: Request,
        until: Instant,
        heads_queue: bool,
    ) -> Acquisition<W> {
        Acquisition {
            remote: remote.clone(),
            request,
            until,
            owner: None,
            heads_queue,
            last: None,
            polls: PollInterval::default(),
            failures: 0,
        }
    }

    /// Takes over what the head of its line left to it, and what that knew.
    pub(crate) fn take(&mut self, handoff: Handoff, last_known: Option<LastKnown>) -> NextStep {
        let ttl = self.request.terms.first_ttl();
        match handoff {
            Handoff::Start => NextStep::Ask,
            Handoff::Queued(ref owner)
            | Handoff::Confirmed(ref owner)
            | Handoff::Granted(ref owner, ..)
                if !owner.outstanding.may_ask_for(ttl) =>
            {
                self.remote.end_unneeded(handoff);
                NextStep::Ask
            }
            Handoff::Queued(owner) => {
                self.owner = Some(owner);
                if Instant::now() < self.until {
                    return NextStep::Ask;
                }
                // Called when its time is up, as all may be who came together.
                self.last = last_known;
                self.at_the_end()
            }
            Handoff::Confirmed(owner) => {
                self.owner = Some(owner);
                NextStep::Wait(LONGEST)
            }
            Handoff::Granted(owner, grant) => {
                self.owner = Some(owner);
                if is_fresh(self.remote.now(), grant.at, ttl) {
                    return NextStep::Acquired(self.acquired(grant));
                }
                NextStep::Ask
            }
        }
    }

    /// Competes until the lock is had or the wait is over.
    pub(crate) async fn run(&mut self, mut step: NextStep) -> Result<Acquired, LockError> {
        // A grant is announced while nobody here sends anything.
        loop {
            step = match step {
                NextStep::Acquired(acquired) => return Ok(acquired),
                NextStep::Ask => self.ask().await,
                NextStep::Wait(pause) => self.pause(pause).await,
                NextStep::Over => return Err(self.give_up().await),
            }
        }
    }

    /// Waits until it is time to ask again, or the wait is over.
    async fn pause(&self, pause: Duration) -> NextStep {
        let now = Instant::now();
        let Some(owner) = self.owner.as_ref().filter(|_| now < self.until) else {
            return self.at_the_end();
        };
        let next = self.until.min(now + pause);
        match self
            .remote
            .timers()
            .timeout_at(next, owner.notified())
            .await
        {
            Err(_) if next == self.until => self.at_the_end(),
            _ => NextStep::Ask,
        }
    }

    /// Whoever has never asked does so once: it may be had, and if not it is known who has it.
    fn at_the_end(&self) -> NextStep {
        match self.last {
            Some(_) => NextStep::Over,
            None => NextStep::Ask,
        }
    }

    /// Asks once for the lock, and for a place in its queue where it may wait there.
    async fn ask(&mut self) -> NextStep {
        // Whoever is not at the head has no time left: one attempt, and no place in the queue.
        let queue = self.heads_queue && !self.request.wait.is_zero();
        let ttl = self.request.terms.first_ttl();
        if self.owner.is_none() {
            let request = &self.request;
            match self.remote.owner(&request.label, &request.names) {
                Ok(owner) => self.owner = Some(owner),
                Err(error) => {
                    self.learn(failed(WireError::unavailable(error.to_string())));
                    return NextStep::Over;
                }
            }
        }
        let owner = self.owner.as_mut().expect("it was made above");
        let Owner {
            entry,
            names,
            outstanding,
            ..
        } = owner;
        let wire = self.remote.wire();
        match wire.acquire(outstanding, entry, names, ttl, queue).await {
            Ok(Answered {
                at,
                answer: AcquireReply::Held(grant),
            }) => {
                if is_fresh(self.remote.now(), at, ttl) {
                    return NextStep::Acquired(self.acquired(Answered { at, answer: grant }));
                }
                let late = "the answer took longer than the lease that it granted";
                self.learn(failed(WireError::unavailable(late)));
                NextStep::Wait(Duration::ZERO)
            }
            Ok(Answered {
                answer: AcquireReply::Waiting(waiting),
                ..
            }) => {
                self.failures = 0;
                outstanding.note_not_held();
                if queue {
                    outstanding.note_queued();
                }
                let callers = self.remote.unsettled.number();
                let pause = self.polls.after(&waiting, callers, random::jitter());
                self.learn(LastKnown::Held(Box::new(waiting.holder)));
                NextStep::Wait(pause)
            }
            Err(WireError::Refused(reason)) => {
                outstanding.note_not_held();
                self.learn(failed(WireError::Refused(reason)));
                NextStep::Over
            }
            Err(fault) => {
                self.learn(failed(fault));
                self.failures += 1;
                NextStep::Wait(backoff(self.failures, random::jitter()))
            }
        }
    }

    /// Notes what is known of the lock, for those behind it as well.
    fn learn(&mut self, last_known: LastKnown) {
        if self.heads_queue {
            self.remote
                .announce(&self.request.names.lock, last_known.clone());
        }
        self.last = Some(last_known);
    }

    fn acquired(&mut self, grant: Answered<Grant>) -> Acquired {
        Acquired {
            owner: self.owner.take().expect("a grant has an owner"),
            grant,
            contended: grant.answer.contended || matches!(self.last, Some(LastKnown::Held(_))),
            heads_queue: std::mem::take(&mut self.heads_queue),
        }
    }

    /// Leaves, and waits until nothing of it is left behind, but no longer than one attempt after
    /// the end of its wait: the rest goes on without it. The error says why.
    async fn give_up(&mut self) -> LockError {
        let error = match self.last.take() {
            Some(last_known) => last_known.into_error(),
            None => LockError::new(LockErrorKind::Unavailable),
        };
        let inherited = self.heads_queue
            && error.kind() != LockErrorKind::Rejected
            && self
                .remote
                .queues()
                .peek(&self.request.names.lock)
                .is_some();
        if !inherited && let Some(owner) = self.owner.take() {
            let ended = reaper::end(&self.remote, owner);
            let until = self.until + self.remote.attempt;
            let _ = self.remote.timers().timeout_at(until, ended).await;
        }
        error
    }
}

fn failed(fault: WireError) -> LastKnown {
    LastKnown::Failed(Box::new(fault))
}

/// Whether a lease that was confirmed in answer to a request sent at `at` has time left.
fn is_fresh(now: Moment, at: Moment, ttl: Duration) -> bool {
    now < at + ttl.saturating_sub(margin(ttl))
}

impl<W: Wire> Drop for Acquisition<W> {
    fn drop(&mut self) {
        if !self.heads_queue && self.owner.is_none() || self.remote.check_process().is_err() {
            return;
        }
        let owner = self.owner.take();
        let handoff = owner
            .filter(|owner| owner.outstanding.may_be_stored())
            .map_or(Handoff::Start, Handoff::Queued);
        if self.heads_queue {
            self.remote.hand_over(&self.request.names.lock, handoff);
        } else {
            self.remote.end_unneeded(handoff);
        }
    }
}
