//! Locks on a cluster of three primaries with a replica each, beside raw commands on the same node, and beside one
//! server.
//!
//! All nodes share the cores of the machine, so that figures of throughput on several nodes would be figures of the
//! machine. Commands are counted instead.

use std::time::{Duration, Instant};

use harness::{NODE_TIMEOUT, PATIENCE, RedisCluster, RedisServer, wait_until};
use lock_runtime::LockClient;
use tokio::task::JoinSet;

use super::Setting;
use crate::contestants::{Contestant, Ours, Raw};
use crate::findings::{Findings, Goal, Value};
use crate::log::Window;
use crate::meter::Meter;
use crate::number::{Number, Short};
use crate::pair::{Cycle, Work, pair};
use crate::race::log;
use crate::runtimes::Flavour;
use crate::stats::{Times, float};

const KEY: &str = "order:42";

/// The records of the floor's lock and of ours are in different slots.
const RAW: &str = "raw:order:42";

/// Tasks that wait for replicas together.
const TASKS: u32 = 64;

/// Waiters while the cluster is down, and the time over which their commands are counted.
const WAITERS: usize = 100;
const DOWN: Duration = Duration::from_secs(1);

/// Failovers, and slots that are moved.
const ROUNDS: usize = 5;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let cluster = RedisCluster::start();
    commands(findings, &cluster);
    spread(findings, &cluster);
    cycle(findings, &cluster, setting);
    transfers(findings, &cluster, setting);
    replicas(findings, &cluster, setting);
    slots(findings, &cluster);
    drop(cluster);
    failover(findings);
    outage(findings);
}

/// Commands for locks on a node, without those that only the harness sends.
fn scripts(node: &RedisServer) -> u64 {
    Meter::new(node).calls(&[
        "evalsha",
        "eval",
        "delifeq",
        "delex",
        "cluster|slots",
        "ping",
    ])
}

fn scripts_on_all(cluster: &RedisCluster) -> u64 {
    cluster.nodes.iter().map(scripts).sum()
}

fn commands(findings: &mut Findings, cluster: &RedisCluster) {
    const CYCLES: u32 = 100;
    let runtime = Flavour::CurrentThread.runtime();
    // What these cycles sent in all, and the bytes that this node has received.
    let count = |url: String, node: &RedisServer, sent: &dyn Fn() -> u64| {
        let work = runtime.block_on(async {
            let work = Cycle(Ours::connect(&url).await, KEY);
            work.once().await;
            work
        });
        let mut meter = Meter::new(node);
        // The bytes of the questions are counted as well.
        let asked = meter.received();
        let question = meter.received() - asked;
        let (before, received) = (sent(), meter.received());
        runtime.block_on(async {
            for _ in 0..CYCLES {
                work.once().await;
            }
        });
        let received = meter.received() - received - question;
        [sent() - before, received]
            .map(|all| float(usize::try_from(all).expect("they are few")) / f64::from(CYCLES))
    };
    let node = &cluster.nodes[cluster.first_owner(&format!("lock:{KEY}"))];
    let [each, bytes] = count(cluster.url(), node, &|| scripts_on_all(cluster));
    let server = RedisServer::start();
    let [_, floor] = count(server.url(), &server, &|| 0);
    findings.figure(
        "cluster: uncontended cycle, commands on all nodes",
        Value::new(Goal::AtMost(2.0), each),
        2,
    );
    let row = "cluster: uncontended cycle, bytes to the lock's node, to one server";
    findings.ratio(row, Goal::AtMost(1.01), bytes, floor);
    findings.demand(
        each <= 2.0,
        &format!("a cycle on a cluster is two commands, not {each}"),
    );
}

/// How distinct keys are spread over the primaries. With a core for each, the busiest one is the limit.
fn spread(findings: &mut Findings, cluster: &RedisCluster) {
    const KEYS: u32 = 3_000;
    let runtime = Flavour::CurrentThread.runtime();
    let ours = runtime.block_on(Ours::connect(&cluster.url()));
    let primaries = &cluster.nodes[..3];
    let before: Vec<u64> = primaries.iter().map(scripts).collect();
    runtime.block_on(async {
        for number in 0..KEYS {
            let held = ours.acquire(&format!("order:{number}")).await;
            ours.release(held).await;
        }
    });
    let sent = primaries.iter().zip(before);
    let sent: Vec<u64> = sent.map(|(node, before)| scripts(node) - before).collect();
    let count = |number: u64| float(usize::try_from(number).expect("they are few"));
    let all = count(sent.iter().sum());
    let busiest = count(*sent.iter().max().expect("there are three"));
    findings.figure(
        "cluster: 3 000 distinct keys, commands on all primaries to those on the busiest",
        Value::new(Goal::AtLeast(2.0), all / busiest),
        3,
    );
}

fn cycle(findings: &mut Findings, cluster: &RedisCluster, setting: Setting) {
    // The node that has the floor's lock: the way to both is the same.
    let node = cluster.nodes[cluster.first_owner(RAW)].url();
    let url = cluster.url();
    let effort = setting.effort;
    let pair = Flavour::CurrentThread.run(async move {
        let (ours, floor) = (Ours::connect(&url).await, Raw::connect(&node).await);
        pair(
            effort.rounds,
            effort.cycles / 3,
            Cycle(ours, KEY),
            Cycle(floor, KEY),
        )
        .await
    });
    findings.figure(
        "cluster: uncontended cycle, p50 to raw commands on a node",
        Value::new(Goal::AtMost(1.25), pair.ratio).of(Short(pair.ours)),
        Short(pair.floor),
    );
}

fn transfers(findings: &mut Findings, cluster: &RedisCluster, setting: Setting) {
    let server = RedisServer::start();
    let time = setting.effort.slice;
    let rate = |url: String| {
        let runtime = Flavour::MultiThread.runtime();
        let client = runtime.block_on(Ours::with(&url, |builder| builder.local_turns(1)));
        let log = runtime.block_on(log(&client, KEY, 16, Window::soon(time)));
        log.rate()
    };
    let mut rates: Vec<(f64, f64)> = (0..setting.effort.rounds)
        .map(|_| (rate(cluster.url()), rate(server.url())))
        .collect();
    rates.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let (ours, one) = rates[rates.len() / 2];
    findings.figure(
        "cluster: transfers/s, 16 tasks without local turns, to one server",
        Value::new(Goal::AtLeast(0.8), ours / one).of(format_args!("{}/s", Number(ours))),
        format_args!("{}/s", Number(one)),
    );
}

fn replicas(findings: &mut Findings, cluster: &RedisCluster, setting: Setting) {
    let url = cluster.url();
    let effort = setting.effort;
    let waits = url.clone();
    let pair = Flavour::CurrentThread.run(async move {
        let ours = Ours::with(&waits, |builder| builder.wait_replicas(1)).await;
        let without = Ours::connect(&waits).await;
        pair(
            effort.rounds,
            effort.cycles / 10,
            Cycle(ours, KEY),
            Cycle(without, "order:43"),
        )
        .await
    });
    findings.figure(
        "wait_replicas(1): cycle, p50 to the cycle without",
        Value::new(Goal::AtMost(2.2), pair.ratio).of(Short(pair.ours)),
        Short(pair.floor),
    );
    let rate = |waits: bool| {
        let url = url.clone();
        Flavour::MultiThread.run(async move {
            let client = Ours::with(&url, |builder| builder.wait_replicas(u32::from(waits))).await;
            rate_of_many(client.0, effort.slice).await
        })
    };
    let mut rates: Vec<(f64, f64)> = (0..effort.rounds)
        .map(|_| (rate(true), rate(false)))
        .collect();
    rates.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let (ours, without) = rates[rates.len() / 2];
    findings.figure(
        "wait_replicas(1): cycles/s of 64 tasks, to those without",
        Value::new(Goal::AtLeast(0.4), ours / without).of(format_args!("{}/s", Number(ours))),
        format_args!("{}/s", Number(without)),
    );
}

/// Cycles a second of tasks with a key each.
async fn rate_of_many(client: LockClient, time: Duration) -> f64 {
    let end = Instant::now() + time;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let client = client.clone();
        tasks.spawn(async move {
            let (key, mut cycles) = (format!("many:{task}"), 0_usize);
            while Instant::now() < end {
                let guard = client
                    .lock(key.as_str())
                    .acquire()
                    .await
                    .expect("it is free");
                guard.release().await.expect("it was held");
                cycles += 1;
            }
            cycles
        });
    }
    let cycles: usize = tasks.join_all().await.into_iter().sum();
    float(cycles) / time.as_secs_f64()
}

/// How much longer than its slot moves a caller waits.
fn slots(findings: &mut Findings, cluster: &RedisCluster) {
    let lock = format!("lock:{KEY}");
    let slot = cluster.slot(&lock);
    let source = cluster.first_owner(&lock);
    let target = (source + 1) % 3;
    let runtime = Flavour::MultiThread.runtime();
    let client = runtime.block_on(Ours::connect(&cluster.url())).0;
    let mut late = Vec::new();
    for round in 0..2 * ROUNDS {
        let (from, to) = if round % 2 == 0 {
            (source, target)
        } else {
            (target, source)
        };
        cluster.open_slot(slot, from, to);
        // What was there is on the other side: a caller that asks has to wait until the slot is closed.
        cluster.move_named(&format!("{{{lock}}}:f"), from, to);
        let lock = client.lock(KEY).wait(PATIENCE);
        let acquiring = runtime.spawn(async move {
            let guard = lock.acquire().await.expect("the slot is closed in the end");
            let at = Instant::now();
            guard.release().await.expect("it was held");
            at
        });
        wait_until("refusal", PATIENCE, || {
            let info: String = cluster.ask(from, &["INFO", "errorstats"]);
            info.contains("errorstat_TRYAGAIN") || info.contains("errorstat_ASK")
        });
        while cluster.move_key(slot, from, to) {}
        cluster.close_slot(slot, from, to);
        let closed = Instant::now();
        let acquired = runtime.block_on(acquiring).expect("it does not panic");
        late.push(acquired.saturating_duration_since(closed));
    }
    let worst = Times::new(late).max();
    findings.figure(
        "cluster: acquire in a slot that moves, worst time after SETSLOT NODE",
        Value::new(Goal::AtMost(60.0), worst.as_secs_f64() * 1e3).shown(Short(worst)),
        "0",
    );
}

/// How much longer than the promotion of a replica a caller waits.
fn failover(findings: &mut Findings) {
    for (row, goal, is_killed) in [
        (
            "cluster: kill -9 of a primary, next grant after the promotion",
            300.0,
            true,
        ),
        (
            "cluster: a primary is stopped, next grant after the promotion",
            1_000.0,
            false,
        ),
    ] {
        let (mut late, mut promotions) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let mut cluster = RedisCluster::start();
            let runtime = Flavour::MultiThread.runtime();
            let client = runtime.block_on(Ours::connect(&cluster.url())).0;
            let primary = cluster.first_owner(&format!("lock:{KEY}"));
            let began = Instant::now();
            if is_killed {
                cluster.nodes[primary].kill9();
            } else {
                cluster.nodes[primary].pause();
            }
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
        let late = Times::new(late).median();
        let value = Value::new(Goal::AtMost(goal), late.as_secs_f64() * 1e3);
        findings.figure(
            row,
            value.shown(Short(late)),
            format_args!(
                "{} to the promotion",
                Short(Times::new(promotions).median())
            ),
        );
    }
}

/// What many waiters cost while the cluster is down.
fn outage(findings: &mut Findings) {
    let cluster = RedisCluster::with(3, 0);
    let runtime = Flavour::MultiThread.runtime();
    let client = runtime.block_on(Ours::connect(&cluster.url())).0;
    // Without a replica its slots are nobody's, and the others refuse all commands.
    cluster.nodes[0].pause();
    wait_until("outage", PATIENCE, || {
        let info: String = cluster.ask(1, &["CLUSTER", "INFO"]);
        info.contains("cluster_state:fail")
    });
    let mut waiters = JoinSet::new();
    for number in 0..WAITERS {
        let lock = client
            .lock(format!("order:{number}"))
            .wait(NODE_TIMEOUT + DOWN * 2);
        waiters.spawn_on(lock.acquire(), runtime.handle());
    }
    let received = || -> u64 {
        let of = |node: usize| {
            let info: String = cluster.ask(node, &["INFO", "stats"]);
            let field = info
                .lines()
                .find_map(|line| line.strip_prefix("total_commands_processed:"));
            let refused = cluster.ask::<String>(node, &["INFO", "errorstats"]);
            let refused = refused
                .lines()
                .find_map(|line| line.strip_prefix("errorstat_CLUSTERDOWN:count="));
            let number =
                |text: Option<&str>| text.map_or(0, |text| text.parse::<u64>().expect("a number"));
            number(field) + number(refused)
        };
        of(1) + of(2)
    };
    let before = received();
    runtime.block_on(async { tokio::time::sleep(DOWN).await });
    let sent = received() - before;
    cluster.nodes[0].resume();
    runtime.block_on(waiters.join_all());
    findings.figure(
        "cluster: commands in 1 s of an outage, 100 waiters",
        Value::new(
            Goal::AtMost(3_000.0),
            float(usize::try_from(sent).expect("they are few")),
        ),
        "–",
    );
}
