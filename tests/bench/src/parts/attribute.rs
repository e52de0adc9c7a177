//! The attribute compared with a hand-written guard, and calls inside other calls.

use std::time::{Duration, Instant};

use harness::RedisServer;
use lock_runtime::{LockClient, LockError, distributed_lock};

use crate::contestants::Ours;
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::number::Short;
use crate::pair::{Work, pair};
use crate::runtimes::Flavour;
use crate::stats::Times;

const ID: u64 = 42;

/// Nested calls that are timed together, since one is too short.
const NESTED: u32 = 1_000;

#[distributed_lock(key = "order:<id>", client = client)]
async fn by_attribute(client: &LockClient, id: u64) -> Result<u64, LockError> {
    Ok(id)
}

async fn by_hand(client: &LockClient, id: u64) -> Result<u64, LockError> {
    let guard = client.lock(format!("order:{id}")).acquire().await?;
    guard.release().await?;
    Ok(id)
}

struct Attribute(LockClient);
struct Guard(LockClient);

impl Work for Attribute {
    async fn once(&self) {
        let shipped = by_attribute(&self.0, ID).await;
        shipped.expect("the lock is free");
    }
}

impl Work for Guard {
    async fn once(&self) {
        let shipped = by_hand(&self.0, ID).await;
        shipped.expect("the lock is free");
    }
}

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let url = server.url();
    let to_guard = Flavour::CurrentThread.run(async move {
        let Ours(client) = Ours::connect(&url).await;
        let attribute = Attribute(client.clone());
        pair(effort, effort.cycles / 2, attribute, Guard(client)).await
    });
    findings.pair("attribute, p50 to the hand-written guard", 1.02, to_guard);
    nested(findings, &server);
    inside_another(findings);
}

/// The inner calls find that their caller holds the lock.
#[distributed_lock(key = "order:<id>", client = client)]
async fn outer(client: &LockClient, id: u64, calls: u32) -> Result<Duration, LockError> {
    ship(client, id, calls).await
}

fn nested(findings: &mut Findings, server: &RedisServer) {
    let url = server.url();
    let time = Flavour::CurrentThread.run(async move {
        let Ours(client) = Ours::connect(&url).await;
        let mut times = Vec::new();
        for _ in 0..10 {
            let time = outer(&client, ID, NESTED).await;
            times.push(time.expect("the lock is free"));
        }
        Times::new(times).median()
    });
    findings.figure("nested call, µs", [Value::micros(1.0, time)], 0);
}

/// The inner calls take another lock, in an order that the client knows.
#[distributed_lock(key = "customer:<id>", client = client)]
async fn customer(client: &LockClient, id: u64, calls: u32) -> Result<Duration, LockError> {
    ship(client, id, calls).await
}

async fn ship(client: &LockClient, id: u64, calls: u32) -> Result<Duration, LockError> {
    let start = Instant::now();
    for _ in 0..calls {
        by_attribute(client, id).await?;
    }
    Ok(start.elapsed() / calls)
}

/// In memory, where a call takes a thirtieth of the time, so that the cost of comparing the orders
/// is visible.
fn inside_another(findings: &mut Findings) {
    let (inside, alone) = Flavour::CurrentThread.run(async {
        let client = LockClient::memory();
        let (mut inside, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..100 {
            inside.push(customer(&client, ID, NESTED).await.expect("it is free"));
            alone.push(ship(&client, ID, NESTED).await.expect("it is free"));
        }
        (Times::new(inside).median(), Times::new(alone).median())
    });
    findings.figure(
        "call inside another lock in memory, in a known order: µs more than alone",
        [Value::micros(0.2, inside.saturating_sub(alone)).of(Short(inside))],
        Short(alone),
    );
}
