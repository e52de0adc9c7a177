//! The cost of a lock among many others, and of a hand-off with many waiters.

use std::time::{Duration, Instant};

use harness::RedisServer;
use lock_runtime::LockGuard;
use tokio::task::JoinSet;

use super::Setting;
use crate::contestants::{Contestant, Kind, Ours, Raw};
use crate::findings::{Findings, Goal, Value};
use crate::log::Window;
use crate::number::{Count, Number};
use crate::pair::{Cycle, Work};
use crate::race::log;
use crate::runtimes::Flavour;
use crate::stats::{median, rate};

const KEY: &str = "order:42";

/// These callers acquire the locks that are held meanwhile.
const CALLERS: usize = 100;

/// Growth within this factor counts as none.
const FLAT: f64 = 1.2;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    cycles(findings, setting);
    handoffs(findings, setting);
}

fn cycles(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    let url = server.url();
    let others = [1, setting.effort.held / 100, setting.effort.held];
    let rates = Flavour::MultiThread.run(async move {
        let (ours, raw) = (Ours::connect(&url).await, Raw::connect(&url).await);
        let (mut guards, mut rates) = (Vec::new(), Vec::new());
        for count in others {
            hold(&ours, &mut guards, count).await;
            rates.push(to_the_floor(&ours, &raw, setting).await);
        }
        give_back(guards).await;
        rates
    });
    row(
        findings,
        "a cycle with",
        "other held locks",
        &others,
        &rates,
    );
}

/// Acquires more locks, up to that many.
async fn hold(ours: &Ours, guards: &mut Vec<LockGuard>, count: usize) {
    let mut callers = JoinSet::new();
    let first = guards.len();
    for caller in 0..CALLERS {
        let ours = ours.clone();
        callers.spawn(async move {
            let mut own = Vec::new();
            for n in (first + caller..count).step_by(CALLERS) {
                own.push(ours.acquire(&format!("held:{n}")).await);
            }
            own
        });
    }
    guards.extend(callers.join_all().await.into_iter().flatten());
}

/// Releases the locks before the next measurement.
async fn give_back(mut guards: Vec<LockGuard>) {
    let mut callers = JoinSet::new();
    let share = guards.len().div_ceil(CALLERS);
    while !guards.is_empty() {
        let own = guards.split_off(guards.len().saturating_sub(share));
        callers.spawn(async move {
            for guard in own {
                guard.release().await.expect("it was held throughout");
            }
        });
    }
    callers.join_all().await;
}

/// The ratio of cycles per second to the floor's, as the median of the rounds.
async fn to_the_floor(ours: &Ours, raw: &Raw, setting: Setting) -> f64 {
    let (ours, raw) = (Cycle(ours.clone(), KEY), Cycle(raw.clone(), KEY));
    let mut rounds = Vec::new();
    for _ in 0..setting.effort.rounds {
        let slice = setting.effort.slice;
        rounds.push(often(&ours, slice).await / often(&raw, slice).await);
    }
    median(rounds)
}

/// Per second.
async fn often(work: &impl Work, time: Duration) -> f64 {
    let (start, mut times) = (Instant::now(), 0);
    while start.elapsed() < time {
        work.once().await;
        times += 1;
    }
    rate(times, start.elapsed())
}

/// Without local turns, which are no hand-offs.
fn handoffs(findings: &mut Findings, setting: Setting) {
    let (server, runtime) = (RedisServer::start(), Flavour::MultiThread.runtime());
    let contestant = runtime.block_on(Kind::InOrder.connect(&server.url()));
    let waiters = [1, setting.effort.crowd / 100, setting.effort.crowd];
    let rates = waiters.map(|waiters| {
        let rounds = (0..setting.effort.rounds).map(|round| {
            // All waiters must be in the queue before the measurement.
            let line = Duration::from_micros(100) * waiters;
            let window = Window::after(setting.effort.slice / 4 + line, setting.effort.slice);
            let key = format!("growth:{waiters}:{round}");
            runtime
                .block_on(log(&contestant, &key, waiters + 1, window))
                .rate()
        });
        median(rounds)
    });
    let waiters = waiters.map(|waiters| waiters as usize);
    row(findings, "a hand-off with", "waiters", &waiters, &rates);
}

/// The worst slowdown against the smallest number.
fn row(findings: &mut Findings, what: &str, of: &str, counts: &[usize], rates: &[f64]) {
    let slower = rates.iter().map(|rate| rates[0] / rate);
    let counts: Vec<String> = counts
        .iter()
        .map(|&count| Count(count).to_string())
        .collect();
    let shown: Vec<String> = slower
        .clone()
        .map(|slower| Number(slower).to_string())
        .collect();
    findings.figure(
        &format!("{what} {} {of}, time to the first", counts.join(", ")),
        Value::new(Goal::AtMost(FLAT), slower.fold(0.0, f64::max)).shown(shown.join(", ")),
        "1 (flat)",
    );
}
