//! Ends owners: gives locks back, leaves queues, and settles what went unanswered.
//!
//! An end that is not answered is repeated until it is, or until nothing of the owner can be left; that
//! of a holder also if it was refused, since a password or a certificate that is just being changed
//! shuts us out for a moment. That is not enough where one of the
//! owner's acquires is unanswered on another connection: it may arrive after the answer, and
//! would take the lock for nobody. Such a *tainted* owner is ended again and again for as long as
//! anything of it can still be under way, whatever is answered.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::backend::ReleaseOutcome;
use crate::backend::remote::Remote;
use crate::backend::remote::acquisition::Handoff;
use crate::backend::remote::owner::Owner;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::registry::Tenure;
use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::{Answered, EndReply, Successor, Wire, WireError};
use crate::background::in_flight::Counted;
use crate::background::offload::Task;
use crate::background::panics::catch_panics;
use crate::background::random;
use crate::key::{LockName, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::telemetry;

/// The time between two ends of one owner.
const REPEAT_INTERVAL: Duration = Duration::from_millis(500);

/// The same once an owner has been ended for [`SETTLING_TIME`], as one with a long ttl may have to be.
const SLOW_REPEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The least time for which an owner is ended again; longer if it asked for a longer ttl.
const SETTLING_TIME: Duration = Duration::from_secs(10);

/// A caller waits no longer than this for the answer to a release.
const MAX_RELEASE_WAIT: Duration = Duration::from_secs(1);

/// It waits this long even if its lease is over, for a round trip or two: what it asks for next should
/// not meet what it has left.
const MIN_RELEASE_WAIT: Duration = Duration::from_millis(20);

/// Gives a lock back, and says how that went. Two things are the keeper's from the start: a hold that is
/// lost, since that one says so first, and the holder's error should not be known before the reason
/// for it; and one that is about to be renewed, since no renewal should follow the release.
pub(crate) async fn release<W: Wire>(remote: &Arc<Remote<W>>, tenure: Tenure) -> ReleaseOutcome {
    let on_background = tenure.lease.is_known_lost() || tenure.under_way > 0;
    let (reply, mut answer) = oneshot::channel();
    let giving = release_task(remote, tenure, Some(reply));
    let mut runner = remote.runner();
    if on_background {
        remote.spawn(giving);
    } else {
        remote.assign(runner.offloaded(), giving);
    }
    let released = runner.wait_for(&mut answer).await;
    released.unwrap_or(ReleaseOutcome::Unconfirmed)
}

/// As [`release`], without waiting for the answer. Never blocks. With a connection the command is queued
/// when this returns, and what the same caller sends next comes after it; without one, or where the server
/// has forgotten the script or refuses to compare and delete, that may come before, and then waits for it in
/// Redis's queue.
pub(crate) fn release_unawaited<W: Wire>(
    remote: &Arc<Remote<W>>,
    mut tenure: Tenure,
) -> ReleaseOutcome {
    if tenure.heads_queue && remote.queues().end_if_empty(&tenure.owner.names.lock) {
        tenure.heads_queue = false;
    }
    begin_here(remote, release_task(remote, tenure, None));
    ReleaseOutcome::NotAwaited
}

/// Gives a lease back that was retained. Never blocks. With a connection the command is sent when this
/// returns: a waiter has asked for the lock, and should not have to wait for another thread to wake up.
pub(crate) fn end_retained<W: Wire>(remote: &Arc<Remote<W>>, tenure: Tenure) {
    begin_here(remote, release_task(remote, tenure, None));
}

/// Does the first step here, and leaves the rest to the background.
fn begin_here<W: Wire>(remote: &Remote<W>, mut task: Task) {
    let mut context = Context::from_waker(Waker::noop());
    if task.as_mut().poll(&mut context).is_pending() {
        remote.spawn(task);
    }
}

/// Gives a lock back, tells whoever waits for it how that went, and calls the next in line.
fn release_task<W: Wire>(
    remote: &Arc<Remote<W>>,
    tenure: Tenure,
    mut reply: Option<oneshot::Sender<ReleaseOutcome>>,
) -> Task {
    let remote = remote.clone();
    // Counted here and not in the task: a shutdown may look before that is run.
    let counted = remote.unsettled.one();
    if tenure.heads_queue {
        // That this one has it is not true any more, and what is comes with the answer.
        remote.queues().update(&tenure.owner.names.lock, None);
    }
    // What was known when the holder was done. That the lease ends while nobody answers is no loss.
    let was_held = !tenure.lease.is_known_lost();
    let until = Instant::now()
        + tenure
            .lease
            .remaining()
            .clamp(MIN_RELEASE_WAIT, MAX_RELEASE_WAIT);
    Box::pin(async move {
        let Tenure {
            lease,
            mut owner,
            contended,
            heads_queue,
            handoff,
            ..
        } = tenure;
        let token = lease.token.of_grant(handoff);
        let mut told = false;
        let mut tell = |released| {
            if std::mem::replace(&mut told, true) {
                return;
            }
            if released == ReleaseOutcome::Unconfirmed && was_held {
                telemetry::release_unconfirmed(&lease.trace);
            }
            if let Some(reply) = reply.take() {
                catch_panics(|| reply.send(released));
            }
        };
        let outcome = {
            if !contended {
                // That somebody queues may have been said to a caller that was busy.
                remote.wire().hear();
            }
            let contended = contended || owner.has_waiters();
            let first = first_end(&remote, &mut owner, token, contended, heads_queue, until);
            let mut first = pin!(first);
            match remote.timers().timeout_at(until, first.as_mut()).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    tell(ReleaseOutcome::Unconfirmed);
                    first.await
                }
            }
        };
        tell(match verdict(&outcome) {
            // An end that was not answered may have freed it.
            ReleaseOutcome::NotOurs if owner.outstanding.may_have_ended() => {
                ReleaseOutcome::Unconfirmed
            }
            released => released,
        });
        let unanswered = needs_another_end(&outcome, &owner);
        if unanswered || owner.outstanding.is_tainted() {
            // In a task of its own: this one may have begun where there are no timers.
            let ending = remote.clone();
            remote.spawn(async move { settle(&ending, owner, unanswered, Some(counted)).await });
        }
    })
}

fn verdict(outcome: &Result<EndReply, WireError>) -> ReleaseOutcome {
    match outcome {
        Ok(EndReply::NotOurs | EndReply::LeftQueue) => ReleaseOutcome::NotOurs,
        Ok(_) => ReleaseOutcome::Freed,
        Err(_) => ReleaseOutcome::Unconfirmed,
    }
}

/// Whether an owner has to be ended again after this.
fn needs_another_end<T>(ended: &Result<T, WireError>, owner: &Owner) -> bool {
    match ended {
        Ok(_) => false,
        Err(WireError::Unavailable(_)) => true,
        Err(WireError::Refused(_)) => owner.outstanding.may_hold(),
    }
}

/// Ends a holder, trying again until `until` where there is no answer: others wait for the lock, and
/// a connection that broke is made anew in no time. Whoever is next in its line gets the turn, whatever
/// came of it.
async fn first_end<W: Wire>(
    remote: &Arc<Remote<W>>,
    owner: &mut Owner,
    token: FencingToken,
    mut contended: bool,
    mut heads_queue: bool,
    until: Instant,
) -> Result<EndReply, WireError> {
    let mut failures = 0;
    if heads_queue {
        let next = remote
            .queues()
            .peek(&owner.names.lock)
            .map(|waiter| &waiter.request)
            .map(|request| (request.label.clone(), request.terms.first_ttl()));
        let successor =
            next.and_then(|(label, ttl)| Some((remote.owner(&label, &owner.names).ok()?, ttl)));
        if let Some((successor, ttl)) = successor {
            // Whatever comes of it, the heir has the turn.
            heads_queue = false;
            contended = true;
            let ended = release_to(remote, owner, successor, ttl).await;
            if !again(remote, &ended, until, &mut failures).await {
                return ended;
            }
        }
    }
    let _baton = heads_queue.then(|| HandOffOnDrop {
        remote,
        lock: owner.names.lock.clone(),
    });
    loop {
        let (wire, outstanding) = (remote.wire(), &mut owner.outstanding);
        let outcome = if contended {
            let ended = wire
                .end(outstanding, &owner.entry, &owner.names, None)
                .await;
            ended.map(|sent| sent.answer)
        } else {
            wire.release(outstanding, &owner.entry, &owner.names, token)
                .await
        };
        match outcome {
            Ok(EndReply::Contended) => contended = true,
            outcome => {
                if !again(remote, &outcome, until, &mut failures).await {
                    return outcome;
                }
            }
        }
    }
}

/// Whether an end is to be sent again, because nobody answered and it is not `until` yet: at once, but
/// for a pause that grows.
async fn again<W: Wire>(
    remote: &Arc<Remote<W>>,
    outcome: &Result<EndReply, WireError>,
    until: Instant,
    failures: &mut u32,
) -> bool {
    if !matches!(outcome, Err(WireError::Unavailable(_))) || Instant::now() >= until {
        return false;
    }
    *failures += 1;
    let pause = Instant::now() + backoff(*failures, random::jitter());
    remote.timers().sleep_until(pause.min(until)).await;
    true
}

/// Ends a holder in favour of the next one in its line.
async fn release_to<W: Wire>(
    remote: &Arc<Remote<W>>,
    owner: &mut Owner,
    mut successor: Owner,
    ttl: Duration,
) -> Result<EndReply, WireError> {
    let lock = owner.names.lock.clone();
    successor.outstanding.note_queued();
    let named = Successor {
        entry: &successor.entry,
        outstanding: &mut successor.outstanding,
        ttl,
    };
    let ended = remote
        .wire()
        .end(
            &mut owner.outstanding,
            &owner.entry,
            &owner.names,
            Some(named),
        )
        .await;
    let handoff = match &ended {
        Ok(Answered {
            at,
            answer: EndReply::SuccessorHolds(grant),
        }) => Handoff::Granted(
            successor,
            Answered {
                at: *at,
                answer: *grant,
            },
        ),
        Ok(Answered {
            answer: EndReply::HandedOff,
            ..
        }) => Handoff::Confirmed(successor),
        Err(_) => Handoff::Queued(successor),
        Ok(_) => {
            // It was named, so it has to be ended: a wire that sends a command twice may have
            // brought the answer to the second, after the first had put the heir in the queue.
            drop(end(remote, successor));
            Handoff::Start
        }
    };
    remote.hand_over(&lock, handoff);
    ended.map(|sent| sent.answer)
}

/// The turn of a line, passed on when this is dropped.
struct HandOffOnDrop<'a, W: Wire> {
    remote: &'a Arc<Remote<W>>,
    lock: LockName,
}

impl<W: Wire> Drop for HandOffOnDrop<'_, W> {
    fn drop(&mut self) {
        self.remote.hand_over(&self.lock, Handoff::Start);
    }
}

/// Ends an owner in the background, unless nothing of it can be left. What is returned completes
/// when that was answered for the first time or has taken as long as a command may.
pub(crate) fn end<W: Wire>(remote: &Arc<Remote<W>>, mut owner: Owner) -> oneshot::Receiver<()> {
    let (first, done) = oneshot::channel();
    if !owner.outstanding.may_be_stored() {
        return done;
    }
    // Counted here and not in the task: a shutdown may look before that is run.
    let counted = remote.unsettled.one();
    let ending = remote.clone();
    remote.spawn(async move {
        let wire = ending.wire();
        let ended = wire
            .end(&mut owner.outstanding, &owner.entry, &owner.names, None)
            .await;
        drop(first);
        let unanswered = needs_another_end(&ended, &owner);
        settle(&ending, owner, unanswered, Some(counted)).await;
    });
    done
}

/// Repeats the end of an owner for as long as it may be needed.
async fn settle<W: Wire>(
    remote: &Arc<Remote<W>>,
    mut owner: Owner,
    mut unanswered: bool,
    counted: Option<Counted>,
) {
    let often = Instant::now() + SETTLING_TIME;
    let long_enough = SETTLING_TIME.max(owner.outstanding.longest());
    // After this nothing of it can arrive. After that time once more nothing of it can be left.
    let until = Instant::now() + long_enough;
    let gone = until + long_enough;
    // Others wait for an answer and not for more than that: a tainted owner is ended again for
    // seconds, but it holds nothing as far as anyone knows.
    let mut counted = counted.filter(|_| unanswered);
    let over =
        |outstanding: &Outstanding| match outstanding.is_tainted() || outstanding.may_arrive() {
            true => gone,
            // It holds what it held at first, or nothing.
            false => until,
        };
    while (unanswered || owner.outstanding.is_tainted())
        && Instant::now() < over(&owner.outstanding)
    {
        let pause = if Instant::now() < often {
            REPEAT_INTERVAL
        } else {
            SLOW_REPEAT_INTERVAL
        };
        // Many owners that failed together are not ended together again.
        sleep(pause.mul_f64(0.8 + 0.4 * random::jitter())).await;
        // What counts is when an end is sent, not when its answer is read: in between this process
        // may be stopped for longer than anything was under way.
        let is_last = Instant::now() >= until;
        if is_last {
            counted = None;
        }
        let ended = remote
            .wire()
            .end(&mut owner.outstanding, &owner.entry, &owner.names, None)
            .await;
        if !needs_another_end(&ended, &owner) {
            (unanswered, counted) = (false, None);
            if is_last {
                break;
            }
        }
    }
    drop(counted);
}

/// Ends an owner of this client's again that ended a moment ago, because a grant was announced for it:
/// what it sent before was overtaken by its end.
pub(crate) fn end_again<W: Wire>(remote: &Arc<Remote<W>>, owner_id: OwnerId, lock: &[u8]) {
    let lock = String::from_utf8(lock.to_vec());
    let Some(names) = lock.ok().and_then(|lock| RecordNames::of_lock(lock).ok()) else {
        return;
    };
    drop(end(remote, remote.ended_owner(owner_id, &names)));
}
