//! What many waiters slow down.

use std::time::Duration;

use harness::RedisServer;

use crate::contestants::Kind;
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::log::Window;
use crate::number::{Count, Number};
use crate::race::log;
use crate::runtimes::Flavour;
use crate::stats::median;

/// Without local turns, which are no hand-offs.
pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let (server, runtime) = (RedisServer::start(), Flavour::MultiThread.runtime());
    let contestant = runtime.block_on(Kind::InOrder.connect(&server.url()));
    let counts = [1, effort.crowd / 100, effort.crowd];
    let rates = counts.map(|waiters| {
        let rounds = (0..effort.rounds).map(|round| {
            // All waiters must be in the queue before the measurement.
            let line = Duration::from_micros(100) * waiters;
            let window = Window::after(effort.slice / 4 + line, effort.slice);
            let key = format!("growth:{waiters}:{round}");
            // One task is inside while the others wait.
            let race = log(&contestant, &key, waiters + 1, window);
            runtime.block_on(race).rate()
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
