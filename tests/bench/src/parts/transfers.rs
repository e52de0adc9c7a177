//! Tasks that take one lock in turns, in one process and in several.

use std::slice;

use harness::RedisServer;

use super::contest::Contest;
use crate::contestants::Kind;
use crate::effort::Effort;
use crate::field::Field;
use crate::findings::{Findings, Value};
use crate::log::{Log, Window};
use crate::number::{Number, PerSecond};
use crate::ping_pong::ping_pong;
use crate::race::log;
use crate::runtimes::Flavour;

const PROCESSES: u32 = 4;
const TASKS: u32 = 8;

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    transfers(findings, "16 tasks of a process", [0.3, 6.0], |kind| {
        let (server, runtime) = (RedisServer::start(), Flavour::MultiThread.runtime());
        let contestant = runtime.block_on(kind.connect(&server.url()));
        hold(kind, effort, &server, |key, window| {
            runtime.block_on(log(&contestant, key, 16, window))
        })
    });
    let race = "4 processes × 8 tasks";
    let [off, on, rslock, tuned] = transfers(findings, race, [0.25, 3.0], |kind| {
        let server = RedisServer::start();
        let mut field = Field::new(kind, &server.url(), PROCESSES);
        hold(kind, effort, &server, |key, window| {
            field.race(key, TASKS, window)
        })
    });
    findings.figure(
        format!("Jain index over {race}; off / on"),
        [&off, &on].map(|contest| Value::at_least(0.99, contest.fairness())),
        1,
    );
    let commands = findings.figure(
        format!("commands per transfer, {race}; off / on"),
        [(2.05, &off), (0.2, &on)].map(|(most, of)| Value::at_most(most, of.commands())),
        1,
    );
    let [rslock, tuned] = [rslock, tuned].map(|peer| Number(peer.commands()));
    commands.peers(format_args!("{rslock} / {tuned}"));
}

/// The contests of all kinds.
fn transfers(
    findings: &mut Findings,
    race: &str,
    [off_goal, on_goal]: [f64; 2],
    contest: impl Fn(Kind) -> Contest,
) -> [Contest; 4] {
    let contests = Kind::ALL.map(contest);
    let [off, on, rslock, tuned] = &contests;
    let row = findings.figure(
        format!("transfers, {race}, to the ping-pong; local turns off / on"),
        [off.value(off_goal), on.value(on_goal)],
        PerSecond(on.floor()),
    );
    let [rslock, tuned] = [rslock, tuned].map(|peer| PerSecond(peer.rate()));
    row.peers(format_args!("{rslock} / {tuned}"));
    off.demand_exclusion(findings, race);
    on.demand_exclusion(findings, race);
    contests
}

/// Compared with the floor, on its own runtime.
fn hold(
    kind: Kind,
    effort: Effort,
    server: &RedisServer,
    mut race: impl FnMut(&str, Window) -> Log,
) -> Contest {
    let own = if kind.is_ours() {
        effort
    } else {
        effort.of_peers()
    };
    let race = |key: &str| race(key, Window::soon(own.slice));
    let floor = || {
        let url = server.url();
        Flavour::MultiThread.run(async move { ping_pong(&url, effort.slice).await })
    };
    Contest::hold(own.rounds, kind, slice::from_ref(server), race, floor)
}
