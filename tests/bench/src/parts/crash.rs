//! kill -9 of the holder: the time until the next caller has the lock.

use std::time::{Duration, Instant};

use harness::{PATIENCE, RawLock, RedisServer, wait_until};

use crate::effort::Effort;
use crate::field::worker;
use crate::findings::{Findings, Value};
use crate::number::Short;
use crate::stats::Times;

const KEY: &str = "crash:1";
const TTL: Duration = Duration::from_secs(1);

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let rounds = effort.crashes;
    let server = RedisServer::start();
    let mut lock = RawLock::new(&server, KEY);
    let acquire = format!("acquire {KEY} {} 20000", TTL.as_millis());
    let mut holder = worker(&server, &server);
    let answer = holder.ask(&acquire, PATIENCE);
    assert!(answer.starts_with("held "), "{answer}");

    let mut from_end = Vec::new();
    for round in 0..rounds {
        let mut waiter = worker(&server, &server);
        waiter.send(&acquire);
        wait_until("waiter in the queue", PATIENCE, || lock.queue().len() == 1);
        // Each round at a different time between two renewals, which come each third of the ttl.
        let age = TTL / 3 * round / rounds;
        wait_until("moment to kill", PATIENCE, || rest(&mut lock) <= TTL - age);

        holder.kill9();
        // The lease is no longer renewed, so the server ends it at this time.
        let end = Instant::now() + rest(&mut lock);
        let answer = waiter.line(PATIENCE).expect("the waiter is served");
        let granted = Instant::now();
        assert!(answer.starts_with("held "), "{answer}");

        from_end.push(granted.saturating_duration_since(end));
        holder = waiter;
    }

    let times = Times::new(from_end);
    let worst = Value::millis(25.0, times.max()).of(format_args!("p50 {}", Short(times.median())));
    let row = "end of a killed holder's lease to the next grant, at worst, ms";
    findings.figure(row, [worst], 0);
}

/// The rest of the lease.
fn rest(lock: &mut RawLock) -> Duration {
    let rest = u64::try_from(lock.pttl()).expect("the lock has a lease");
    Duration::from_millis(rest)
}
