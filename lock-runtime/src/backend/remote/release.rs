//! Releases a lock for its holder.
//!
//! [`Ending`] decides which command ends the holder, and when the next caller of the local queue is promoted. This file
//! sends the commands until the first end is over. After that the [`reaper`] settles what is left.

use std::pin::pin;
use std::sync::Arc;
use std::task::{self, Waker};
use std::time::{Duration, Instant};

use crate::backend::ReleaseOutcome;
use crate::backend::engine::ending::{Command, Ending, Event, Head, Report, Then};
use crate::backend::engine::event_of;
use crate::backend::remote::Remote;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::promotion::Handoff;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::remote::{promotion, reaper};
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{End, Successor};
use crate::background::clock::SETTLING;
use crate::background::in_flight::Counted;
use crate::background::moment::Moment;
use crate::background::offload::{Reply, Task};
use crate::background::panics::catch_panics;
use crate::background::random;
use crate::lease::fencing_token::FencingToken;
use crate::lease::{Lease, Mode};
use crate::telemetry;

/// The longest wait of a caller for the answer to a release.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A caller waits at least this long, even if its lease is over: otherwise the caller's next acquire could find its own
/// stale record. The time is enough for a round trip or two.
const MIN_WAIT: Duration = Duration::from_millis(20);

/// Releases a lock and reports the outcome.
///
/// The release runs in the background if the lease is already lost, or if a renewal of it is unanswered. The background
/// sends renewals and reports losses, so work that it has begun comes first.
pub(crate) async fn release(remote: &Arc<Remote>, entry: Box<LeaseEntry>) -> ReleaseOutcome {
    let in_background = entry.lease.is_known_lost() || entry.holding.is_renewing();
    let (mut runner, reply) = remote.inline_runner();
    let task = release_task(remote, entry, Some(reply));
    if in_background {
        remote.spawn_boxed(task);
    } else {
        runner.offloaded().assign(task);
    }
    let outcome = runner.answer().await;
    outcome.unwrap_or(ReleaseOutcome::Unconfirmed)
}

/// Like [`release`], but does not wait for the answer. Also ends a retained lease. Never blocks. Renewals in flight in
/// the background may finish before or after, since nothing is reported.
///
/// An empty local queue ends now, so that the next caller need not wait for the answer: it is the head of a new queue.
/// The command is queued when this returns, so the next caller's command follows it. There are four exceptions: no
/// connection, a server that has forgotten the script, a server that refuses to compare and delete, and a lock whose
/// token was requested but not answered. In these cases the next acquire may come first, and waits in Redis's queue.
pub(crate) fn release_unawaited(
    remote: &Arc<Remote>,
    mut entry: Box<LeaseEntry>,
) -> ReleaseOutcome {
    let lock = &entry.owner.names.first().lock;
    if entry.holding.heads_queue() && remote.queues().dismiss(lock) {
        entry.holding.leave_queue();
    }
    begin_here(remote, release_task(remote, entry, None));
    ReleaseOutcome::NotAwaited
}

/// Polls `task` once on this thread, and leaves the remainder to the background.
fn begin_here(remote: &Remote, mut task: Task) {
    let mut noop = task::Context::from_waker(Waker::noop());
    if task.as_mut().poll(&mut noop).is_pending() {
        remote.spawn_boxed(task);
    }
}

/// Returns the task that releases a lock, promotes the next caller of its local queue, and reports the outcome to
/// `reply`.
fn release_task(
    remote: &Arc<Remote>,
    entry: Box<LeaseEntry>,
    reply: Option<Reply<ReleaseOutcome>>,
) -> Task {
    // Counted here, not in the task, since a shutdown may check the count before the task runs.
    let counted = remote.unsettled.one();
    if entry.holding.heads_queue() {
        // The caller that is known as the holder no longer holds the lock.
        remote
            .queues()
            .update(&entry.owner.names.first().lock, None);
    }
    let reservation = entry
        .lease
        .has_minimum()
        .then(|| entry.lease.reservation(remote.now()));
    let reservation = reservation.filter(|reservation| !reservation.is_zero());
    let reserved_until = reservation.map(|reservation| SETTLING.now() + reservation);
    let release = Release {
        remote: remote.clone(),
        ending: Ending::of_holder(
            entry.holding.is_contended(),
            entry.holding.heads_queue(),
            reserved_until,
        ),
        next: None,
        until: Instant::now() + entry.lease.remaining().clamp(MIN_WAIT, MAX_WAIT),
        caller: Caller {
            // Read before the release is sent: a lease that expires while the release is unanswered is not lost.
            was_held: !entry.lease.is_known_lost(),
            reply,
        },
        unfinished: Some((entry, counted)),
    };
    release.into_task()
}

/// A release in flight. If it is dropped early, for example by a panic, it promotes the next caller and leaves the
/// owner to the reaper.
struct Release {
    remote: Arc<Remote>,
    ending: Ending,
    /// The successor that the first end names. Boxed, since few releases have one.
    next: Option<Box<NextOwner>>,
    caller: Caller,
    /// Until when the caller waits.
    until: Instant,
    /// The owner that is still to be ended; `None` once the end is over, or the reaper has the owner.
    unfinished: Option<(Box<LeaseEntry>, Counted)>,
}

/// An owner that is created for the next caller of the local queue.
struct NextOwner {
    owner: RegisteredOwner,
    /// The ttl that the caller asks for.
    ttl: Duration,
    /// When the end was sent that names the owner. Its lease may be counted from then.
    at: Moment,
}

/// The caller that gets the outcome of a release.
struct Caller {
    was_held: bool,
    reply: Option<Reply<ReleaseOutcome>>,
}

impl Release {
    /// Returns the task. It awaits its commands in its own frame: a function would cost instructions in every release.
    fn into_task(mut self) -> Task {
        Box::pin(async move {
            let mut command = self.first_command();
            let then = loop {
                let Some((entry, _)) = &mut self.unfinished else {
                    return;
                };
                let LeaseEntry {
                    owner,
                    lease,
                    number,
                    ..
                } = &mut **entry;
                let event = {
                    let next = &mut self.next;
                    let mut sent = pin!(send(&self.remote, owner, *number, next, command));
                    let timers = self.remote.timers();
                    match timers.timeout_at(self.until, sent.as_mut()).await {
                        Ok(event) => event,
                        Err(_) => {
                            self.caller.tell(lease, self.ending.late());
                            sent.await
                        }
                    }
                };
                command = match self.react(event) {
                    Then::Send(command) => command,
                    Then::BackOff(failures) => {
                        let pause = Instant::now() + backoff(failures, random::jitter());
                        let timers = self.remote.timers();
                        timers.sleep_until(pause.min(self.until)).await;
                        self.ending.command(|| SETTLING.now())
                    }
                    then => break then,
                };
            };
            self.finish(then);
        })
    }

    /// Checks for waiters of other clients and for a successor, and returns the first command.
    fn first_command(&mut self) -> Command {
        let (remote, ending) = (&self.remote, &mut self.ending);
        let Some((entry, _)) = &mut self.unfinished else {
            return Command::End;
        };
        if !entry.holding.is_contended() {
            // The caller may have been too busy to read the message that reports a waiter.
            let lock = &entry.owner.names.first().lock;
            remote.wire.read_messages(lock);
            if entry.owner.has_waiters() {
                ending.contended();
            }
        }
        if remote.wire.has_successors() && ending.may_name_successor(entry.owner.mode) {
            self.next = next_owner(remote, &entry.owner);
            if self.next.is_some() {
                ending.name_successor();
            }
        }
        ending.command(|| SETTLING.now())
    }

    /// Carries out an event's effects at once. Returns how the end continues.
    #[inline]
    fn react(&mut self, event: Event) -> Then {
        let Some((entry, _)) = &self.unfinished else {
            return Then::Over;
        };
        let remote = &self.remote;
        let is_late = event == Event::Unavailable && Instant::now() >= self.until;
        let late = is_late.then(|| self.ending.late()).flatten();
        let owner = &entry.owner;
        let reaction = self
            .ending
            .on(event, &owner.outstanding, || SETTLING.now(), random::jitter);
        if let Some(head) = reaction.promotes {
            let handoff = handoff(remote, head, self.next.take());
            promotion::promote_next(remote, Mode::Exclusive, &owner.names.first().lock, handoff);
        }
        self.caller.tell(&entry.lease, late.or(reaction.reports));
        reaction.then
    }

    /// Ends this part of the release, since the first end is over. The reaper continues if necessary.
    fn finish(&mut self, then: Then) {
        let Some((entry, counted)) = self.unfinished.take() else {
            return;
        };
        if then == Then::Over {
            return;
        }
        let (settling, ending, owner) = (self.remote.clone(), self.ending, entry.owner);
        // In a separate task, since this one may run on a runtime without timers.
        self.remote.spawn(async move {
            reaper::settle(&settling, owner, ending, then, Some(counted)).await;
        });
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        // In a forked child, another thread of the parent may have held the mutexes during the fork.
        let is_over = self.unfinished.is_none();
        if is_over || self.remote.check_process().is_err() {
            return;
        }
        // The answer to a command in flight is ignored.
        self.until = Instant::now();
        let then = self.react(Event::Unavailable);
        self.finish(then);
    }
}

impl Caller {
    /// Reports the outcome to the caller and to telemetry.
    fn tell(&mut self, lease: &Lease, report: Option<Report>) {
        let outcome = match report {
            None => return,
            Some(Report::Freed) => ReleaseOutcome::Freed,
            Some(Report::Reserved) => ReleaseOutcome::Reserved,
            Some(Report::NotOurs) => ReleaseOutcome::NotOurs,
            Some(Report::Unconfirmed) => ReleaseOutcome::Unconfirmed,
        };
        if outcome == ReleaseOutcome::Unconfirmed && self.was_held {
            telemetry::release_unconfirmed(&lease.trace);
        }
        if let Some(reply) = self.reply.take() {
            catch_panics(|| reply.send(outcome));
        }
    }
}

/// Sends one command of a holder's end.
async fn send(
    remote: &Remote,
    owner: &mut RegisteredOwner,
    number: FencingToken,
    next: &mut Option<Box<NextOwner>>,
    command: Command,
) -> Event {
    let how = match (command, next.as_mut()) {
        (Command::Release, _) => End::Release { number },
        (Command::Reserve(time), _) => End::Reserve { time },
        (Command::EndForSuccessor, Some(next)) => End::Whole {
            successor: Some(Successor {
                owner: &mut next.owner,
                ttl: next.ttl,
            }),
        },
        (Command::End | Command::EndForSuccessor, _) => End::Whole { successor: None },
    };
    let names_successor = command == Command::EndForSuccessor;
    let ended = remote.wire.end(owner, how).await;
    let ended = ended.map(|Answered { at, answer }| {
        if let Some(next) = next.as_mut().filter(|_| names_successor) {
            next.at = at;
        }
        answer
    });
    event_of(&ended)
}

/// Creates an owner for the next caller of the local queue, if there is one.
fn next_owner(remote: &Remote, owner: &RegisteredOwner) -> Option<Box<NextOwner>> {
    let (label, ttl, mode) = {
        let queues = remote.queues();
        let request = &queues.peek(&owner.names.first().lock)?.request;
        (
            request.label.clone(),
            request.terms.first_ttl(),
            request.mode,
        )
    };
    let mut owner = remote.new_owner(&label, owner.names.clone(), mode).ok()?;
    owner.outstanding.note_queued();
    let at = Moment::FIRST;
    Some(Box::new(NextOwner { owner, ttl, at }))
}

/// Returns what the next caller inherits, including the owner that the end has named for it.
fn handoff(remote: &Arc<Remote>, head: Head, next: Option<Box<NextOwner>>) -> Handoff {
    let Some(next) = next else {
        return Handoff::Fresh;
    };
    let NextOwner { owner, at, .. } = *next;
    match head {
        Head::Granted(answer) => Handoff::Granted(owner, Answered { at, answer }),
        Head::Confirmed => Handoff::Confirmed(owner),
        Head::Queued => Handoff::Queued(owner),
        Head::Fresh => {
            drop(reaper::end(remote, owner));
            Handoff::Fresh
        }
    }
}

#[cfg(test)]
mod tests;
