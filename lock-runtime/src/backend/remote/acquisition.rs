//! Acquires a lock, from the first attempt until the caller wins or gives up.
//!
//! [`Competing`] decides what to do next. This file sends the commands, waits, and publishes what is known about the
//! lock to the callers behind this one. An acquisition may be dropped at any time; the machine then decides what it
//! leaves behind.

mod promoted;

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::engine::competing::Competing;
use crate::backend::engine::competing::call::Call;
use crate::backend::engine::competing::command::{Command, Pause};
use crate::backend::engine::competing::event::Event;
use crate::backend::engine::handoff::{Left, Won};
use crate::backend::redis::Subscription;
use crate::backend::remote::Remote;
use crate::backend::remote::delivery::{self, GrantedOwner};
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::poll_interval::{LONGEST, PollInterval, backoff};
use crate::backend::remote::promotion::Handoff;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::remote::{promotion, reaper};
use crate::backend::undelivered::{Outcome, Undelivered};
use crate::backend::wire::AcquireRequest;
use crate::backend::wire::error::WireError;
use crate::backend::wire::pace::Pace;
use crate::backend::wire::reply::{AcquireReply, Answered, Waiting};
use crate::background::in_flight::Counted;
use crate::background::offload::{Reply, Task};
use crate::background::panics::catch_panics;
use crate::background::random;
use crate::error::{LockError, LockErrorKind};
use crate::lease::record::Grant;
use crate::lease::{Mode, Request};

/// A call that competes for a lock. Dropped at any time, it hands over its owner and its place.
pub(crate) struct Acquisition {
    remote: Arc<Remote>,
    request: Request,
    /// When the caller's wait is over.
    until: Instant,
    competing: Competing<RegisteredOwner>,
    /// The machine's knowledge about the lock, in words.
    last_known: Option<LastKnown>,
    polls: PollInterval,
    /// The time to the next poll, which the last answer sets.
    poll: Duration,
    pace: Pace,
    /// Makes the client listen for releases while this caller waits.
    subscription: Option<Subscription>,
    /// The number of failed attempts in a row.
    failures: u32,
    /// How often the call has lost one of several locks.
    begun_anew: u32,
}

impl Acquisition {
    #[inline]
    pub(crate) fn new(
        remote: &Arc<Remote>,
        request: Request,
        until: Instant,
        heads_queue: bool,
    ) -> Acquisition {
        let competing = Competing::new(call(remote, &request), heads_queue);
        Acquisition {
            remote: remote.clone(),
            request,
            until,
            competing,
            last_known: None,
            polls: PollInterval::default(),
            poll: Duration::ZERO,
            pace: Pace::default(),
            subscription: None,
            failures: 0,
            begun_anew: 0,
        }
    }

    /// Returns the task that makes the first attempt, and runs until the outcome is delivered or the caller is gone.
    #[inline]
    pub(crate) fn begin(self, reply: Reply<Outcome>) -> Task {
        // Counted here, not in the task, since a shutdown may check the count before the task runs.
        let counted = self.remote.unsettled.one();
        self.into_task(Command::Attempt, reply, counted)
    }

    #[inline]
    fn into_task(mut self, first: Command, reply: Reply<Outcome>, counted: Counted) -> Task {
        Box::pin(async move {
            let outcome = tokio::select! {
                biased;
                // The caller is gone: dropping the acquisition hands over its owner and its place.
                () = reply.closed() => None,
                outcome = self.run(first) => Some(outcome),
            };
            drop(self);
            if let Some(outcome) = outcome {
                // If the caller is gone by now, the lease comes back, and dropping it releases the lock.
                catch_panics(|| drop(reply.send(outcome)));
            }
            drop(counted);
        })
    }

    /// Competes until the call has the lock or its wait is over.
    ///
    /// A free lock takes one attempt and nothing else. All other awaits are boxed: otherwise every acquisition's future
    /// would have room for them.
    async fn run(&mut self, mut command: Command) -> Outcome {
        loop {
            command = match command {
                Command::Attempt => {
                    let mut now = Instant::now();
                    while let Some(pause) = self.pace.pause(now) {
                        Box::pin(self.remote.timers().sleep_until(now + pause)).await;
                        now = Instant::now();
                    }
                    self.pace.count(now);
                    self.attempt().await
                }
                Command::Wait(pause) => self.wait(pause).await,
                Command::Win => return Ok(self.win()),
                Command::GiveUp => return Err(self.give_up().await),
                Command::AwaitReplicas => Box::pin(self.await_replicas()).await,
                Command::CheckReplicas => Box::pin(self.check_replicas()).await,
                Command::Listen => Box::pin(self.listen()).await,
                Command::GiveBack => Box::pin(self.give_back()).await,
                Command::BeginAnew => self.begin_anew(),
            };
        }
    }

    #[inline]
    fn on(&mut self, event: Event) -> Command {
        self.competing.on(event, || self.remote.now())
    }

    /// Creates the lease of the granted lock.
    #[inline]
    fn win(&mut self) -> Undelivered {
        let Won {
            owner,
            grant,
            contended,
            heads_queue,
            promotes,
        } = self.competing.win();
        if promotes {
            self.promote_next(Handoff::Fresh);
        }
        let granted = GrantedOwner {
            owner,
            grant,
            contended,
            heads_queue,
        };
        let lease = delivery::register(&self.remote, &self.request, granted);
        Undelivered::new(self.remote.clone(), lease)
    }

    /// Notes what is known about the lock, and publishes it to the callers behind this one.
    fn learn(&mut self, last_known: LastKnown) {
        if self.competing.heads_queue() {
            let lock = &self.request.lock().names.lock;
            let mode = self.request.mode;
            self.remote.announce(mode, lock, last_known.clone());
        }
        self.last_known = Some(last_known);
    }

    /// Waits until the next attempt is due, a message names the owner, or the wait is over.
    async fn wait(&mut self, pause: Pause) -> Command {
        let pause = self.time(pause);
        let now = Instant::now();
        if now >= self.until {
            return self.on(Event::TimeIsUp);
        }
        // A timer that is already due would fire at the next tick.
        if pause.is_zero() {
            return self.on(Event::Due);
        }
        let next = self.until.min(now + pause);
        let notified = async {
            match self.competing.owner() {
                Some(owner) => owner.notified().await,
                // The owner was ended, because too few replicas had the lock.
                None => pending().await,
            }
        };
        let notified = self.remote.timers().timeout_at(next, notified);
        let event = match notified.await {
            Err(_) if next == self.until => Event::TimeIsUp,
            Err(_) => Event::Due,
            Ok(()) => Event::Notified,
        };
        self.on(event)
    }

    fn time(&mut self, pause: Pause) -> Duration {
        match pause {
            Pause::None => Duration::ZERO,
            Pause::Poll => self.poll,
            Pause::Longest => LONGEST,
            Pause::BackOff => {
                self.failures += 1;
                backoff(self.failures, random::jitter())
            }
            Pause::Anew => {
                // Each owner must be ended, so a call that keeps losing its locks must not create many.
                let times = self.begun_anew;
                self.begun_anew += 1;
                if times == 0 {
                    return Duration::ZERO;
                }
                backoff(times, random::jitter())
            }
        }
    }

    /// Promotes the next caller of the local queue.
    fn promote_next(&self, handoff: Handoff) {
        let Request { mode, locks, .. } = &self.request;
        promotion::promote_next(&self.remote, *mode, &locks.first().names.lock, handoff);
    }

    /// Asks once for the lock, and for a place in its queue if it may wait there.
    #[inline]
    async fn attempt(&mut self) -> Command {
        let (remote, request) = (&self.remote, &self.request);
        let lock = &request.lock().names.lock;
        let asks = AcquireRequest {
            ttl: request.terms.first_ttl(),
            queue: self.competing.queues(),
            first: (self.competing).first_command(|| remote.contended.contains(lock)),
        };
        let owner = self.competing.owner_or_try(|| {
            let Request {
                label, locks, mode, ..
            } = request;
            remote.new_owner(label, locks.names(), *mode)
        });
        let owner = match owner {
            Ok(owner) => owner,
            Err(error) => {
                let error = WireError::unavailable(error.to_string());
                self.learn(LastKnown::failed(error));
                return self.on(Event::NoOwner);
            }
        };
        match remote.wire.acquire(owner, asks).await {
            Ok(Answered { at, answer }) => match answer {
                AcquireReply::Granted(answer) => self.granted(Answered { at, answer }),
                AcquireReply::Waiting(waiting) => self.waits(waiting),
            },
            Err(error) => self.failed(error),
        }
    }

    #[inline]
    fn granted(&mut self, grant: Answered<Grant>) -> Command {
        if self.competing.is_uncontended(grant.answer) {
            let lock = &self.request.lock().names.lock;
            self.remote.contended.remove(lock);
        }
        self.granted_by(Event::Granted(grant))
    }

    #[inline]
    fn granted_by(&mut self, event: Event) -> Command {
        let command = self.on(event);
        if let Command::Wait(_) = command {
            let late = "the answer took longer than the lease that it granted";
            self.learn(LastKnown::failed(WireError::unavailable(late)));
        }
        command
    }

    /// Another owner has the lock, or one of the locks.
    fn waits(&mut self, waiting: Waiting) -> Command {
        let remote = &self.remote;
        remote.contended.insert(&self.request.lock().names.lock);
        self.failures = 0;
        let callers = remote.unsettled.number();
        self.poll = self.polls.after(&waiting, callers, random::jitter());
        if waiting.lock > 0 {
            // A poll extends the leases of the locks that the owner has.
            self.poll = self.poll.min(self.request.terms.first_ttl() / 3);
        }
        let Waiting {
            lock,
            holds_later,
            holder,
            remaining,
            ..
        } = waiting;
        let known = LastKnown::held_elsewhere(holder, remaining, remote.now());
        let command = self.on(Event::Waiting { lock, holds_later });
        if let Command::CheckReplicas = command {
            self.last_known = Some(known);
        } else {
            self.learn(known);
        }
        command
    }

    fn failed(&mut self, error: WireError) -> Command {
        let event = match error {
            WireError::Refused(_) => Event::Refused,
            WireError::Unavailable(_) => Event::Unavailable,
        };
        self.learn(LastKnown::failed(error));
        self.on(event)
    }

    /// Listens for releases of the lock, which was held at the last attempt. It may have become free before the
    /// subscription, so the owner asks once more afterwards.
    async fn listen(&mut self) -> Command {
        if Instant::now() >= self.until {
            return self.on(Event::TimeIsUp);
        }
        let owner = self.competing.owner().expect("the owner has asked");
        if self.subscription.is_none() {
            self.subscription = self.remote.wire.subscription(&owner.names.first().lock);
        }
        match self.remote.wire.listen(owner).await {
            Ok(true) if Instant::now() < self.until => self.on(Event::MayHaveMissed),
            Ok(_) => self.on(Event::Listens),
            Err(error @ WireError::Refused(_)) => self.failed(error),
            Err(WireError::Unavailable(_)) => self.on(Event::Unavailable),
        }
    }

    /// Waits until enough replicas have the granted lock.
    async fn await_replicas(&mut self) -> Command {
        let owner = self.competing.owner().expect("a grant has an owner");
        let ttl = self.request.terms.first_ttl();
        match self.remote.wire.replicated(owner, ttl).await {
            Ok(()) => self.granted_by(Event::HasReplicas),
            Err(error) => self.failed(error),
        }
    }

    /// Gives back a lock that too few replicas have, and waits for the confirmation.
    async fn give_back(&mut self) -> Command {
        if let Some(owner) = self.competing.give_back() {
            let ended = reaper::end(&self.remote, owner);
            let until = Instant::now() + self.remote.command_timeout;
            let _ = self.remote.timers().timeout_at(until, ended).await;
        }
        self.on(Event::GivenBack)
    }

    /// Checks whether anybody can have the lock now, before the callers behind this one learn the name of its holder.
    async fn check_replicas(&mut self) -> Command {
        let owner = self.competing.owner().expect("the owner has asked");
        match self.remote.wire.has_replicas(owner).await {
            Ok(()) => {
                if let Some(holder) = self.last_known.take() {
                    self.learn(holder);
                }
                self.on(Event::HasReplicas)
            }
            Err(error) => self.failed(error),
        }
    }

    /// Ends the owner, with all that it has, and starts over with another one.
    fn begin_anew(&mut self) -> Command {
        if let Some(owner) = self.competing.give_back() {
            drop(reaper::end(&self.remote, owner));
        }
        self.on(Event::GivenBack)
    }

    /// Leaves the queue. Waits for the server's confirmation, but no longer than one command timeout after the end of
    /// the caller's wait; anything left continues in the background. The error explains why the caller gives up.
    async fn give_up(&mut self) -> LockError {
        let error = self.error();
        let (remote, lock) = (&self.remote, &self.request.lock().names.lock);
        let has_next = || remote.queues().peek(lock).is_some();
        if let Some(owner) = self.competing.give_up(has_next) {
            let ended = reaper::end(remote, owner);
            let until = self.until + remote.command_timeout;
            let _ = remote.timers().timeout_at(until, ended).await;
        }
        error
    }

    fn error(&mut self) -> LockError {
        let error = match self.last_known.take() {
            Some(last_known) => last_known.into_error(self.remote.now()),
            None => LockError::new(LockErrorKind::Unavailable),
        };
        let in_the_way = self.competing.in_the_way();
        match in_the_way.and_then(|number| self.request.locks.iter().nth(number)) {
            Some(lock) => error.with_key(&lock.key),
            None => error,
        }
    }
}

impl Drop for Acquisition {
    fn drop(&mut self) {
        if self.competing.leaves_nothing() || self.remote.check_process().is_err() {
            return;
        }
        let Left { ends, promotes } = self.competing.leave();
        if let Some(owner) = ends {
            drop(reaper::end(&self.remote, owner));
        }
        if let Some(handoff) = promotes {
            self.promote_next(handoff);
        }
    }
}

/// Returns the properties of this request that decide how it is served.
#[inline]
fn call(remote: &Remote, request: &Request) -> Call {
    let awaits_replicas = remote.waits_for_replicas;
    let may_lack_token = !request.fenced && !awaits_replicas;
    let is_alone = request.mode == Mode::Exclusive && request.locks.len() == 1;
    // A caller that does not wait expects the lock to be held. The script reports that with one command.
    let waits = !request.wait.is_zero();
    // A lock with a minimum hold is never handed over, but expires every time. Then only the script lets the waiters in
    // before a newcomer.
    let is_handed_over = request.terms.min_hold_ms == 0;
    Call {
        locks: request.locks.len(),
        ttl: request.terms.first_ttl(),
        waits,
        is_share: request.mode.share().is_some(),
        may_take: may_lack_token && is_alone && waits && is_handed_over,
        has_queue: remote.wire.has_queue(),
        awaits_replicas,
    }
}
