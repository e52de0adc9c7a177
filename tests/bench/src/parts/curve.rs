//! Transfers per second against the number of waiters: the points of the plot, and the slowdown by
//! many waiters.

use std::time::Duration;

use harness::RedisServer;
use tokio::runtime::Runtime;

use crate::contestants::{Any, Kind};
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::log::Window;
use crate::number::{Count, Number};
use crate::ping_pong::ping_pong;
use crate::race::log;
use crate::runtimes::Flavour;
use crate::stats::median;

const WAITERS: [u32; 6] = [1, 4, 16, 64, 256, 1024];

/// The floor's curve, which does not depend on waiters.
const FLOOR: &str = "a PUBLISH (the floor)";

/// Rounds of each point: enough for a plot.
const ROUNDS: usize = 3;

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    points(findings, effort);
    growth(findings, effort);
}

fn points(findings: &mut Findings, effort: Effort) {
    let (server, runtime) = (RedisServer::start(), Flavour::MultiThread.runtime());
    let url = server.url();
    let contestants = Kind::ALL.map(|kind| (kind, runtime.block_on(kind.connect(&url))));
    let slice = effort.slice / 2;
    for waiters in WAITERS {
        let (mut floor, mut rates) = (Vec::new(), vec![Vec::new(); contestants.len()]);
        for round in 0..ROUNDS {
            floor.push(runtime.block_on(ping_pong(&url, slice)));
            for ((kind, contestant), rates) in contestants.iter().zip(&mut rates) {
                // Peers have one, longer round.
                let time = match (kind.is_ours(), round) {
                    (true, _) => slice,
                    (false, 0) => effort.long_slice(),
                    (false, _) => continue,
                };
                let key = format!("{kind:?}:{waiters}:{round}");
                rates.push(race(
                    &runtime,
                    contestant,
                    &key,
                    waiters,
                    Window::soon(time),
                ));
            }
        }
        findings.point(FLOOR, waiters, median(floor));
        for ((kind, _), rates) in contestants.iter().zip(rates) {
            findings.point(kind.name(), waiters, median(rates));
        }
    }
}

/// Without local turns, which are not hand-offs.
fn growth(findings: &mut Findings, effort: Effort) {
    let (server, runtime) = (RedisServer::start(), Flavour::MultiThread.runtime());
    let contestant = runtime.block_on(Kind::InOrder.connect(&server.url()));
    let crowd = effort.crowd();
    let counts = [1, crowd / 100, crowd];
    let rates = counts.map(|waiters| {
        let rounds = (0..effort.rounds).map(|round| {
            // All waiters must be in the queue before the measurement.
            let line = Duration::from_micros(100) * waiters;
            let window = Window::after(effort.slice / 4 + line, effort.slice);
            let key = format!("growth:{waiters}:{round}");
            race(&runtime, &contestant, &key, waiters, window)
        });
        median(rounds)
    });
    let slower = rates.map(|rate| rates[0] / rate);
    let counts = counts.map(|waiters| Count(waiters as usize).to_string());
    let shown = slower.map(|slower| Number(slower).to_string());
    let worst = slower.into_iter().fold(0.0, f64::max);
    findings.figure(
        format!(
            "a hand-off with {} waiters, time to the first",
            counts.join(", ")
        ),
        [Value::at_most(1.2, worst).shown(shown.join(", "))],
        "1 (flat)",
    );
}

/// Transfers per second. One task is inside while the others wait.
fn race(runtime: &Runtime, contestant: &Any, key: &str, waiters: u32, window: Window) -> f64 {
    let log = runtime.block_on(log(contestant, key, waiters + 1, window));
    log.rate()
}
