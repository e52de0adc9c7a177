//! Many tasks, each with a lock that nobody else wants.

use std::time::{Duration, Instant};

use harness::RedisServer;
use tokio::task::JoinSet;

use super::Setting;
use super::cycle::FLOOR;
use crate::contestants::{Contestant, Kind, Raw};
use crate::findings::{Findings, Goal, Value};
use crate::number::Number;
use crate::runtimes::Flavour;
use crate::stats::{median, rate};

const TASKS: usize = 64;

const COLUMN: &str = "64 tasks, distinct keys, to the floor";

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let (ratio, ours, floor) = beside_floor(Kind::Ours, setting);
    findings.figure(
        "64 tasks, distinct keys, cycles to the floor's",
        Value::new(Goal::AtLeast(0.8), ratio).of(format_args!("{}/s", Number(ours))),
        format!("{}/s", Number(floor)),
    );
    if setting.beside {
        return;
    }
    findings.contestant(FLOOR, COLUMN, format!("1 ({}/s)", Number(floor)));
    for kind in Kind::ALL {
        let ratio = if kind.is_ours() {
            ratio
        } else {
            beside_floor(kind, setting).0
        };
        findings.contestant(kind.name(), COLUMN, Number(ratio));
    }
}

/// The median of the rounds' ratios, and how many cycles a second both make.
fn beside_floor(kind: Kind, setting: Setting) -> (f64, f64, f64) {
    let server = RedisServer::start();
    let url = server.url();
    let rounds = Flavour::MultiThread.run(async move {
        let (ours, raw) = (kind.connect(&url).await, Raw::connect(&url).await);
        let slice = setting.effort.slice / 2;
        let mut rounds = Vec::new();
        for _ in 0..setting.effort.rounds {
            // By turns, twice each.
            let mut sums = (0.0, 0.0);
            for _ in 0..2 {
                sums.0 += cycles(&ours, slice).await / 2.0;
                sums.1 += cycles(&raw, slice).await / 2.0;
            }
            rounds.push(sums);
        }
        rounds
    });
    (
        median(rounds.iter().map(|(ours, floor)| ours / floor)),
        median(rounds.iter().map(|round| round.0)),
        median(rounds.iter().map(|round| round.1)),
    )
}

/// How many cycles a second all of them make.
async fn cycles<C: Contestant>(contestant: &C, time: Duration) -> f64 {
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for task in 0..TASKS {
        let (contestant, key) = (contestant.clone(), format!("spread:{task}"));
        tasks.spawn(async move {
            let mut cycles = 0;
            while start.elapsed() < time {
                let held = contestant.acquire(&key).await;
                contestant.release(held).await;
                cycles += 1;
            }
            cycles
        });
    }
    let cycles = tasks.join_all().await.into_iter().sum();
    rate(cycles, start.elapsed())
}
