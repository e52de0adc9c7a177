//! What happens to the code that asked for the lock.

use std::time::{Duration, Instant};

use super::{LONG, TTL};
use crate::rounds::{Class, Round, Row};
use crate::scene::SLACK;
use crate::wait::{PATIENCE, wait_until};

/// Acquires that are dropped at random moments, of a held lock and of a free one.
pub(super) const ACQUIRE_DROPPED: Row = Row::new("acquire_dropped", Class::E, acquire_dropped);

fn acquire_dropped(round: &mut Round<'_>) {
    const TIMES: u64 = 40;
    let mut holder = round.holder(LONG);
    let mut caller = round.worker();
    let second = Duration::from_secs(1) + SLACK;
    for time in 0..2 * TIMES {
        if time == TIMES {
            wait_until("empty queue", second, || round.lock.queue().is_empty());
            round.release(&mut holder);
        }
        // A round trip takes a few hundred.
        let micros = round.any_number(time, 1_500);
        let command = round.command("drop", LONG, PATIENCE, &micros.to_string());
        let answer = caller.ask(&command, PATIENCE);
        let expected = answer == "dropped" || time >= TIMES && answer.starts_with("held ");
        assert!(expected, "{answer}");
    }
    wait_until("end of all", second, || {
        round.lock.value().is_none() && round.lock.queue().is_empty()
    });
    round.retire(holder);
    round.retire(caller);
}

/// A body panics: the lock is given back at once.
pub(super) const BODY_PANICS: Row = Row::new("body_panics", Class::E, body_panics);

fn body_panics(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut panicking = round.worker();
    panicking.send(&round.command("run", LONG, PATIENCE, "panic"));
    round.wait_for_queue(1);
    let mut next = round.waiter(LONG);
    let released = Instant::now();
    round.release(&mut holder);
    assert_eq!(panicking.line(PATIENCE).as_deref(), Some("panicked"));
    round.granted_next(&next, released, Duration::ZERO);
    round.visit(&mut next);
    round.release(&mut next);
    for worker in [holder, panicking, next] {
        round.retire(worker);
    }
}

/// A body blocks the only thread of its runtime: its lease is renewed all the same.
pub(super) const BODY_BLOCKS: Row = Row::new("body_blocks", Class::E, body_blocks);

fn body_blocks(round: &mut Round<'_>) {
    // A busy machine may keep a process from running for a second.
    let ttl = 2 * TTL;
    let time = ttl * 5 / 2;
    let mut blocking = round.worker();
    let block = format!("block {}", time.as_millis());
    blocking.send(&round.command("run-alone", ttl, PATIENCE, &block));
    wait_until("holder", PATIENCE, || round.lock.value().is_some());
    // It visits as soon as it is let in.
    let mut next = round.worker();
    next.send(&round.command("run", LONG, PATIENCE, ""));
    for worker in [blocking, next] {
        assert_eq!(worker.line(PATIENCE).as_deref(), Some("written"));
        round.retire(worker);
    }
}

/// A runtime ends with a guard in one of its tasks: the lock is given back, and does not wait for
/// the end of its lease.
pub(super) const RUNTIME_DROPPED: Row = Row::new("runtime_dropped", Class::E, runtime_dropped);

fn runtime_dropped(round: &mut Round<'_>) {
    let mut holder = round.worker();
    let mut next = round.worker();
    holder.send(&round.command("abandon", LONG, PATIENCE, ""));
    round.granted(&holder);
    let dropped = Instant::now();
    round.ask(&mut next, LONG, PATIENCE);
    round.granted_next(&next, dropped, Duration::ZERO);
    round.visit(&mut next);
    round.release(&mut next);
    round.retire(holder);
    round.retire(next);
}

/// The same, and a crowd, on locks that live in one process: there is no server to fail.
pub(super) const IN_MEMORY: Row = Row::new("in_memory", Class::E, in_memory);

fn in_memory(round: &mut Round<'_>) {
    let mut worker = round.worker_at("memory://");
    let mut told = |command: &str, answer: &str| {
        let answered = worker.ask(command, PATIENCE * 2);
        assert!(answered.starts_with(answer), "{command}: {answered}");
    };
    let about = |verb: &str, rest: &str| round.command(verb, LONG, PATIENCE, rest);
    // Each finds the lock free, or it would wait for longer than the test does.
    told(&about("run", "panic"), "panicked");
    told(&about("acquire", ""), "held ");
    told(&about("drop", "1000"), "dropped");
    told("release", "ok");
    told(&about("abandon", ""), "held ");
    told(&about("run-alone", "block 100"), "written");
    told(&about("hammer", "8 300"), "hammered ");
    told(&about("crowd", "1000"), "crowded 1000");
    told(&about("cycle", "1000"), "ok");
    told(&about("many", "10000"), "ok");
    told("release-many", "ok");
    round.retire(worker);
}
