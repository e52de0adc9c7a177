//! Many waiters of several processes while the holder sleeps.

use std::time::Duration;

use harness::{RawLock, RedisServer, Worker, wait_until};

use super::Setting;
use crate::contestants::{Contestant, Kind, Ours};
use crate::field::worker;
use crate::findings::{Findings, Goal, Value};
use crate::meter::Meter;
use crate::number::Count;
use crate::runtimes::Flavour;
use crate::stats::{float, rate};

const KEY: &str = "crowd:1";
const PROCESSES: usize = 4;

/// The time until all of them are served.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let (waiters, sleep) = (setting.effort.waiters, setting.effort.sleep);
    // Their work under the lock is on another server.
    let (server, resource) = (RedisServer::start(), RedisServer::start());
    let (mut lock, mut meter) = (RawLock::new(&server, KEY), Meter::new(&server));
    let runtime = Flavour::MultiThread.runtime();
    let holder = runtime.block_on(Ours::connect(&server.url()));
    let held = runtime.block_on(holder.acquire(KEY));

    let each = waiters / PROCESSES;
    let mut workers: Vec<Worker> = (0..PROCESSES).map(|_| worker(&server, &resource)).collect();
    for worker in &mut workers {
        worker.send(&format!("crowd {KEY} 30000 {} {each}", LIMIT.as_millis()));
    }
    wait_until("every process in the queue", LIMIT, || {
        lock.queue().len() == PROCESSES
    });

    let count = |meter: &mut Meter| meter.calls(Kind::Ours.commands());
    let before = count(&mut meter);
    runtime.block_on(async { tokio::time::sleep(sleep).await });
    let commands = usize::try_from(count(&mut meter) - before).expect("they are few");
    runtime.block_on(holder.release(held));

    let answers: Vec<String> = workers
        .iter()
        .map(|worker| {
            worker
                .line(LIMIT + LIMIT)
                .expect("it is served, or says why not")
        })
        .collect();
    let served: usize = answers.iter().filter_map(|answer| crowded(answer)).sum();
    let asleep = each * PROCESSES - served;

    let commands = rate(commands, sleep) / float(PROCESSES);
    findings.figure(
        &format!(
            "{} waiters on a key in 4 processes, commands a second of each, holder asleep",
            Count(waiters)
        ),
        Value::new(Goal::AtMost(10.0), commands),
        0,
    );
    findings.figure(
        &format!("of the {} waiters, left asleep", Count(waiters)),
        Value::new(Goal::AtMost(0.0), float(asleep)),
        0,
    );
    findings.demand(
        asleep == 0,
        &format!("{asleep} waiters were left asleep: {answers:?}"),
    );
}

/// The number of waiters that were served in the order in which they asked.
fn crowded(answer: &str) -> Option<usize> {
    answer.strip_prefix("crowded ")?.parse().ok()
}
