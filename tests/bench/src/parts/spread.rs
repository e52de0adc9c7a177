//! Many tasks, each with its own free lock.

use std::time::{Duration, Instant};

use harness::RedisServer;
use tokio::task::JoinSet;

use crate::contestants::{Contestant, Fenced, Kind, Ours, Raw};
use crate::effort::Effort;
use crate::findings::{Findings, NONE, Value};
use crate::number::PerSecond;
use crate::pair::{Cycle, Work};
use crate::runtimes::Flavour;
use crate::stats::{median, rate};

const TASKS: usize = 64;

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let url = server.url();
    let (to_floor, to_rslock) = Flavour::MultiThread.run(async move {
        let ours = Ours::connect(&url).await;
        let (plain, fenced) = (of(ours.clone()), of(Fenced(ours)));
        let floor = of(Raw::connect(&url).await);
        let to_floor = [
            by_turns(effort, &plain, &floor).await,
            by_turns(effort, &fenced, &floor).await,
        ];
        let rslock = of(Kind::Rslock.connect(&url).await);
        let to_rslock = [
            by_turns(effort, &plain, &rslock).await,
            by_turns(effort, &fenced, &rslock).await,
        ];
        (to_floor, to_rslock)
    });
    let values = |rates: &[Rates; 2], least: [f64; 2]| {
        [0, 1].map(|of| Value::at_least(least[of], rates[of].ratio).of_rate(rates[of].one))
    };
    findings.figure(
        "64 tasks, distinct keys, cycles to the floor's; without / with a token",
        values(&to_floor, [0.7, 0.45]),
        PerSecond(to_floor[0].other),
    );
    let row = findings.figure(
        "64 tasks, distinct keys, cycles to rslock's; without / with a token",
        values(&to_rslock, [1.0, 0.6]),
        NONE,
    );
    row.peers(PerSecond(to_rslock[0].other));
}

/// The work of each task.
fn of<C: Contestant>(contestant: C) -> impl Fn(usize) -> Cycle<C> {
    move |task| Cycle::of(contestant.clone(), format!("spread:{task}"))
}

/// The cycles per second of two contestants, and the median of the rounds' ratios.
struct Rates {
    ratio: f64,
    one: f64,
    other: f64,
}

/// One contestant, alternating with another on the same server.
async fn by_turns<A: Work, B: Work>(
    effort: Effort,
    one: impl Fn(usize) -> A,
    other: impl Fn(usize) -> B,
) -> Rates {
    let slice = effort.slice / 2;
    let mut rounds = Vec::new();
    for _ in 0..effort.rounds {
        // Alternately, twice each.
        let mut sums = (0.0, 0.0);
        for _ in 0..2 {
            sums.0 += cycles(&one, slice).await / 2.0;
            sums.1 += cycles(&other, slice).await / 2.0;
        }
        rounds.push(sums);
    }
    Rates {
        ratio: median(rounds.iter().map(|(one, other)| one / other)),
        one: median(rounds.iter().map(|round| round.0)),
        other: median(rounds.iter().map(|round| round.1)),
    }
}

/// The cycles per second of all tasks.
async fn cycles<W: Work>(work: &impl Fn(usize) -> W, time: Duration) -> f64 {
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for work in (0..TASKS).map(work) {
        tasks.spawn(async move {
            let mut cycles = 0;
            while start.elapsed() < time {
                work.once().await;
                cycles += 1;
            }
            cycles
        });
    }
    let cycles = tasks.join_all().await.into_iter().sum();
    rate(cycles, start.elapsed())
}
