//! The release of a lock by its holder.
//!
//! The first `end` or `release` of a holder, its repetition while its caller may still wait for it, and the
//! hand-off to the next caller of the local queue. What is unsettled after that is the [`reaper`]'s.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{self, Waker};
use std::time::{Duration, Instant};

use crate::backend::ReleaseOutcome;
use crate::backend::remote::context::Context;
use crate::backend::remote::handoff::Handoff;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::owner::RegisteredOwner;
use crate::backend::remote::pass_head;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::reaper::{self, needs_another_end};
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::{Answered, EndReply};
use crate::backend::wire::{EndRequest, ReleaseRequest, Successor, Wire};
use crate::background::offload::{Reply, Task};
use crate::background::panics::catch_panics;
use crate::background::random;
use crate::lease::{Lease, Mode};
use crate::telemetry;

/// A caller waits no longer than this for the answer to a release.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A caller waits this long even if its lease is over, for a round trip or two: the caller's next acquire must
/// not find its own stale record.
const MIN_WAIT: Duration = Duration::from_millis(20);

/// Releases a lock and reports the outcome.
///
/// Runs in the background from the start if the lease is already lost, or if a renewal of it is unanswered. The
/// background sends renewals and reports losses, so that what it has begun there comes first.
pub(crate) async fn release<W: Wire>(
    context: &Arc<Context<W>>,
    entry: Box<LeaseEntry>,
) -> ReleaseOutcome {
    let in_background = entry.lease.is_known_lost() || entry.unanswered > 0;
    let (mut runner, reply) = context.inline_runner();
    let task = release_task(context, entry, Some(reply));
    if in_background {
        context.spawn(task);
    } else {
        runner.offloaded().assign(task);
    }
    let outcome = runner.answer().await;
    outcome.unwrap_or(ReleaseOutcome::Unconfirmed)
}

/// As [`release`], without waiting for the answer; also the end of a retained lease. Never blocks. What renewals have begun
/// in the background may come first or last, since nothing is reported.
///
/// The local queue ends now if it is empty, so that the next caller need not wait for the answer: it is the head of a new
/// one. The command is queued when this returns, and the caller's next command comes after it. There are four exceptions:
/// no connection, a server that has forgotten the script, one that refuses to compare and delete, and a lock whose token was
/// asked for and not answered. Then the
/// caller's next acquire may come first, and waits in Redis's queue.
pub(crate) fn release_unawaited<W: Wire>(
    context: &Arc<Context<W>>,
    mut entry: Box<LeaseEntry>,
) -> ReleaseOutcome {
    if entry.heads_queue
        && context
            .queues()
            .remove_if_empty(&entry.owner.names.first().lock)
    {
        entry.heads_queue = false;
    }
    begin_here(context, release_task(context, entry, None));
    ReleaseOutcome::NotAwaited
}

/// Polls `task` once on this thread, and leaves the rest to the background.
fn begin_here<W: Wire>(context: &Context<W>, mut task: Task) {
    let mut noop = task::Context::from_waker(Waker::noop());
    if task.as_mut().poll(&mut noop).is_pending() {
        context.spawn(task);
    }
}

/// The task that releases a lock, passes the head of the local queue on, and reports the outcome to `reply`.
fn release_task<W: Wire>(
    context: &Arc<Context<W>>,
    mut entry: Box<LeaseEntry>,
    reply: Option<Reply<ReleaseOutcome>>,
) -> Task {
    let context = context.clone();
    // Counted here and not in the task: a shutdown may look before the task is run.
    let counted = context.unsettled.one();
    if entry.heads_queue {
        // The caller that is recorded as the holder is one no longer.
        context
            .queues()
            .update(&entry.owner.names.first().lock, None);
    }
    let rest = entry
        .lease
        .has_minimum()
        .then(|| entry.lease.rest(context.now()));
    let rest = rest.filter(|rest| !rest.is_zero());
    entry.owner.rests_until = rest.map(|rest| Box::new(context.now() + rest));
    let until = Instant::now() + entry.lease.remaining().clamp(MIN_WAIT, MAX_WAIT);
    let mut report = Report {
        // Captured before the release is sent: a lease that expires while the release is unanswered is not a
        // loss.
        was_held: !entry.lease.is_known_lost(),
        lease: entry.lease.clone(),
        reply,
        is_sent: false,
    };
    Box::pin(async move {
        let outcome = {
            if !entry.contended {
                // The caller may have been too busy to read the message that a waiter queues.
                let lock = &entry.owner.names.first().lock;
                context.wire.read_messages(lock);
                entry.contended = entry.owner.has_waiters();
            }
            let first = first_end(&context, &mut entry, until);
            let mut first = pin!(first);
            match context.timers().timeout_at(until, first.as_mut()).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    report.send(ReleaseOutcome::Unconfirmed);
                    first.await
                }
            }
        };
        let owner = entry.owner;
        report.send(match outcome_of(&outcome) {
            // An unanswered `end` may have freed the lock.
            ReleaseOutcome::NotOurs if owner.outstanding.may_have_ended() => {
                ReleaseOutcome::Unconfirmed
            }
            outcome => outcome,
        });
        let is_unanswered = needs_another_end(&outcome, &owner);
        if is_unanswered || owner.outstanding.is_tainted() {
            // In a task of its own: this one may run where there are no timers.
            let settling = context.clone();
            context.spawn(async move {
                reaper::settle(&settling, owner, is_unanswered, Some(counted)).await;
            });
        }
    })
}

/// The report of a release to the caller and to telemetry, sent once.
struct Report {
    lease: Arc<Lease>,
    was_held: bool,
    reply: Option<Reply<ReleaseOutcome>>,
    is_sent: bool,
}

impl Report {
    fn send(&mut self, outcome: ReleaseOutcome) {
        if std::mem::replace(&mut self.is_sent, true) {
            return;
        }
        if outcome == ReleaseOutcome::Unconfirmed && self.was_held {
            telemetry::release_unconfirmed(&self.lease.trace);
        }
        if let Some(reply) = self.reply.take() {
            catch_panics(|| reply.send(outcome));
        }
    }
}

fn outcome_of(ended: &Result<EndReply, WireError>) -> ReleaseOutcome {
    match ended {
        Ok(EndReply::NotOurs | EndReply::LeftQueue) => ReleaseOutcome::NotOurs,
        Ok(EndReply::Rests) => ReleaseOutcome::Rests,
        Ok(_) => ReleaseOutcome::Freed,
        Err(_) => ReleaseOutcome::Unconfirmed,
    }
}

/// Ends a holder, and repeats that until `until` where there is no answer: waiters want the lock, and a broken
/// connection is replaced at once. The next caller of the local queue is made its head, whatever the outcome.
async fn first_end<W: Wire>(
    context: &Arc<Context<W>>,
    entry: &mut LeaseEntry,
    until: Instant,
) -> Result<EndReply, WireError> {
    let LeaseEntry {
        owner,
        contended,
        heads_queue,
        number,
        ..
    } = entry;
    let mut failures = 0;
    let rests = owner.rests_until.is_some();
    // The end that names a successor grants the lock to one waiter. A writer's lets all readers in that are next.
    let lets_readers_in = owner.mode == Mode::Write;
    if W::HAS_SUCCESSORS
        && *heads_queue
        && !rests
        && !lets_readers_in
        && let Some(handing_on) = hand_on(context, owner)
    {
        // The queue goes to the successor, whatever the outcome.
        *heads_queue = false;
        *contended = true;
        let ended = handing_on.await;
        if !may_repeat(context, &ended, until, &mut failures).await {
            return ended;
        }
    }
    let _head = heads_queue.then(|| pass_head::OnDrop::new(context, &owner.names.first().lock));
    let number = *number;
    loop {
        let ended = if *contended || rests {
            Box::pin(reaper::end_or_rest(context, owner)).await
        } else {
            context.wire.release(owner, ReleaseRequest { number }).await
        };
        match ended {
            Ok(EndReply::Contended) => *contended = true,
            ended => {
                if !may_repeat(context, &ended, until, &mut failures).await {
                    return ended;
                }
            }
        }
    }
}

/// The release in favour of the next caller of the local queue, if there is one.
///
/// Boxed, as an `end` is: few releases need either, and each task would have room for them.
fn hand_on<'a, W: Wire>(
    context: &'a Arc<Context<W>>,
    owner: &'a mut RegisteredOwner,
) -> Option<Pin<Box<impl Future<Output = Result<EndReply, WireError>> + use<'a, W>>>> {
    let (successor, ttl) = successor(context, owner)?;
    Some(Box::pin(release_to(context, owner, successor, ttl)))
}

/// An owner for the next caller of the local queue, and the ttl that it asks for.
fn successor<W: Wire>(
    context: &Context<W>,
    owner: &RegisteredOwner,
) -> Option<(RegisteredOwner, Duration)> {
    let (label, ttl, mode) = {
        let queues = context.queues();
        let request = &queues.peek(&owner.names.first().lock)?.request;
        (
            request.label.clone(),
            request.terms.first_ttl(),
            request.mode,
        )
    };
    let successor = context.new_owner(&label, owner.names.clone(), mode).ok()?;
    Some((successor, ttl))
}

/// Whether an unanswered end is to be repeated, after a pause that grows, before `until`.
async fn may_repeat<W: Wire>(
    context: &Context<W>,
    ended: &Result<EndReply, WireError>,
    until: Instant,
    failures: &mut u32,
) -> bool {
    if !matches!(ended, Err(WireError::Unavailable(_))) || Instant::now() >= until {
        return false;
    }
    *failures += 1;
    let pause = Instant::now() + backoff(*failures, random::jitter());
    context.timers().sleep_until(pause.min(until)).await;
    true
}

/// Ends a holder in favour of `successor`, and passes the head of the local queue on with the outcome.
async fn release_to<W: Wire>(
    context: &Arc<Context<W>>,
    owner: &mut RegisteredOwner,
    mut successor: RegisteredOwner,
    ttl: Duration,
) -> Result<EndReply, WireError> {
    let lock = owner.names.first().lock.clone();
    successor.outstanding.note_queued();
    let request = EndRequest {
        successor: Some(Successor {
            owner: &mut successor,
            ttl,
        }),
    };
    let ended = context.wire.end(owner, request).await;
    let handoff = match ended {
        Ok(Answered {
            at,
            answer: EndReply::SuccessorHolds(grant),
        }) => Handoff::Granted(successor, Answered { at, answer: grant }),
        Ok(Answered {
            answer: EndReply::HandedOff,
            ..
        }) => Handoff::Confirmed(successor),
        Err(_) => Handoff::Queued(successor),
        Ok(_) => {
            // The successor was named, so it has to be ended. If the wire sent the `end` twice, this may be the answer
            // to the second, and the first may have put the successor in the queue.
            drop(reaper::end(context, successor));
            Handoff::Fresh
        }
    };
    pass_head::to_next(context, Mode::Exclusive, &lock, handoff);
    ended.map(|answered| answered.answer)
}
