//! Locks on a majority of three servers, compared with raw commands on all of them, with one
//! server, and with rslock as Redlock.

use std::thread;
use std::time::Duration;

use harness::{RedisQuorum, RedisServer, host_of, quorum_url};

use super::contest::Contest;
use super::held::held;
use crate::clock::{nanos, now, sleep_until};
use crate::contestants::{Kind, Ours, RawQuorum};
use crate::distance::Distance;
use crate::effort::Effort;
use crate::field::Field;
use crate::findings::{Findings, NONE, Value};
use crate::log::Window;
use crate::number::{PerSecond, Short};
use crate::pair::{Cycle, Pair, pair};
use crate::runtimes::Flavour;
use crate::stats::median;

/// The time to a node, and also the time back.
const WAY: Duration = Duration::from_micros(250);

/// A way so long that the CPU time of one machine hardly counts.
const LONG_WAY: Duration = Duration::from_micros(2_500);

/// Callers of a race: processes, and tasks of each.
const PROCESSES: u32 = 4;
const TASKS: u32 = 4;

/// The tasks of each process with 64 callers.
const CROWD: u32 = 16;

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let quorum = RedisQuorum::start();
    cycle(findings, &quorum, effort);
    transfers(findings, &quorum, effort);
    node_stops(findings, &quorum, effort);
    let (url, count) = (quorum.url(), effort.held.min(10_000));
    held(findings, "quorum: ", &url, count, effort, 7.5);
}

fn cycle(findings: &mut Findings, quorum: &RedisQuorum, effort: Effort) {
    let near = quorum.nodes.iter().map(|node| host_of(&node.url()));
    let near = beside_raw(near.collect(), effort, effort.cycles / 3);
    let far = beside_raw(far(quorum, WAY), effort, effort.far_cycles());
    findings.figure(
        "quorum: uncontended cycle, p50 to raw commands side by side; near / 0.5 ms a round trip away",
        [near.value(1.35), far.value(1.35)],
        format_args!("{} / {}", Short(near.floor), Short(far.floor)),
    );
}

/// Uncontended cycles on these nodes, compared with raw commands to them.
fn beside_raw(hosts: Vec<String>, effort: Effort, cycles: usize) -> Pair {
    Flavour::CurrentThread.run(async move {
        let nodes: Vec<String> = hosts.iter().map(|host| format!("redis://{host}")).collect();
        let ours = Cycle::new(Ours::connect(&quorum_url(&hosts, "")).await);
        let floor = Cycle::new(RawQuorum::connect(&nodes).await);
        pair(effort, cycles, ours, floor).await
    })
}

/// The same nodes at a distance.
fn far(quorum: &RedisQuorum, way: Duration) -> Vec<String> {
    let ports = [0, 1, 2].map(|node| quorum.nodes[node].port());
    let nodes = Distance::start_all(ports, way);
    nodes.iter().map(|node| host_of(&node.url())).collect()
}

/// Processes that use these nodes from a distance.
fn far_field(kind: Kind, quorum: &RedisQuorum, way: Duration) -> Field {
    Field::new(kind, &quorum_url(&far(quorum, way), ""), PROCESSES)
}

fn transfers(findings: &mut Findings, quorum: &RedisQuorum, effort: Effort) {
    let near = beside_one(quorum, WAY, effort);
    let far = beside_one(quorum, LONG_WAY, effort);
    let [floor, far_floor] = [&near, &far].map(|contest| PerSecond(contest.floor()));
    findings.figure(
        "quorum: transfers, 4 processes × 4 tasks, to one server's; 0.5 / 5 ms a round trip away",
        [near.value(0.85), far.value(0.85)],
        format_args!("{floor} / {far_floor}"),
    );
    findings.figure(
        "quorum: commands per transfer, 0.5 ms a round trip away",
        [Value::at_most(9.5, near.commands())],
        NONE,
    );
    for contest in [&near, &far] {
        contest.demand_exclusion(findings, "on three nodes");
    }
    let peers = effort.of_peers();
    let peers = Kind::PEERS.map(|kind| {
        let mut field = far_field(kind, quorum, WAY);
        let race = |key: &str| field.race(key, TASKS, Window::soon(peers.slice));
        Contest::hold(peers.rounds, kind, &quorum.nodes, race, || 1.0).rate()
    });
    let row = findings.figure(
        "quorum: the same transfers, to those of rslock as Redlock / tuned",
        peers.map(|rate| Value::at_least(5.0, near.rate() / rate)),
        NONE,
    );
    let [rslock, tuned] = peers.map(PerSecond);
    row.peers(format_args!("{rslock} / {tuned}"));
}

/// Races that alternate between the nodes and one server.
fn beside_one(quorum: &RedisQuorum, way: Duration, effort: Effort) -> Contest {
    let one = RedisServer::start();
    let url = Distance::start(one.port(), way).url();
    let mut field = far_field(Kind::InOrder, quorum, way);
    let mut field_of_one = Field::new(Kind::InOrder, &url, PROCESSES);
    let window = || Window::soon(effort.long_slice());
    Contest::hold(
        effort.rounds,
        Kind::InOrder,
        &quorum.nodes,
        |key| field.race(&format!("{key}:{way:?}"), TASKS, window()),
        || field_of_one.race("one", TASKS, window()).rate(),
    )
}

/// One of the nodes is stopped while a crowd takes a lock in turns.
fn node_stops(findings: &mut Findings, quorum: &RedisQuorum, effort: Effort) {
    let mut field = far_field(Kind::InOrder, quorum, WAY);
    let (mut ratios, mut before, mut gap) = (Vec::new(), Vec::new(), Duration::ZERO);
    let sleep = |until| {
        Flavour::CurrentThread
            .runtime()
            .block_on(sleep_until(until))
    };
    let slice = effort.long_slice();
    for round in 0..effort.rounds {
        let node = &quorum.nodes[round % quorum.nodes.len()];
        let window = Window::soon(2 * slice);
        let stop = window.start + nanos(slice);
        let log = thread::scope(|scope| {
            scope.spawn(|| {
                sleep(stop);
                node.pause();
            });
            field.race(&format!("stopped:{round}"), CROWD, window)
        });
        node.resume();
        // The stopped node carries out the pending commands before the next round.
        sleep(now() + nanos(2 * slice));
        let rate = log.rate_between(window.start, stop);
        ratios.push(log.rate_between(stop, window.end) / rate);
        before.push(rate);
        gap = gap.max(log.longest_gap(stop, window.end));
        findings.demand(
            log.violations() == 0,
            "bodies overlapped or tokens did not rise while a node was stopped",
        );
    }
    findings.figure(
        "quorum: a node stops, transfers to those before / longest time without a grant, ms",
        [
            Value::at_least(0.8, median(ratios)),
            Value::millis(50.0, gap).shown(Short(gap)),
        ],
        PerSecond(median(before)),
    );
}
