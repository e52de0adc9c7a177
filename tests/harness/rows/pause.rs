//! SIGSTOP: a process that stands still does not know that time goes by.

use std::time::{Duration, Instant};

use super::{CLAIM, LONG, TTL};
use crate::rounds::{Class, Round, Row};
use crate::wait::{PATIENCE, wait_until};
use crate::worker::Worker;

/// A holder stands still past its lease, in the middle of its body, and then goes on.
pub(super) const HOLDER_PAUSED: Row = Row::new("holder_paused", Class::F, holder_paused);

fn holder_paused(round: &mut Round<'_>) {
    followed(round);
    replaced(round);
    alone(round);
}

/// Somebody queues behind it, of whom it was told: it hands the lock on, as it believes.
fn followed(round: &mut Round<'_>) {
    let mut sleeper = round.holder(TTL);
    let next = round.waiter(LONG);
    assert_eq!(sleeper.ask("look", PATIENCE), "looked");
    assert_eq!(sleeper.ask("valid", PATIENCE), "true");
    sleeper.stop();
    let stopped = Instant::now();
    let lease = round.lock.lease_end();
    round.granted_next(&next, stopped, TTL);
    assert!(Instant::now() >= lease, "the lease was not respected");
    wakes_up(round, sleeper, next);
}

/// Somebody comes after its lease has ended: it releases, as it believes, what nobody wants.
fn replaced(round: &mut Round<'_>) {
    let mut sleeper = round.holder(TTL);
    assert_eq!(sleeper.ask("look", PATIENCE), "looked");
    sleeper.stop();
    wait_until("end of the lease", PATIENCE, || {
        round.lock.value().is_none()
    });
    let next = round.holder(LONG);
    wakes_up(round, sleeper, next);
}

/// No other process comes. The lock is lost all the same: the holder cannot know what happened meanwhile.
fn alone(round: &mut Round<'_>) {
    let mut sleeper = round.holder(TTL);
    sleeper.stop();
    wait_until("end of the lease", PATIENCE, || {
        round.lock.value().is_none()
    });
    sleeper.cont();
    is_lost(&mut sleeper);
    round.retire(sleeper);
    assert_eq!(round.lock.value(), None, "a renewal made the lock again");
    let mut next = round.holder(LONG);
    round.release(&mut next);
    round.retire(next);
}

fn wakes_up(round: &mut Round<'_>, mut sleeper: Worker, mut next: Worker) {
    round.visit(&mut next);
    sleeper.cont();
    // A body that does not look up writes all the same, and its token betrays it.
    assert_eq!(sleeper.ask("write", PATIENCE), "stale");
    is_lost(&mut sleeper);

    // Who has lost its lock does not wait for the answer to its release.
    round.retire(sleeper);
    assert!(round.lock.is_held_by(&next), "the new holder was touched");
    assert_eq!(next.ask("renew", PATIENCE), "ok");
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(next);
}

/// The holder knows, and neither a renewal nor a release of it succeeds.
fn is_lost(sleeper: &mut Worker) {
    assert_eq!(sleeper.ask("valid", PATIENCE), "false");
    for command in ["renew", "release"] {
        let refused = sleeper.ask(command, PATIENCE);
        assert!(refused.starts_with("failed Lost "), "{command}: {refused}");
    }
}

/// A waiter is served while it stands still: it costs the next one a claim, and waits again.
pub(super) const WAITER_PAUSED: Row = Row::new("waiter_paused", Class::E, |round| {
    served_by_a_release(round);
    served_by_a_newcomer(round);
});

fn served_by_a_release(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut sleeper = round.waiter(LONG);
    let mut next = round.waiter(LONG);
    sleeper.stop();
    let released = Instant::now();
    round.release(&mut holder);
    assert!(round.lock.is_held_by(&sleeper), "it is first in the queue");
    let claim = round.lock.lease_end();
    round.granted_next(&next, released, CLAIM);
    assert!(Instant::now() >= claim, "the claim was not respected");
    round.visit(&mut next);

    // The grant that it finds on waking is not its own any more.
    sleeper.cont();
    round.wait_for_queue(1);
    assert!(round.lock.is_held_by(&next), "the new holder was touched");
    round.release(&mut next);
    round.granted(&sleeper);
    round.visit(&mut sleeper);
    round.release(&mut sleeper);
    for worker in [holder, sleeper, next] {
        round.retire(worker);
    }
}

/// The lock is free and its waiter asleep, but alive for all that is known: a newcomer does not overtake
/// it. Its attempt serves the waiter.
fn served_by_a_newcomer(round: &mut Round<'_>) {
    let mut holder = round.holder(TTL);
    let mut sleeper = round.waiter(LONG);
    sleeper.stop();
    holder.kill9();
    wait_until("end of the lease", PATIENCE, || {
        round.lock.value().is_none()
    });
    let mut newcomer = round.worker();
    let busy = round.attempt(&mut newcomer, LONG, Duration::ZERO);
    assert!(busy.starts_with("failed Busy "), "{busy}");
    assert!(round.lock.is_held_by(&sleeper), "it is first in the queue");
    sleeper.cont();
    round.granted(&sleeper);
    round.visit(&mut sleeper);
    round.release(&mut sleeper);
    round.retire(sleeper);
    round.retire(newcomer);
}

/// A waiter is served after its time: it takes the lock or passes it on, and sits on it no
/// longer than a claim.
pub(super) const WAITER_PAUSED_PAST_ITS_WAIT: Row =
    Row::new("waiter_paused_past_its_wait", Class::E, past_its_wait);

fn past_its_wait(round: &mut Round<'_>) {
    const WAIT: Duration = Duration::from_millis(500);
    let mut holder = round.holder(LONG);
    let asked = Instant::now();
    let mut sleeper = round.waiter_within(LONG, WAIT);
    // Before its time is over, of which the start of another process may be most. It stays in the queue.
    sleeper.stop();
    let mut next = round.waiter(LONG);
    // Its time and one attempt.
    let over = WAIT + Duration::from_secs(1);
    wait_until("end of its time", PATIENCE, || asked.elapsed() > over);

    let released = Instant::now();
    round.release(&mut holder);
    assert!(round.lock.is_held_by(&sleeper), "it is first in the queue");
    sleeper.cont();
    let answer = sleeper.line(PATIENCE).expect("an answer");
    if answer.starts_with("held ") {
        round.release(&mut sleeper);
    } else {
        assert!(answer.starts_with("failed Busy "), "{answer}");
    }
    round.granted_next(&next, released, CLAIM);
    round.visit(&mut next);
    round.release(&mut next);
    for worker in [holder, sleeper, next] {
        round.retire(worker);
    }
}
