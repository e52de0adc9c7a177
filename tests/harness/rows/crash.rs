//! Processes that end without releasing their locks.

use super::*;

rows! {
    E holder_killed;
    E holder_exits;
    E holder_aborts;
    E holder_leaves;
    E killed_while_retained;
    E served_waiter_killed;
    E waiter_killed, of 2;
    E twenty_waiters_killed, of 2;
}

/// kill -9 of a holder in its body: the next process waits until the lease ends, and no longer.
fn holder_killed(round: &mut Round<'_>) {
    ended(round, Worker::kill9);
    succeeded_by_a_newcomer(round);
}

/// A holder that calls `exit`.
fn holder_exits(round: &mut Round<'_>) {
    ended(round, |holder| holder.send("exit"));
}

/// A holder that calls `abort`.
fn holder_aborts(round: &mut Round<'_>) {
    ended(round, |holder| holder.send("abort"));
}

fn ended(round: &mut Round<'_>, end: fn(&mut Worker)) {
    let mut holder = round.holder(TTL);
    let mut next = round.waiter(TTL);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    // Each round picks a different time between two renewals.
    let age = Duration::from_millis(round.any_number(0, 400));
    let held = Instant::now();
    wait_until("moment to end", PATIENCE, || held.elapsed() >= age);
    end(&mut holder);
    holder.ended(PATIENCE);
    let ended = Instant::now();
    let lease = round.lock.lease_end();
    round.granted_next(&next, ended, TTL);
    assert!(Instant::now() >= lease, "the lease was not respected");
    round.finish(&mut next);
}

/// The next process asks after the holder's death: no message is meant for it.
fn succeeded_by_a_newcomer(round: &mut Round<'_>) {
    let mut holder = round.holder(TTL);
    holder.kill9();
    let killed = Instant::now();
    let lease = round.lock.lease_end();
    let mut next = round.worker();
    round.comes(&mut next, TTL, killed, TTL);
    assert!(Instant::now() >= lease, "the lease was not respected");
    round.release(&mut next);
}

/// A holder drops its guard and exits. Its release may have been sent or not; the ttl bounds both
/// cases.
fn holder_leaves(round: &mut Round<'_>) {
    let mut holder = round.holder(TTL);
    let mut next = round.waiter(TTL);
    holder.send("leave");
    let status = holder.ended(PATIENCE);
    assert!(status.success(), "{status}");
    round.let_in(&mut next, Instant::now(), TTL);
}

/// kill -9 of a process with a retained lease: the lease lasts as long as a held one.
fn killed_while_retained(round: &mut Round<'_>) {
    let ttl = 2 * TTL;
    let retain = (ttl / 3).as_millis().to_string();
    let mut last = round.worker();
    let answer = last.ask(&round.command("retain", ttl, PATIENCE, &retain), PATIENCE);
    assert!(answer.starts_with("held "), "{answer}");
    last.kill9();
    let ended = Instant::now();
    let mut next = round.worker();
    round.enters(&mut next, TTL, ended, ttl);
}

/// kill -9 of a holder that was handed the lock a moment ago, with a ttl shorter than the claim.
fn served_waiter_killed(round: &mut Round<'_>) {
    const SHORT: Duration = Duration::from_millis(500);
    let mut holder = round.holder(LONG);
    let mut served = round.waiter(SHORT);
    let mut next = round.waiter(LONG);
    round.release(&mut holder);
    round.granted(&served);
    served.kill9();
    let ended = Instant::now();
    // The lease may have expired by now.
    let rest = round.lock.pttl();
    let is_next = !round.lock.is_held_by(&served);
    let left = Duration::from_millis(u64::try_from(rest).unwrap_or(0));
    assert!(is_next || left <= SHORT, "{left:?} are left");
    round.let_in(&mut next, ended, SHORT);
}

/// kill -9 of a waiter.
fn waiter_killed(round: &mut Round<'_>) {
    waiters_killed(round, 1);
}

/// kill -9 of twenty waiters: they are skipped together, without a claim for each.
fn twenty_waiters_killed(round: &mut Round<'_>) {
    waiters_killed(round, 20);
}

fn waiters_killed(round: &mut Round<'_>, count: usize) {
    let mut holder = round.holder(LONG);
    let mut dead = round.waiters(count, LONG);
    let mut next = round.waiter(LONG);
    dead.iter_mut().for_each(Worker::kill9);
    // In one variant, the server has noticed the end of all connections.
    let is_seen = round.variant == 1;
    if is_seen {
        round.wait_for_channels(2);
        assert_eq!(round.lock.queue().len(), count + 1, "the dead do not leave");
    }
    let released = round.release(&mut holder);
    if is_seen {
        let is_next = round.lock.is_held_by(&next);
        assert!(is_next, "the release itself hands it over");
    }
    round.granted_next(&next, released, CLAIM);
    round.visit(&mut next);
    none_is_left(round, &mut next);
}

/// All waiters are dead: the lock is free, and none of their records is in the way.
fn none_is_left(round: &mut Round<'_>, holder: &mut Worker) {
    let mut dead = round.waiter(LONG);
    dead.kill9();
    // The remaining process, and the previous holder.
    round.wait_for_channels(2);
    round.release(holder);
    round.wait_for_queue(0);
    let answer = round.attempt(holder, LONG, Duration::ZERO);
    assert!(answer.starts_with("held "), "{answer}");
    round.release(holder);
    assert_eq!(round.lock.value(), None);
}
