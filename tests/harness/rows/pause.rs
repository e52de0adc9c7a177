//! SIGSTOP: a stopped process does not notice that time passes.

use super::*;

rows! {
    F holder_paused;
    E waiter_paused;
    E waiter_paused_past_its_wait;
}

/// A holder is stopped past its lease, in the middle of its body, and then continues.
fn holder_paused(round: &mut Round<'_>) {
    let (sleeper, next) = (round.holder(TTL), round.waiter(LONG));
    followed(round, sleeper, next);
    replaced(round);
    alone(round);
}

/// A waiter queues behind the stopped holder, which knew about the waiter: the holder tries to hand
/// the lock off.
pub(super) fn followed(round: &mut Round<'_>, mut sleeper: Worker, next: Worker) {
    assert_eq!(sleeper.ask("look", PATIENCE), "looked");
    assert_eq!(sleeper.ask("valid", PATIENCE), "true");
    sleeper.stop();
    let stopped = Instant::now();
    let lease = round.lock.lease_end();
    round.granted_next(&next, stopped, TTL);
    assert!(Instant::now() >= lease, "the lease was not respected");
    wakes_up(round, sleeper, next);
}

/// A waiter comes after the lease has ended: the holder tries a release without a hand-off.
fn replaced(round: &mut Round<'_>) {
    let mut sleeper = round.holder(TTL);
    assert_eq!(sleeper.ask("look", PATIENCE), "looked");
    sleeper.stop();
    round.wait_until_free();
    let next = round.holder(LONG);
    wakes_up(round, sleeper, next);
}

/// No other process comes. The lock is still lost, since the holder cannot know what happened
/// meanwhile.
fn alone(round: &mut Round<'_>) {
    let mut sleeper = round.holder(TTL);
    sleeper.stop();
    round.wait_until_free();
    sleeper.cont();
    is_lost(&mut sleeper);
    round.retire(sleeper);
    assert_eq!(round.lock.value(), None, "a renewal made the lock again");
    let mut next = round.holder(LONG);
    round.release(&mut next);
}

fn wakes_up(round: &mut Round<'_>, mut sleeper: Worker, mut next: Worker) {
    round.visit(&mut next);
    sleeper.cont();
    // A body that does not check its guard still writes, and its token reveals it.
    assert_eq!(sleeper.ask("write", PATIENCE), "stale");
    is_lost(&mut sleeper);

    // A holder that has lost its lock does not wait for the answer to its release.
    round.retire(sleeper);
    assert!(round.lock.is_held_by(&next), "the new holder was affected");
    assert_eq!(next.ask("renew", PATIENCE), "ok");
    round.finish(&mut next);
}

/// The holder knows that the lock is lost, and neither its renewal nor its release succeeds.
pub(super) fn is_lost(sleeper: &mut Worker) {
    assert_eq!(sleeper.ask("valid", PATIENCE), "false");
    for command in ["renew", "release"] {
        let refused = sleeper.ask(command, PATIENCE);
        assert!(refused.starts_with("failed Lost "), "{command}: {refused}");
    }
}

/// A waiter is granted the lock while it is stopped: the next waiter is delayed by one claim, and
/// the stopped one waits again.
fn waiter_paused(round: &mut Round<'_>) {
    served_by_a_release(round);
    served_by_a_newcomer(round);
}

fn served_by_a_release(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut sleeper = round.waiter(LONG);
    let mut next = round.waiter(LONG);
    sleeper.stop();
    let released = round.release(&mut holder);
    assert!(round.lock.is_held_by(&sleeper), "it is first in the queue");
    let claim = round.lock.lease_end();
    round.granted_next(&next, released, CLAIM);
    assert!(Instant::now() >= claim, "the claim was not respected");
    round.visit(&mut next);

    // The grant that it finds after SIGCONT has expired.
    sleeper.cont();
    round.wait_for_queue(1);
    assert!(round.lock.is_held_by(&next), "the new holder was affected");
    round.release(&mut next);
    round.granted(&sleeper);
    round.finish(&mut sleeper);
}

/// The lock is free and its waiter is stopped, but not known to be dead: a newcomer does not overtake
/// it. The newcomer's attempt grants the lock to the waiter.
fn served_by_a_newcomer(round: &mut Round<'_>) {
    let mut holder = round.holder(TTL);
    let mut sleeper = round.waiter(LONG);
    sleeper.stop();
    holder.kill9();
    round.wait_until_free();
    let mut newcomer = round.worker();
    round.refused(&mut newcomer, (LONG, Duration::ZERO), "Busy");
    assert!(round.lock.is_held_by(&sleeper), "it is first in the queue");
    sleeper.cont();
    round.granted(&sleeper);
    round.finish(&mut sleeper);
}

/// A waiter is granted the lock after its wait: it takes the lock or hands it off, and keeps it no
/// longer than a claim.
fn waiter_paused_past_its_wait(round: &mut Round<'_>) {
    const WAIT: Duration = Duration::from_millis(500);
    let mut holder = round.holder(LONG);
    let asked = Instant::now();
    let mut sleeper = round.waiter_within(LONG, WAIT);
    // The stop must come before its wait is over; the start of another process may consume most of
    // that. The waiter stays in the queue.
    sleeper.stop();
    let mut next = round.waiter(LONG);
    // Its wait and one attempt.
    let over = WAIT + Duration::from_secs(1);
    wait_until("end of its time", PATIENCE, || asked.elapsed() > over);

    let released = round.release(&mut holder);
    assert!(round.lock.is_held_by(&sleeper), "it is first in the queue");
    sleeper.cont();
    let answer = sleeper.line(PATIENCE).expect("an answer");
    if answer.starts_with("held ") {
        round.release(&mut sleeper);
    } else {
        assert!(answer.starts_with("failed Busy "), "{answer}");
    }
    round.let_in(&mut next, released, CLAIM);
}
