//! Processes that end without a word.

use std::time::{Duration, Instant};

use super::{CLAIM, LONG, TTL};
use crate::rounds::{Class, Round, Row};
use crate::wait::{PATIENCE, wait_until};
use crate::worker::Worker;

/// kill -9 of a holder in its body: the next one waits for the end of its lease, and no longer.
pub(super) const HOLDER_KILLED: Row = Row::new("holder_killed", Class::E, |round| {
    ended(round, Worker::kill9);
});

/// A holder that calls `exit`.
pub(super) const HOLDER_EXITS: Row = Row::new("holder_exits", Class::E, |round| {
    ended(round, |holder| holder.send("exit"));
});

/// A holder that calls `abort`.
pub(super) const HOLDER_ABORTS: Row = Row::new("holder_aborts", Class::E, |round| {
    ended(round, |holder| holder.send("abort"));
});

fn ended(round: &mut Round<'_>, end: fn(&mut Worker)) {
    let mut holder = round.holder(TTL);
    let mut next = round.waiter(TTL);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    // At another time between two renewals in each round.
    let age = Duration::from_millis(round.any_number(0, 400));
    let held = Instant::now();
    wait_until("moment to end", PATIENCE, || held.elapsed() >= age);
    end(&mut holder);
    holder.ended(PATIENCE);
    let ended = Instant::now();
    let lease = round.lease_end();
    round.granted_next(&next, ended, TTL);
    assert!(Instant::now() >= lease, "the lease was not respected");
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(next);
}

/// kill -9 of a process that retains a lease which nobody has: it lasts as long as a held one.
pub(super) const KILLED_WHILE_RETAINED: Row =
    Row::new("killed_while_retained", Class::E, killed_while_retained);

fn killed_while_retained(round: &mut Round<'_>) {
    let ttl = 2 * TTL;
    let retain = (ttl / 3).as_millis().to_string();
    let mut last = round.worker();
    let answer = last.ask(&round.command("retain", ttl, PATIENCE, &retain), PATIENCE);
    assert!(answer.starts_with("held "), "{answer}");
    last.kill9();
    let ended = Instant::now();
    let mut next = round.worker();
    round.ask(&mut next, TTL, PATIENCE);
    round.granted_next(&next, ended, ttl);
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(next);
}

/// kill -9 of a holder that was handed the lock a moment ago, for a ttl that is shorter than the claim
/// by which it was handed over.
pub(super) const SERVED_WAITER_KILLED: Row =
    Row::new("served_waiter_killed", Class::E, served_waiter_killed);

fn served_waiter_killed(round: &mut Round<'_>) {
    const SHORT: Duration = Duration::from_millis(500);
    let mut holder = round.holder(LONG);
    let mut served = round.waiter(SHORT);
    let mut next = round.waiter(LONG);
    round.release(&mut holder);
    round.granted(&served);
    served.kill9();
    let ended = Instant::now();
    // It may be over by now.
    let rest = round.lock.pttl();
    let is_next = !round.is_held_by(&served);
    let left = Duration::from_millis(u64::try_from(rest).unwrap_or(0));
    assert!(is_next || left <= SHORT, "{left:?} are left");
    round.granted_next(&next, ended, SHORT);
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(holder);
    round.retire(next);
}

/// kill -9 of a waiter.
pub(super) const WAITER_KILLED: Row = Row::new("waiter_killed", Class::E, |round| {
    waiters_killed(round, 1);
});

/// kill -9 of twenty: they are skipped together, not for a claim each.
pub(super) const TWENTY_WAITERS_KILLED: Row =
    Row::new("twenty_waiters_killed", Class::E, |round| {
        waiters_killed(round, 20);
    });

fn waiters_killed(round: &mut Round<'_>, count: usize) {
    let mut holder = round.holder(LONG);
    let mut dead = round.waiters(count, LONG);
    let mut next = round.waiter(LONG);
    dead.iter_mut().for_each(Worker::kill9);
    let released = Instant::now();
    round.release(&mut holder);
    // The server may not have read the end of the last one.
    round.granted_next(&next, released, CLAIM);
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(holder);
    round.retire(next);
}
