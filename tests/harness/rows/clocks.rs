//! Wall clocks that are stepped while a lock is held.

use super::*;
use crate::clock::Clock;

rows! {
    F server_clock_forward on own_clock, walked;
    F server_clock_back on own_clock, walked;
    E client_clock;
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// The server's clock jumps ahead by a minute: every lease expires.
fn server_clock_forward(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut next = round.waiter(LONG);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    round.server.forward(MINUTE);
    let since = Instant::now();
    round.granted_next(&next, since, Duration::ZERO);
    round.visit(&mut next);
    assert_eq!(holder.ask("write", PATIENCE), "stale");
    round.lost(&mut holder);
    round.replaced(holder, next);
}

/// The server's clock falls back by a minute: leases last longer, and tokens still rise.
fn server_clock_back(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut next = round.waiter(LONG);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    round.server.back(MINUTE);
    let rest = Duration::from_millis(round.lock.pttl().try_into().expect("it is held"));
    assert!(rest > LONG, "the clock was not set: {rest:?} are left");
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    assert_eq!(holder.ask("write", PATIENCE), "written");
    round.pass(&mut holder, &mut next, Duration::ZERO);
}

/// The clients' clock jumps back and forth by an hour: the client does not use it. (The stepped clock
/// is the C library's, which Rust's standard library uses as well.)
fn client_clock(round: &mut Round<'_>) {
    let ttl = KEPT;
    let clock = Clock::new();
    let holder = round.worker_by(&clock);
    let mut holder = round.hold(holder, ttl);
    let mut next = round.worker_by(&clock);
    round.ask(&mut next, LONG, PATIENCE);
    round.wait_for_queue(1);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    let mut told = wall_clock(&mut holder);
    for step in [
        |clock: &Clock| clock.forward(HOUR),
        |clock: &Clock| clock.back(2 * HOUR),
    ] {
        step(&clock);
        let now = wall_clock(&mut holder);
        let moved = now.abs_diff(told);
        assert!(moved > HOUR.as_secs() / 2, "the clock was not set");
        told = now;
        // Past the end of a lease without a renewal.
        let since = Instant::now();
        wait_until("ttl", PATIENCE, || since.elapsed() > ttl);
        assert_eq!(holder.ask("valid", PATIENCE), "true");
        assert_eq!(holder.ask("renew", PATIENCE), "ok");
        assert_eq!(next.line(Duration::ZERO), None, "it waits");
    }
    assert_eq!(holder.ask("write", PATIENCE), "written");
    round.pass(&mut holder, &mut next, Duration::ZERO);
}

fn own_clock() -> RedisServer {
    RedisServer::builder().own_clock().start()
}

/// The clock in seconds.
fn wall_clock(worker: &mut Worker) -> u64 {
    let seconds = worker.ask("clock", PATIENCE);
    seconds.parse().expect("a number of seconds")
}
