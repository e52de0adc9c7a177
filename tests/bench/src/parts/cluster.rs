//! Locks on a cluster of three primaries with a replica each, compared with raw commands on the
//! same node, and with one server.
//!
//! All nodes share the cores of the machine, so throughput on several nodes would measure only the
//! machine.

use std::time::{Duration, Instant};

use harness::{PATIENCE, RedisCluster, RedisServer};

use super::contest::Contest;
use crate::contestants::{Kind, Ours, Raw};
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::log::{Log, Window};
use crate::number::{PerSecond, Short};
use crate::pair::{Cycle, KEY, pair};
use crate::race::log;
use crate::runtimes::Flavour;
use crate::stats::Times;

/// The records of the floor's lock and of ours are in different slots.
const RAW: &str = "raw:order:42";

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let cluster = RedisCluster::with_quick_failover();
    cycle(findings, &cluster, effort);
    transfers(findings, &cluster, effort);
    replicas(findings, &cluster, effort);
    drop(cluster);
    let killed = failover(effort, RedisServer::kill9);
    let stopped = failover(effort, |node| node.pause());
    let value = |most, late| Value::millis(most, late).shown(Short(late));
    let [promoted, noticed] = [killed[1], stopped[1]].map(Short);
    findings.figure(
        "cluster: a primary is killed / stopped, next grant after the promotion, ms",
        [value(300.0, killed[0]), value(1_000.0, stopped[0])],
        format_args!("{promoted} / {noticed} to the promotion"),
    );
}

fn cycle(findings: &mut Findings, cluster: &RedisCluster, effort: Effort) {
    // The node that has the floor's lock: both are equally far away.
    let node = cluster.nodes[cluster.first_owner(RAW)].url();
    let url = cluster.url();
    let pair = Flavour::CurrentThread.run(async move {
        let ours = Cycle::new(Ours::connect(&url).await);
        let floor = Cycle::new(Raw::connect(&node).await);
        pair(effort, effort.cycles / 3, ours, floor).await
    });
    let row = "cluster: uncontended cycle, p50 to raw commands on a node";
    findings.pair(row, 1.25, pair);
}

fn transfers(findings: &mut Findings, cluster: &RedisCluster, effort: Effort) {
    let server = RedisServer::start();
    let runtime = Flavour::MultiThread.runtime();
    let connect = |url: String| runtime.block_on(Kind::InOrder.connect(&url));
    let (ours, one) = (connect(cluster.url()), connect(server.url()));
    let race = |client, key: &str| -> Log {
        runtime.block_on(log(client, key, 16, Window::soon(effort.slice)))
    };
    let contest = Contest::hold(
        effort.rounds,
        Kind::InOrder,
        &cluster.nodes,
        |key| race(&ours, key),
        || race(&one, KEY).rate(),
    );
    findings.figure(
        "cluster: transfers/s, 16 tasks without local turns, to one server",
        [contest.value(0.8)],
        PerSecond(contest.floor()),
    );
    contest.demand_exclusion(findings, "on a cluster");
}

fn replicas(findings: &mut Findings, cluster: &RedisCluster, effort: Effort) {
    let url = cluster.url();
    let pair = Flavour::CurrentThread.run(async move {
        let ours = Ours::with(&url, |builder| builder.wait_replicas(1)).await;
        let without = Cycle::of(Ours::connect(&url).await, "order:43");
        pair(effort, effort.cycles / 10, Cycle::new(ours), without).await
    });
    let row = "wait_replicas(1): cycle, p50 to the cycle without";
    findings.pair(row, 2.2, pair);
}

/// How much longer than a replica's promotion a caller waits, and how long the promotion takes.
fn failover(effort: Effort, fault: fn(&mut RedisServer)) -> [Duration; 2] {
    let (mut late, mut promotions) = (Vec::new(), Vec::new());
    // Each takes five seconds.
    for _ in 0..effort.crashes.div_ceil(4) {
        let mut cluster = RedisCluster::with_quick_failover();
        let runtime = Flavour::MultiThread.runtime();
        let client = runtime.block_on(Ours::connect(&cluster.url())).0;
        let primary = cluster.first_owner(&format!("lock:{KEY}"));
        let began = Instant::now();
        fault(&mut cluster.nodes[primary]);
        let lock = client.lock(KEY).wait(PATIENCE);
        let acquiring = runtime.spawn(async move {
            let guard = lock.acquire().await.expect("a replica takes over");
            let at = Instant::now();
            guard.release().await.expect("it was held");
            at
        });
        cluster.wait_until_promoted(cluster.replica_of(primary));
        let promoted = Instant::now();
        let acquired = runtime.block_on(acquiring).expect("it does not panic");
        late.push(acquired.saturating_duration_since(promoted));
        promotions.push(promoted - began);
    }
    [late, promotions].map(|times| Times::new(times).median())
}
