//! A process's own key, whose lease is retained between two calls.

use std::time::{Duration, Instant};

use harness::RedisServer;

use crate::contestants::raw::ping;
use crate::contestants::{Contestant, Ours, TTL};
use crate::effort::Effort;
use crate::findings::{Findings, NONE, Value};
use crate::number::Short;
use crate::pair::{Cycle, KEY, Work, repeat};
use crate::runtimes::Flavour;
use crate::stats::{Times, ratio};

/// Longer than any pause between two timed cycles.
const RETAIN: Duration = Duration::from_secs(5);

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let url = server.url();
    let times = Flavour::CurrentThread.run(async move {
        let (cycle, mut times) = (Cycle::new(retaining(&url).await), Vec::new());
        cycle.once().await;
        repeat(&cycle, effort.cycles, &mut times).await;
        Times::new(times)
    });
    findings.figure(
        "hot key of one process, retained: cycle p50 in µs, current-thread runtime",
        [Value::micros(2.0, times.median())],
        NONE,
    );
    handed_off(findings, effort);
}

async fn retaining(url: &str) -> Ours {
    Ours::with(url, |builder| builder.retain(RETAIN)).await
}

/// Another client asks for the lock: a message ends the lease, and a hand-off follows.
fn handed_off(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let url = server.url();
    let (grants, pings) = Flavour::MultiThread.run(async move {
        let (retaining, other) = (retaining(&url).await, Ours::connect(&url).await);
        let retaining = Cycle::new(retaining);
        let mut connection = server.async_connection().await;
        let (mut grants, mut pings) = (Vec::new(), Vec::new());
        for _ in 0..effort.handoffs {
            retaining.once().await;
            let start = Instant::now();
            ping(&mut connection).await;
            pings.push(start.elapsed());
            let start = Instant::now();
            let held = other.acquire(KEY).await;
            grants.push(start.elapsed());
            other.release(held).await;
        }
        (Times::new(grants), Times::new(pings))
    });
    let ratio = ratio(grants.median(), pings.median());
    findings.figure(
        "hot key of one process, retained: grant to another client, p50 to a PING",
        [Value::at_most(6.0, ratio).of(Short(grants.median()))],
        Short(pings.median()),
    );
    findings.demand(
        grants.max() < TTL,
        "a retained lease is released to others before its ttl is over",
    );
}
