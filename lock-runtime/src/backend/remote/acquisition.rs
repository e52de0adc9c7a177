//! An acquisition, from its first attempt until it has the lock or gives up.

mod attempt;
mod first_command;
mod leaving;
mod listening;
mod new_head;

use std::future::pending;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::acquiring::Outcome;
use crate::backend::remote::context::Context;
use crate::backend::remote::delivery::{self, GrantedOwner};
use crate::backend::remote::handoff::Handoff;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::owner::RegisteredOwner;
use crate::backend::remote::pass_head;
use crate::backend::remote::poll_interval::{LONGEST, PollInterval, backoff};
use crate::backend::remote::reaper;
use crate::backend::undelivered::Undelivered;
use crate::backend::wire::Wire;
use crate::backend::wire::pace::Pace;
use crate::backend::wire::reply::Answered;
use crate::background::in_flight::Counted;
use crate::background::offload::{Reply, Task};
use crate::background::panics::catch_panics;
use crate::background::random;
use crate::control::is_removed;
use crate::error::LockError;
use crate::lease::Request;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::lease::schedule::is_fresh;

/// What an acquisition does next, unless it has the lock.
#[derive(Clone, Copy, Debug)]
enum NextStep {
    /// It makes an attempt now.
    Attempt,
    /// It makes an attempt after this time, or when a grant is announced.
    Wait(Duration),
    /// Its time is over, or the server refuses it.
    GiveUp,
}

/// It has the lock, or takes another step.
type Progress = ControlFlow<GrantedOwner, NextStep>;

/// A call that competes for a lock. Dropped at any time, it hands over what it has.
pub(crate) struct Acquisition<W: Wire> {
    context: Arc<Context<W>>,
    request: Request,
    /// When its wait is over.
    until: Instant,
    /// `None` before its first command, and once it was handed over.
    owner: Option<RegisteredOwner>,
    /// Whether it is the head of the local queue, or for a share one of its heads.
    heads_queue: bool,
    last_known: Option<LastKnown>,
    /// Of several locks, the one that was in the way at the last attempt; their number if none was. The owner has those
    /// before it.
    in_the_way: usize,
    polls: PollInterval,
    pace: Pace,
    /// While it waits, the client listens for releases.
    subscription: Option<W::Subscription>,
    /// Attempts in a row that failed.
    failures: u32,
    /// How often it lost a part of several locks.
    begun_anew: u32,
}

impl<W: Wire> Acquisition<W> {
    pub(crate) fn new(
        context: &Arc<Context<W>>,
        request: Request,
        until: Instant,
        heads_queue: bool,
    ) -> Acquisition<W> {
        Acquisition {
            context: context.clone(),
            request,
            until,
            owner: None,
            heads_queue,
            last_known: None,
            in_the_way: 0,
            polls: PollInterval::default(),
            pace: Pace::default(),
            subscription: None,
            failures: 0,
            begun_anew: 0,
        }
    }

    /// The task that makes the first attempt and goes on until the outcome is delivered or the caller is gone.
    pub(crate) fn begin(self, reply: Reply<Outcome>) -> Task {
        // Counted here and not in the task: a shutdown may look before the task is run.
        let counted = self.context.unsettled.one();
        self.into_task(NextStep::Attempt, reply, counted)
    }

    /// Takes over what the last head of the local queue had reached, and what it knew.
    fn take_over(&mut self, handoff: Handoff, last_known: Option<LastKnown>) -> Progress {
        let ttl = self.request.terms.first_ttl();
        let next = match handoff {
            Handoff::Fresh => NextStep::Attempt,
            Handoff::Queued(ref owner)
            | Handoff::Confirmed(ref owner)
            | Handoff::Granted(ref owner, ..)
                if !owner.outstanding.may_ask_for(ttl) && !is_removed!(ttl_of_the_successor) =>
            {
                pass_head::end_unneeded(&self.context, handoff);
                NextStep::Attempt
            }
            Handoff::Queued(owner) => {
                self.owner = Some(owner);
                if Instant::now() < self.until {
                    return Progress::Continue(NextStep::Attempt);
                }
                // In a crowd whose waits end together, each caller may become the head with no time left.
                self.last_known = last_known;
                self.when_time_is_up()
            }
            Handoff::Confirmed(owner) => {
                self.owner = Some(owner);
                NextStep::Wait(LONGEST)
            }
            Handoff::Granted(owner, grant) => {
                self.owner = Some(owner);
                // With replicas to wait for, another attempt confirms the grant, and waits.
                if is_fresh(self.context.now(), grant.at, ttl) && !self.context.waits_for_replicas {
                    return Progress::Break(self.acquired(grant));
                }
                NextStep::Attempt
            }
        };
        Progress::Continue(next)
    }

    fn into_task(mut self, first: NextStep, reply: Reply<Outcome>, counted: Counted) -> Task {
        Box::pin(async move {
            let outcome = tokio::select! {
                biased;
                // The caller is gone: dropping the acquisition hands over what it has.
                () = reply.closed() => None,
                outcome = self.run(first) => Some(outcome),
            };
            let outcome = outcome.map(|outcome| Ok(self.register_lease(outcome?)));
            drop(self);
            if let Some(outcome) = outcome {
                // If the caller is gone by now, the lease comes back and is released as it is dropped.
                catch_panics(|| drop(reply.send(outcome)));
            }
            drop(counted);
        })
    }

    /// Competes until it has the lock or its wait is over.
    async fn run(&mut self, mut step: NextStep) -> Result<GrantedOwner, LockError> {
        loop {
            let progress = match step {
                NextStep::Attempt => {
                    let mut now = Instant::now();
                    while let Some(pause) = self.pace.pause(now) {
                        Box::pin(self.context.timers().sleep_until(now + pause)).await;
                        now = Instant::now();
                    }
                    self.pace.count(now);
                    self.attempt().await
                }
                NextStep::Wait(pause) => self.pause(pause).await,
                NextStep::GiveUp => return Err(self.give_up().await),
            };
            match progress {
                Progress::Break(acquired) => return Ok(acquired),
                Progress::Continue(next) => step = next,
            }
        }
    }

    fn acquired(&mut self, grant: Answered<Grant>) -> GrantedOwner {
        // A share leaves room for others, so its caller heads the queue no longer.
        if self.request.mode.share().is_some() && mem::take(&mut self.heads_queue) {
            self.pass_head(Handoff::Fresh);
        }
        GrantedOwner {
            owner: self.owner.take().expect("a grant has an owner"),
            grant,
            contended: grant.answer.contended
                || matches!(self.last_known, Some(LastKnown::HeldElsewhere(_))),
            heads_queue: mem::take(&mut self.heads_queue),
        }
    }

    /// Notes what is known of the lock, also for the callers behind this one.
    fn learn(&mut self, last_known: LastKnown) {
        if self.heads_queue {
            let lock = &self.request.lock().names.lock;
            let mode = self.request.mode;
            self.context.announce(mode, lock, last_known.clone());
        }
        self.last_known = Some(last_known);
    }

    /// Gives back what the owner has and begins with another one: a lock that it had is lost, and its place in a later
    /// queue would have it wait for locks out of their order.
    fn begin_anew(&mut self) -> NextStep {
        if let Some(owner) = self.owner.take() {
            drop(reaper::end(&self.context, owner));
        }
        self.in_the_way = 0;
        // Each owner has to be ended, so one that loses what it had each time must not make many.
        let pause = match self.begun_anew {
            0 => Duration::ZERO,
            times => backoff(times, random::jitter()),
        };
        self.begun_anew += 1;
        NextStep::Wait(pause)
    }

    /// Waits until the next attempt is due, a grant is announced, or the wait is over.
    async fn pause(&mut self, pause: Duration) -> Progress {
        let now = Instant::now();
        if now >= self.until {
            return Progress::Continue(self.when_time_is_up());
        }
        // A timer that is due would fire at the next tick.
        if pause.is_zero() {
            return Progress::Continue(NextStep::Attempt);
        }
        let next = self.until.min(now + pause);
        let notified = async {
            match &self.owner {
                Some(owner) => owner.notified().await,
                // It has given back what too few replicas had.
                None => pending().await,
            }
        };
        let notified = self.context.timers().timeout_at(next, notified);
        let next = match notified.await {
            Err(_) if next == self.until => self.when_time_is_up(),
            Ok(()) if is_removed!(confirmation_of_a_grant) => {
                let (at, token) = (self.context.now(), FencingToken::new(FencingToken::FIRST));
                let contended = true;
                let answer = Grant { contended, token };
                return Progress::Break(self.acquired(Answered { at, answer }));
            }
            _ => NextStep::Attempt,
        };
        Progress::Continue(next)
    }

    /// An acquisition without any attempt makes one: the lock may be free, and if not, its holder is learnt.
    fn when_time_is_up(&self) -> NextStep {
        match self.last_known {
            Some(_) => NextStep::GiveUp,
            None => NextStep::Attempt,
        }
    }

    fn register_lease(&self, acquired: GrantedOwner) -> Undelivered {
        let lease = delivery::register(&self.context, &self.request, acquired);
        Undelivered::new(self.context.clone(), lease)
    }

    /// Makes the next caller of the local queue a head.
    fn pass_head(&self, handoff: Handoff) {
        let Request { mode, locks, .. } = &self.request;
        pass_head::to_next(&self.context, *mode, &locks.first().names.lock, handoff);
    }
}
