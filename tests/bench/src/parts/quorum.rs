//! Locks on a majority of three servers: beside raw commands on all of them, beside one server, and beside rslock as
//! Redlock.

use std::thread;
use std::time::Duration;

use harness::{RedisQuorum, RedisServer, host_of, quorum_url};

use super::Setting;
use crate::clock::{nanos, now, sleep_until};
use crate::contestants::{Kind, Ours, RawQuorum};
use crate::counting;
use crate::distance::Distance;
use crate::field::Field;
use crate::findings::{Findings, Goal, Value};
use crate::log::{Log, Window, commands_each};
use crate::meter::Meter;
use crate::number::{Count, Number, Short};
use crate::pair::{Cycle, Work, pair};
use crate::runtimes::Flavour;
use crate::stats::{float, median};

const KEY: &str = "order:42";

const NODES: f64 = 3.0;

/// The commands of a cycle more than two a node, as a mean of many. An end takes another script if the node's grant came
/// late, which it may do for the first time at any moment, and a script that a node does not know is sent twice.
const LOADED: f64 = 0.01;

/// The time to a node, and equally the way back.
const WAY: Duration = Duration::from_micros(250);

/// A way that takes so long that the processors of one machine hardly count.
const LONG_WAY: Duration = Duration::from_micros(2_500);

/// Callers of a race: processes, and tasks of each.
const PROCESSES: u32 = 4;
const TASKS: u32 = 4;

/// The tasks of each process where 64 callers want the lock.
const CROWD: u32 = 16;

/// Longer than the last commands of a cycle take.
const ALL_SENT: Duration = Duration::from_millis(100);

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let quorum = RedisQuorum::start();
    commands(findings, &quorum);
    cycle(findings, &quorum, setting);
    transfers(findings, &quorum, setting);
    one_client(findings, &quorum, setting);
    node_stops(findings, &quorum, setting);
    if !setting.beside {
        held(findings, setting);
    }
}

/// The commands that a kind of client has sent to all servers.
fn sent_to(servers: &[RedisServer], kind: Kind) -> u64 {
    let sent = |server| Meter::new(server).calls(kind.commands());
    servers.iter().map(sent).sum()
}

/// The same for each, and the bytes to the first of them, in an uncontended cycle.
fn cost(url: &str, servers: &[RedisServer]) -> [f64; 2] {
    const CYCLES: u32 = 1_000;
    let runtime = Flavour::CurrentThread.runtime();
    let work = runtime.block_on(async {
        let work = Cycle(Ours::connect(url).await, KEY);
        // Until the nodes have most scripts.
        for _ in 0..CYCLES {
            work.once().await;
        }
        tokio::time::sleep(ALL_SENT).await;
        work
    });
    let mut meter = Meter::new(&servers[0]);
    // The bytes of the questions are counted as well.
    let asked = meter.received();
    let question = meter.received() - asked;
    let (sent, received) = (sent_to(servers, Kind::Ours), meter.received());
    runtime.block_on(async {
        for _ in 0..CYCLES {
            work.once().await;
        }
        tokio::time::sleep(ALL_SENT).await;
    });
    let received = meter.received() - received - question;
    let sent = sent_to(servers, Kind::Ours) - sent;
    [sent, received].map(|all| commands_each(all, CYCLES as usize))
}

fn commands(findings: &mut Findings, quorum: &RedisQuorum) {
    let server = RedisServer::start();
    let [each, bytes] = cost(&quorum.url(), &quorum.nodes);
    let [_, floor] = cost(&server.url(), &[server]);
    findings.figure(
        "quorum: uncontended cycle, commands on three nodes",
        Value::new(Goal::AtMost(2.0 * NODES + LOADED), each).shown(format_args!("{each:.3}")),
        Number(2.0 * NODES),
    );
    // A cycle with a second round sends one command more, or several.
    let rounds = 1.0 - (each - 2.0 * NODES);
    findings.figure(
        "quorum: uncontended cycles with one round to acquire, at least",
        Value::new(Goal::AtLeast(0.95), rounds),
        1,
    );
    let row = "quorum: uncontended cycle, bytes to a node, to one server";
    findings.ratio(row, Goal::AtMost(1.5), bytes, floor);
    findings.demand(
        rounds >= 0.95,
        &format!("a cycle on three nodes is six commands, not {each}"),
    );
}

fn cycle(findings: &mut Findings, quorum: &RedisQuorum, setting: Setting) {
    let effort = setting.effort;
    let near = quorum.nodes.iter().map(|node| host_of(&node.url()));
    let near: Vec<String> = near.collect();
    for flavour in Flavour::ALL {
        let how = format!("{} runtime", flavour.name());
        let cycles = (effort.rounds, effort.cycles / 3);
        beside_raw(findings, &how, flavour, &near, cycles);
    }
    let (far, cycles) = (far(quorum, WAY), (effort.rounds, effort.far_cycles));
    let how = "0.5 ms a round trip away";
    beside_raw(findings, how, Flavour::CurrentThread, &far, cycles);
}

/// Uncontended cycles on these nodes, beside raw commands to them.
fn beside_raw(
    findings: &mut Findings,
    how: &str,
    flavour: Flavour,
    hosts: &[String],
    (rounds, cycles): (usize, usize),
) {
    let url = quorum_url(hosts, "");
    let nodes: Vec<String> = hosts.iter().map(|host| format!("redis://{host}")).collect();
    let pair = flavour.run(async move {
        let (ours, floor) = (Ours::connect(&url).await, RawQuorum::connect(&nodes).await);
        pair(rounds, cycles, Cycle(ours, KEY), Cycle(floor, KEY)).await
    });
    findings.figure(
        &format!("quorum: uncontended cycle, p50 to raw commands side by side, {how}"),
        Value::new(Goal::AtMost(1.35), pair.ratio).of(Short(pair.ours)),
        Short(pair.floor),
    );
}

/// The same nodes at a distance.
fn far(quorum: &RedisQuorum, way: Duration) -> Vec<String> {
    let ports = [0, 1, 2].map(|node| quorum.nodes[node].port());
    let nodes = Distance::start_all(ports, way);
    nodes.iter().map(|node| host_of(&node.url())).collect()
}

fn far_url(quorum: &RedisQuorum, way: Duration) -> String {
    quorum_url(&far(quorum, way), "")
}

/// What came of a race.
struct Round {
    log: Log,
    commands: f64,
}

fn race(field: &mut Field, kind: Kind, servers: &[RedisServer], time: Duration) -> Round {
    let before = sent_to(servers, kind);
    // A new lock each time, so that records that peers leave behind do no harm.
    let log = field.race(&format!("{kind:?}:{}", now()), TASKS, Window::soon(time));
    let commands = commands_each(sent_to(servers, kind) - before, log.transfers());
    Round { log, commands }
}

fn median_of(rounds: &[Round], value: impl Fn(&Round) -> f64) -> f64 {
    median(rounds.iter().map(value))
}

fn demand_exclusion(findings: &mut Findings, rounds: &[Round], race: &str) {
    let broken = |round: &Round| round.log.overlaps() + round.log.stale_tokens();
    let broken: usize = rounds.iter().map(broken).sum();
    findings.demand(
        broken == 0,
        &format!("{broken} bodies overlapped or had tokens that did not rise, {race}"),
    );
}

/// Races on the nodes and on one server by turns, and the median of their ratios.
struct Pairs {
    ours: Vec<Round>,
    one: Vec<Round>,
    ratio: f64,
}

fn pairs(quorum: &RedisQuorum, way: Duration, setting: Setting) -> Pairs {
    let effort = setting.effort;
    let one = [RedisServer::start()];
    let url_of_one = Distance::start(one[0].port(), way).url();
    let mut field = Field::new(Kind::InOrder, &far_url(quorum, way), PROCESSES);
    let mut field_of_one = Field::new(Kind::InOrder, &url_of_one, PROCESSES);
    let rounds: Vec<(Round, Round)> = (0..effort.rounds)
        .map(|_| {
            let ours = race(&mut field, Kind::InOrder, &quorum.nodes, effort.peer_slice);
            let one = race(&mut field_of_one, Kind::InOrder, &one, effort.peer_slice);
            (ours, one)
        })
        .collect();
    let ratios = rounds
        .iter()
        .map(|(ours, one)| ours.log.rate() / one.log.rate());
    let ratio = median(ratios);
    let (ours, one) = rounds.into_iter().unzip();
    Pairs { ours, one, ratio }
}

fn transfers(findings: &mut Findings, quorum: &RedisQuorum, setting: Setting) {
    let effort = setting.effort;
    let Pairs {
        ours: rounds,
        one: of_one,
        ratio: to_one,
    } = pairs(quorum, WAY, setting);
    let rate = median_of(&rounds, |round| round.log.rate());
    let rate_of_one = median_of(&of_one, |round| round.log.rate());
    findings.figure(
        "quorum: transfers, 4 processes × 4 tasks, 0.5 ms a round trip away, to one server's",
        Value::new(Goal::AtLeast(0.85), to_one).of(format_args!("{}/s", Number(rate))),
        format_args!("{}/s", Number(rate_of_one)),
    );
    findings.figure(
        "quorum: commands per transfer there",
        Value::new(
            Goal::AtMost(3.0 * NODES + 0.5),
            median_of(&rounds, |round| round.commands),
        ),
        Number(median_of(&of_one, |round| round.commands)),
    );
    findings.figure(
        "quorum: Jain index over the 16 tasks there",
        Value::new(
            Goal::AtLeast(0.99),
            median_of(&rounds, |round| round.log.fairness(1)),
        ),
        1,
    );
    findings.figure(
        "quorum: longest wait there, in tasks × mean hand-off",
        Value::new(
            Goal::AtMost(5.0),
            median_of(&rounds, |round| round.log.longest_wait()),
        ),
        1,
    );
    demand_exclusion(findings, &rounds, "on three nodes");
    let Pairs { ours, one, ratio } = pairs(quorum, LONG_WAY, setting);
    let rate_of = |rounds: &[Round]| Number(median_of(rounds, |round| round.log.rate()));
    findings.figure(
        "quorum: the same 5 ms a round trip away, to one server's",
        Value::new(Goal::AtLeast(0.85), ratio).of(format_args!("{}/s", rate_of(&ours))),
        format_args!("{}/s", rate_of(&one)),
    );
    demand_exclusion(findings, &ours, "on three nodes far away");
    if setting.beside {
        return;
    }
    let url = far_url(quorum, WAY);
    for kind in Kind::PEERS {
        let mut field = Field::new(kind, &url, PROCESSES);
        let peer: Vec<Round> = (0..effort.peer_rounds)
            .map(|_| race(&mut field, kind, &quorum.nodes, effort.peer_slice))
            .collect();
        let rate_of_peer = median_of(&peer, |round| round.log.rate());
        findings.figure(
            &format!(
                "quorum: transfers there, to those of {} as Redlock",
                kind.name()
            ),
            Value::new(Goal::AtLeast(5.0), rate / rate_of_peer)
                .of(format_args!("{}/s", Number(rate))),
            format_args!(
                "{}/s, {} commands each, Jain {}",
                Number(rate_of_peer),
                Number(median_of(&peer, |round| round.commands)),
                Number(median_of(&peer, |round| round.log.fairness(1)))
            ),
        );
    }
}

/// Callers of one client have one place in the order of all.
fn one_client(findings: &mut Findings, quorum: &RedisQuorum, setting: Setting) {
    let runtime = Flavour::MultiThread.runtime();
    let client = runtime.block_on(Kind::InOrder.connect(&quorum.url()));
    let rounds: Vec<Round> = (0..setting.effort.rounds)
        .map(|round| {
            let before = sent_to(&quorum.nodes, Kind::InOrder);
            let key = format!("client:{round}");
            let window = Window::soon(setting.effort.slice);
            let log = crate::race::log(&client, &key, PROCESSES * TASKS, window);
            let log = runtime.block_on(log);
            let sent = sent_to(&quorum.nodes, Kind::InOrder) - before;
            let commands = commands_each(sent, log.transfers());
            Round { log, commands }
        })
        .collect();
    findings.figure(
        "quorum: commands per transfer, 16 tasks of a process without local turns",
        Value::new(
            Goal::AtMost(2.0 * NODES + 0.2),
            median_of(&rounds, |round| round.commands),
        )
        .of(format_args!(
            "{}/s",
            Number(median_of(&rounds, |round| round.log.rate()))
        )),
        Number(2.0 * NODES),
    );
    demand_exclusion(findings, &rounds, "in one process");
}

/// One of the nodes is stopped while a crowd takes a lock in turns.
fn node_stops(findings: &mut Findings, quorum: &RedisQuorum, setting: Setting) {
    let mut field = Field::new(Kind::InOrder, &far_url(quorum, WAY), PROCESSES);
    let (mut ratios, mut before, mut gap) = (Vec::new(), Vec::new(), Duration::ZERO);
    let (mut fairness, mut waits) = (Vec::new(), Vec::new());
    for round in 0..setting.effort.rounds {
        let node = &quorum.nodes[round % quorum.nodes.len()];
        let window = Window::soon(2 * setting.effort.peer_slice);
        let stop = window.start + nanos(setting.effort.peer_slice);
        let log = thread::scope(|scope| {
            scope.spawn(|| {
                Flavour::CurrentThread.runtime().block_on(sleep_until(stop));
                node.pause();
            });
            field.race(&format!("stopped:{round}"), CROWD, window)
        });
        node.resume();
        // What was sent to the stopped node is carried out before the next round.
        let past = now() + nanos(2 * setting.effort.peer_slice);
        Flavour::CurrentThread.runtime().block_on(sleep_until(past));
        let rate = log.rate_between(window.start, stop);
        ratios.push(log.rate_between(stop, window.end) / rate);
        before.push(rate);
        gap = gap.max(log.longest_gap(stop, window.end));
        fairness.push(log.fairness(1));
        waits.push(log.longest_wait());
        findings.demand(
            log.overlaps() + log.stale_tokens() == 0,
            "bodies overlapped or tokens did not rise while a node was stopped",
        );
    }
    findings.figure(
        "quorum: transfers, 4 processes × 16 tasks, one node stopped, to those before",
        Value::new(Goal::AtLeast(0.8), median(ratios)),
        format_args!("{}/s", Number(median(before))),
    );
    findings.figure(
        "quorum: longest time without a grant there, ms",
        Value::new(Goal::AtMost(50.0), gap.as_secs_f64() * 1e3).shown(Short(gap)),
        0,
    );
    findings.figure(
        "quorum: Jain index over the 64 tasks there",
        Value::new(Goal::AtLeast(0.99), median(fairness)),
        1,
    );
    findings.figure(
        "quorum: longest wait of the 64 tasks there, in tasks × mean hand-off",
        Value::new(Goal::AtMost(5.0), median(waits)),
        1,
    );
}

/// Many locks that one process holds.
fn held(findings: &mut Findings, setting: Setting) {
    let (count, watch) = (setting.effort.held.min(10_000), setting.effort.watch);
    let (number, millis) = (count.to_string(), watch.as_millis().to_string());
    let of = |url: &str| counting::ask(&["held", url, &number, &millis]);
    let renewals = |node: &RedisServer| {
        let sent = Meter::new(node).calls(Kind::Ours.commands());
        usize::try_from(sent)
            .expect("they are few")
            .saturating_sub(count)
    };
    let single = RedisServer::start();
    let _: [f64; 4] = of(&single.url());
    let on_one = renewals(&single);
    let quorum = RedisQuorum::start();
    let [allocated, _, background, _] = of(&quorum.url());
    let held = Count(count);
    let all: usize = quorum.nodes.iter().map(renewals).sum();
    findings.figure(
        &format!("quorum: {held} held locks, renewals on three nodes to those on one server"),
        // To acquire them takes longer on three, and the first ones are renewed meanwhile.
        Value::new(Goal::AtMost(3.3), float(all) / float(on_one.max(1))).of(Count(all)),
        Count(on_one),
    );
    findings.figure(
        &format!("quorum: {held} held locks, bytes each"),
        Value::new(Goal::AtMost(3.0 * 1024.0), allocated),
        0,
    );
    findings.figure(
        &format!("quorum: {held} held locks, the background thread's part of a core, %"),
        Value::new(Goal::AtMost(7.5), background * 100.0),
        0,
    );
}
