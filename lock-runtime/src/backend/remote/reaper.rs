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

use crate::backend::Released;
use crate::backend::remote::Remote;
use crate::backend::remote::acquisition::Turn;
use crate::backend::remote::owner::Episode;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::registry::Tenure;
use crate::backend::wire::outstanding::Chain;
use crate::backend::wire::{Ended, Fault, Heir, Sent, Wire};
use crate::background::in_flight::Counted;
use crate::background::offload::Task;
use crate::background::panics::shielded;
use crate::background::random;
use crate::key::{LockName, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::Owner;
use crate::telemetry;

/// The time between two ends of one owner.
const AGAIN: Duration = Duration::from_millis(500);

/// The same once an owner has been ended for [`LONG_ENOUGH`], as one with a long ttl may have to be.
const SELDOM: Duration = Duration::from_secs(5);

/// The least time for which an owner is ended again; longer if it asked for a longer ttl.
const LONG_ENOUGH: Duration = Duration::from_secs(10);

/// A caller waits no longer than this for the answer to a release.
const PATIENCE: Duration = Duration::from_secs(1);

/// It waits this long even if its lease is over, for a round trip or two: what it asks for next should
/// not meet what it has left.
const LEAST_PATIENCE: Duration = Duration::from_millis(20);

/// Gives a lock back, and says how that went. Two things are the keeper's from the start: a hold that is
/// lost, since that one says so first, and the holder's error should not be known before the reason
/// for it; and one that is about to be renewed, since no renewal should follow the release.
pub(crate) async fn release<W: Wire>(remote: &Arc<Remote<W>>, tenure: Tenure) -> Released {
    let is_the_keepers = tenure.hold.is_known_lost() || tenure.under_way > 0;
    let (reply, mut answer) = oneshot::channel();
    let giving = giving_back(remote, tenure, Some(reply));
    let mut runner = remote.runner();
    if is_the_keepers {
        remote.spawn(giving);
    } else {
        remote.give(runner.errand(), giving);
    }
    let released = runner.wait_for(&mut answer).await;
    released.unwrap_or(Released::Unconfirmed)
}

/// As [`release`], without waiting for the answer. Never blocks. With a connection the command is queued
/// when this returns, and what the same caller sends next comes after it; without one, or where the server
/// has forgotten the script or refuses to compare and delete, that may come before, and then waits for it in
/// Redis's queue.
pub(crate) fn release_unheard<W: Wire>(remote: &Arc<Remote<W>>, mut tenure: Tenure) -> Released {
    if tenure.heads_line && remote.lines().end_if_empty(&tenure.episode.names.lock) {
        tenure.heads_line = false;
    }
    begin_here(remote, giving_back(remote, tenure, None));
    Released::Unheard
}

/// Gives a lease back that was retained. Never blocks. With a connection the command is sent when this
/// returns: a waiter has asked for the lock, and should not have to wait for another thread to wake up.
pub(crate) fn end_retained<W: Wire>(remote: &Arc<Remote<W>>, tenure: Tenure) {
    begin_here(remote, giving_back(remote, tenure, None));
}

/// Does the first step here, and leaves the rest to the background.
fn begin_here<W: Wire>(remote: &Remote<W>, mut task: Task) {
    let mut context = Context::from_waker(Waker::noop());
    if task.as_mut().poll(&mut context).is_pending() {
        remote.spawn(task);
    }
}

/// Gives a lock back, tells whoever waits for it how that went, and calls the next in line.
fn giving_back<W: Wire>(
    remote: &Arc<Remote<W>>,
    tenure: Tenure,
    mut reply: Option<oneshot::Sender<Released>>,
) -> Task {
    let remote = remote.clone();
    // Counted here and not in the task: a shutdown may look before that is run.
    let counted = remote.unsettled.one();
    if tenure.heads_line {
        // That this one has it is not true any more, and what is comes with the answer.
        remote.lines().update(&tenure.episode.names.lock, None);
    }
    // What was known when the holder was done. That the lease ends while nobody answers is no loss.
    let was_held = !tenure.hold.is_known_lost();
    let until = Instant::now() + tenure.hold.remaining().clamp(LEAST_PATIENCE, PATIENCE);
    Box::pin(async move {
        let Tenure {
            hold,
            mut episode,
            contended,
            heads_line,
            turn,
            ..
        } = tenure;
        let token = hold.token.of_grant(turn);
        let mut told = false;
        let mut tell = |released| {
            if std::mem::replace(&mut told, true) {
                return;
            }
            if released == Released::Unconfirmed && was_held {
                telemetry::release_unconfirmed(&hold);
            }
            if let Some(reply) = reply.take() {
                shielded(|| reply.send(released));
            }
        };
        let outcome = {
            if !contended {
                // That somebody queues may have been said to a caller that was busy.
                remote.wire().hear();
            }
            let contended = contended || episode.is_followed();
            let first = first_end(&remote, &mut episode, token, contended, heads_line, until);
            let mut first = pin!(first);
            match remote.alarms().timeout_at(until, first.as_mut()).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    tell(Released::Unconfirmed);
                    first.await
                }
            }
        };
        tell(match verdict(&outcome) {
            // An end that was not answered may have freed it.
            Released::NotOurs if episode.chain.may_have_ended() => Released::Unconfirmed,
            released => released,
        });
        let unanswered = is_open(&outcome, &episode);
        if unanswered || episode.chain.is_tainted() {
            // In a task of its own: this one may have begun where there are no timers.
            let ending = remote.clone();
            remote.spawn(async move { finish(&ending, episode, unanswered, Some(counted)).await });
        }
    })
}

fn verdict(outcome: &Result<Ended, Fault>) -> Released {
    match outcome {
        Ok(Ended::NotOurs | Ended::Left) => Released::NotOurs,
        Ok(_) => Released::Freed,
        Err(_) => Released::Unconfirmed,
    }
}

/// Whether an owner has to be ended again after this.
fn is_open<T>(ended: &Result<T, Fault>, episode: &Episode) -> bool {
    match ended {
        Ok(_) => false,
        Err(Fault::Unavailable(_)) => true,
        Err(Fault::Refused(_)) => episode.chain.holds(),
    }
}

/// Ends a holder, trying again until `until` where there is no answer: others wait for the lock, and
/// a connection that broke is made anew in no time. Whoever is next in its line gets the turn, whatever
/// came of it.
async fn first_end<W: Wire>(
    remote: &Arc<Remote<W>>,
    episode: &mut Episode,
    token: FencingToken,
    mut contended: bool,
    mut heads_line: bool,
    until: Instant,
) -> Result<Ended, Fault> {
    let mut failures = 0;
    if heads_line {
        let next = remote
            .lines()
            .peek(&episode.names.lock)
            .map(|seat| &seat.request)
            .map(|request| (request.label.clone(), request.terms.first_ttl()));
        let heir =
            next.and_then(|(label, ttl)| Some((remote.episode(&label, &episode.names).ok()?, ttl)));
        if let Some((heir, ttl)) = heir {
            // Whatever comes of it, the heir has the turn.
            heads_line = false;
            contended = true;
            let ended = bequeath(remote, episode, heir, ttl).await;
            if !again(remote, &ended, until, &mut failures).await {
                return ended;
            }
        }
    }
    let _baton = heads_line.then(|| Baton {
        remote,
        lock: episode.names.lock.clone(),
    });
    loop {
        let (wire, chain) = (remote.wire(), &mut episode.chain);
        let outcome = if contended {
            let ended = wire.end(chain, &episode.ticket, &episode.names, None).await;
            ended.map(|sent| sent.answer)
        } else {
            wire.release(chain, &episode.ticket, &episode.names, token)
                .await
        };
        match outcome {
            Ok(Ended::Contended) => contended = true,
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
    outcome: &Result<Ended, Fault>,
    until: Instant,
    failures: &mut u32,
) -> bool {
    if !matches!(outcome, Err(Fault::Unavailable(_))) || Instant::now() >= until {
        return false;
    }
    *failures += 1;
    let pause = Instant::now() + backoff(*failures, random::jitter());
    remote.alarms().sleep_until(pause.min(until)).await;
    true
}

/// Ends a holder in favour of the next one in its line.
async fn bequeath<W: Wire>(
    remote: &Arc<Remote<W>>,
    episode: &mut Episode,
    mut heir: Episode,
    ttl: Duration,
) -> Result<Ended, Fault> {
    let lock = episode.names.lock.clone();
    heir.chain.waits();
    let named = Heir {
        ticket: &heir.ticket,
        chain: &mut heir.chain,
        ttl,
    };
    let ended = remote
        .wire()
        .end(
            &mut episode.chain,
            &episode.ticket,
            &episode.names,
            Some(named),
        )
        .await;
    let turn = match &ended {
        Ok(Sent {
            at,
            answer: Ended::Passed(grant),
        }) => Turn::Granted(
            heir,
            Sent {
                at: *at,
                answer: *grant,
            },
        ),
        Ok(Sent {
            answer: Ended::HandedOn,
            ..
        }) => Turn::Confirmed(heir),
        Err(_) => Turn::Queued(heir),
        Ok(_) => {
            // It was named, so it has to be ended: a wire that sends a command twice may have
            // brought the answer to the second, after the first had put the heir in the queue.
            drop(end(remote, heir));
            Turn::Start
        }
    };
    remote.pass_turn(&lock, turn);
    ended.map(|sent| sent.answer)
}

/// The turn of a line, passed on when this is dropped.
struct Baton<'a, W: Wire> {
    remote: &'a Arc<Remote<W>>,
    lock: LockName,
}

impl<W: Wire> Drop for Baton<'_, W> {
    fn drop(&mut self) {
        self.remote.pass_turn(&self.lock, Turn::Start);
    }
}

/// Ends an owner in the background, unless nothing of it can be left. What is returned completes
/// when that was answered for the first time or has taken as long as a command may.
pub(crate) fn end<W: Wire>(remote: &Arc<Remote<W>>, mut episode: Episode) -> oneshot::Receiver<()> {
    let (first, done) = oneshot::channel();
    if !episode.chain.stands() {
        return done;
    }
    // Counted here and not in the task: a shutdown may look before that is run.
    let counted = remote.unsettled.one();
    let ending = remote.clone();
    remote.spawn(async move {
        let wire = ending.wire();
        let ended = wire
            .end(&mut episode.chain, &episode.ticket, &episode.names, None)
            .await;
        drop(first);
        let unanswered = is_open(&ended, &episode);
        finish(&ending, episode, unanswered, Some(counted)).await;
    });
    done
}

/// Repeats the end of an owner for as long as it may be needed.
async fn finish<W: Wire>(
    remote: &Arc<Remote<W>>,
    mut episode: Episode,
    mut unanswered: bool,
    counted: Option<Counted>,
) {
    let often = Instant::now() + LONG_ENOUGH;
    let long_enough = LONG_ENOUGH.max(episode.chain.longest());
    // After this nothing of it can arrive. After that time once more nothing of it can be left.
    let until = Instant::now() + long_enough;
    let gone = until + long_enough;
    // Others wait for an answer and not for more than that: a tainted owner is ended again for
    // seconds, but it holds nothing as far as anyone knows.
    let mut counted = counted.filter(|_| unanswered);
    let over = |chain: &Chain| match chain.is_tainted() || chain.may_arrive() {
        true => gone,
        // It holds what it held at first, or nothing.
        false => until,
    };
    while (unanswered || episode.chain.is_tainted()) && Instant::now() < over(&episode.chain) {
        let pause = if Instant::now() < often {
            AGAIN
        } else {
            SELDOM
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
            .end(&mut episode.chain, &episode.ticket, &episode.names, None)
            .await;
        if !is_open(&ended, &episode) {
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
pub(crate) fn end_again<W: Wire>(remote: &Arc<Remote<W>>, owner: Owner, lock: &[u8]) {
    let lock = String::from_utf8(lock.to_vec());
    let Some(names) = lock.ok().and_then(|lock| RecordNames::of_lock(lock).ok()) else {
        return;
    };
    drop(end(remote, remote.episode_again(owner, &names)));
}
