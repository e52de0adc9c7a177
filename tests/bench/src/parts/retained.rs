//! A contended key of one process, whose lease is retained between two calls.

use std::thread;
use std::time::{Duration, Instant};

use harness::RedisServer;
use lock_runtime::LockClient;

use super::Setting;
use crate::contestants::{Contestant, Ours, TTL};
use crate::findings::{Findings, Goal, Value};
use crate::number::Short;
use crate::pair::{Cycle, Work};
use crate::runtimes::Flavour;
use crate::stats::{Times, float, ratio};

const KEY: &str = "hot:1";

/// Longer than any pause between two cycles that are timed.
const RETAIN: Duration = Duration::from_secs(5);

/// The calls after the first that one grant serves.
const TURNS: u32 = 15;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    if !setting.beside {
        commands(findings, &server);
    }
    let cycles = setting.effort.cycles;
    for flavour in Flavour::ALL {
        let url = server.url();
        let times =
            flavour.run(async move { timed(Cycle(retaining(&url).await, KEY), cycles).await });
        time(findings, &format!("{} runtime", flavour.name()), &times);
    }
    // The client was created in another runtime.
    let url = server.url();
    let home = Flavour::MultiThread.runtime();
    let client = home.block_on(async { retaining(&url).await });
    let cycle = Cycle(client.clone(), KEY);
    let times = Flavour::CurrentThread.run(timed(cycle, cycles));
    time(findings, "another runtime than the client's", &times);
    let Ours(client) = client;
    let blocking = thread::spawn(move || blocked(&client, cycles)).join();
    let times = blocking.expect("no cycle panics");
    time(findings, "blocking without a runtime", &times);
    handed_on(findings, setting);
}

async fn retaining(url: &str) -> Ours {
    Ours::with(url, |builder| builder.retain(RETAIN)).await
}

fn commands(findings: &mut Findings, server: &RedisServer) {
    let (url, mut monitor) = (server.url(), server.monitor());
    let commands = Flavour::CurrentThread.run(async move {
        let cycle = Cycle(retaining(&url).await, "hot:2");
        cycle.once().await;
        monitor.take();
        for _ in 1..TURNS {
            cycle.once().await;
        }
        monitor.take().len()
    });
    findings.figure(
        "hot key of one process, retained: commands of the next fourteen cycles",
        Value::new(Goal::AtMost(0.0), float(commands)),
        28,
    );
    findings.demand(
        commands == 0,
        &format!("a cycle under a retained lease is no command, not {commands}"),
    );
}

fn time(findings: &mut Findings, caller: &str, times: &Times) {
    let median = times.median();
    findings.figure(
        &format!("hot key of one process, retained: cycle p50 in µs, {caller}"),
        Value::new(Goal::AtMost(2.0), median.as_secs_f64() * 1e6),
        "–",
    );
}

async fn timed(work: impl Work, times: usize) -> Times {
    let mut cycles = Vec::new();
    work.once().await;
    for _ in 0..times {
        let start = Instant::now();
        work.once().await;
        cycles.push(start.elapsed());
    }
    Times::new(cycles)
}

fn blocked(client: &LockClient, times: usize) -> Times {
    let once = || {
        let guard = client.lock(KEY).acquire_blocking();
        let released = guard.and_then(|guard| guard.release_blocking());
        released.expect("the lock is had and held");
    };
    once();
    let cycles = (0..times).map(|_| {
        let start = Instant::now();
        once();
        start.elapsed()
    });
    Times::new(cycles.collect())
}

/// Another client asks for the lock: a message ends the lease, and a hand-off follows.
fn handed_on(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    let url = server.url();
    let count = setting.effort.handoffs;
    let (grants, pings) = Flavour::MultiThread.run(async move {
        let (retaining, other) = (retaining(&url).await, Ours::connect(&url).await);
        let mut connection = server.async_connection().await;
        let (mut grants, mut pings) = (Vec::new(), Vec::new());
        for _ in 0..count {
            Cycle(retaining.clone(), KEY).once().await;
            let start = Instant::now();
            let ping = redis::cmd("PING");
            ping.exec_async(&mut connection).await.expect("an answer");
            pings.push(start.elapsed());
            let start = Instant::now();
            let held = other.acquire(KEY).await;
            grants.push(start.elapsed());
            other.release(held).await;
        }
        (Times::new(grants), Times::new(pings))
    });
    findings.figure(
        "hot key of one process, retained: grant to another client, p50 to a PING",
        Value::new(Goal::AtMost(6.0), ratio(grants.median(), pings.median()))
            .of(Short(grants.median())),
        Short(pings.median()),
    );
    findings.demand(
        grants.max() < TTL,
        "a retained lease is given back to others before its ttl is over",
    );
}
