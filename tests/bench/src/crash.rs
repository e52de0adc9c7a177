//! kill -9 of the holder: how long until the next one has the lock.

use std::time::{Duration, Instant};

use harness::{PATIENCE, RawLock, RedisServer, wait_until};

use crate::report::Report;
use crate::stats::{Short, Times};
use crate::worker;

const KEY: &str = "crash:1";
const TTL: Duration = Duration::from_secs(1);
const ROUNDS: u32 = 20;

pub(crate) fn measure(report: &mut Report) {
    let server = RedisServer::start();
    let mut lock = RawLock::new(&server, KEY);
    let acquire = format!("acquire {KEY} {} 20000", TTL.as_millis());
    let mut holder = worker(&server);
    let answer = holder.ask(&acquire, PATIENCE);
    assert!(answer.starts_with("held "), "{answer}");

    let (mut from_kill, mut rests, mut from_end) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut waiter = worker(&server);
        waiter.send(&acquire);
        wait_until("waiter in the queue", PATIENCE, || lock.queue().len() == 1);
        // Each round at another time between two renewals, which come each third of the ttl.
        let age = TTL / 3 * round / ROUNDS;
        wait_until("moment to kill", PATIENCE, || rest(&mut lock) <= TTL - age);

        let killed = Instant::now();
        holder.kill9();
        // Nobody renews it any more: this is when the server lets it go.
        let end = Instant::now() + rest(&mut lock);
        let answer = waiter.line(PATIENCE).expect("the waiter is served");
        let granted = Instant::now();
        assert!(answer.starts_with("held "), "{answer}");

        from_kill.push(granted - killed);
        rests.push(end - killed);
        from_end.push(granted.saturating_duration_since(end));
        holder = waiter;
    }

    let both = |times: Vec<Duration>| {
        let times = Times::new(times);
        format!("{} / {}", Short(times.median()), Short(times.max()))
    };
    report.row(
        "kill -9 of the holder, ttl 1 s, to the next grant, median / max",
        both(from_kill),
        format!("{} (rest of the lease)", both(rests)),
    );
    report.row(
        "end of a dead holder's lease to the next grant, median / max",
        both(from_end),
        0,
    );
}

/// What is left of the lease.
fn rest(lock: &mut RawLock) -> Duration {
    let rest = u64::try_from(lock.pttl()).expect("the lock has a lease");
    Duration::from_millis(rest)
}
