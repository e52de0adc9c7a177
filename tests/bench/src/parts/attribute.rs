//! The attribute beside a hand-written guard, and a call inside another one.

use std::time::{Duration, Instant};

use harness::RedisServer;
use lock_runtime::{LockClient, LockError, distributed_lock};

use crate::contestants::Ours;
use crate::counting;
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::pair::{Work, pair};
use crate::runtimes::Flavour;
use crate::shipping;
use crate::stats::{Times, float};

const ID: u64 = 42;

/// Nested calls that are timed together, since a single one is too short.
const NESTED: u32 = 1_000;

/// A call of the same function, under the same lock.
struct Attribute(LockClient);
struct Guard(LockClient);

impl Work for Attribute {
    async fn once(&self) {
        let shipped = shipping::by_attribute(&self.0, ID).await;
        shipped.expect("the lock is free");
    }
}

impl Work for Guard {
    async fn once(&self) {
        let shipped = shipping::by_hand(&self.0, ID).await;
        shipped.expect("the lock is free");
    }
}

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let url = server.url();
    let pair = Flavour::CurrentThread.run(async move {
        let Ours(client) = Ours::connect(&url).await;
        let (attribute, guard) = (Attribute(client.clone()), Guard(client));
        pair(effort, effort.cycles / 2, attribute, guard).await
    });
    findings.pair("attribute, p50 to the hand-written guard", 1.02, pair);
    let [attribute, hand] = counting::ask(&["attribute", &server.url()]);
    findings.figure(
        "attribute, allocations of a cycle, the guard's and the key included",
        [Value::at_most(12.0, attribute.round()).shown(format_args!("{attribute:.0}"))],
        format_args!("{hand:.0} (a guard)"),
    );
    nested(findings, &server);
}

/// The inner calls find the lock held by their caller.
#[distributed_lock(key = "order:<id>", client = client)]
async fn outer(client: &LockClient, id: u64, calls: u32) -> Result<Duration, LockError> {
    let start = Instant::now();
    for _ in 0..calls {
        shipping::by_attribute(client, id).await?;
    }
    Ok(start.elapsed() / calls)
}

fn nested(findings: &mut Findings, server: &RedisServer) {
    let (url, mut monitor) = (server.url(), server.monitor());
    let (commands, time) = Flavour::CurrentThread.run(async move {
        let Ours(client) = Ours::connect(&url).await;
        let mut times = Vec::new();
        monitor.take();
        for _ in 0..10 {
            let time = outer(&client, ID, NESTED).await;
            times.push(time.expect("the lock is free"));
        }
        // Each outer call makes two calls of its own.
        let commands = monitor.take().len().abs_diff(2 * times.len());
        (commands, Times::new(times).median())
    });
    findings.figure(
        "nested call, commands / µs",
        [
            Value::at_most(0.0, float(commands)),
            Value::micros(1.0, time),
        ],
        "0 / 0",
    );
    findings.demand(commands == 0, "a nested call is no command");
}
