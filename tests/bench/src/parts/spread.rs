//! Many tasks, each with a free lock of its own.

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
    let floor = |url: String| async move { Raw::connect(&url).await };
    let Rates { ratio, one, other } = by_turns(Kind::Ours, floor, setting);
    findings.figure(
        "64 tasks, distinct keys, cycles to the floor's",
        Value::new(Goal::AtLeast(0.75), ratio).of(format_args!("{}/s", Number(one))),
        format!("{}/s", Number(other)),
    );
    if setting.beside {
        return;
    }
    let rslock = |url: String| async move { Kind::Rslock.connect(&url).await };
    let beside_rslock = by_turns(Kind::Ours, rslock, setting);
    findings.figure(
        "64 tasks, distinct keys, cycles to rslock's",
        Value::new(Goal::AtLeast(1.0), beside_rslock.ratio)
            .of(format_args!("{}/s", Number(beside_rslock.one))),
        format!("{}/s (rslock)", Number(beside_rslock.other)),
    );
    findings.contestant(FLOOR, COLUMN, format!("1 ({}/s)", Number(other)));
    for kind in Kind::ALL {
        let ratio = if kind.is_ours() {
            ratio
        } else {
            by_turns(kind, floor, setting).ratio
        };
        findings.contestant(kind.name(), COLUMN, Number(ratio));
    }
}

/// The cycles per second of two contestants, and the median of the rounds' ratios.
struct Rates {
    ratio: f64,
    one: f64,
    other: f64,
}

/// One contestant, and another one on the same server.
fn by_turns<C: Contestant, F: Future<Output = C> + Send>(
    kind: Kind,
    other: impl FnOnce(String) -> F + Send + 'static,
    setting: Setting,
) -> Rates {
    let server = RedisServer::start();
    let url = server.url();
    let rounds = Flavour::MultiThread.run(async move {
        let (one, other) = (kind.connect(&url).await, other(url).await);
        let slice = setting.effort.slice / 2;
        let mut rounds = Vec::new();
        for _ in 0..setting.effort.rounds {
            // Alternately, twice each.
            let mut sums = (0.0, 0.0);
            for _ in 0..2 {
                sums.0 += cycles(&one, slice).await / 2.0;
                sums.1 += cycles(&other, slice).await / 2.0;
            }
            rounds.push(sums);
        }
        rounds
    });
    Rates {
        ratio: median(rounds.iter().map(|(one, other)| one / other)),
        one: median(rounds.iter().map(|round| round.0)),
        other: median(rounds.iter().map(|round| round.1)),
    }
}

/// The cycles per second of all tasks.
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
