//! Many locks that one process holds.

use std::fs;
use std::time::{Duration, Instant};

use harness::RedisServer;
use lock_runtime::LockGuard;
use tokio::task::JoinSet;

use crate::contestants::Ours;
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::number::Count;
use crate::runtimes::Flavour;

/// The number of callers that acquire many locks together.
const CALLERS: usize = 100;

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    held(findings, "", &server.url(), effort.held, effort, 25.0);
}

/// This many held locks with a ttl of 30 s, and the goal for the background thread's part of a
/// core.
pub(super) fn held(
    findings: &mut Findings,
    place: &str,
    url: &str,
    count: usize,
    effort: Effort,
    most: f64,
) {
    let part = Flavour::MultiThread.run(part_of_a_core(url.to_owned(), count, effort.watch));
    let count = Count(count);
    findings.figure(
        format!("{place}{count} held locks, the background thread's part of a core, %"),
        [Value::at_most(most, part * 100.0)],
        0,
    );
}

async fn part_of_a_core(url: String, count: usize, watch: Duration) -> f64 {
    let Ours(client) = Ours::connect(&url).await;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS.min(count) {
        let client = client.clone();
        callers.spawn(async move {
            let mut own = Vec::with_capacity(count.div_ceil(CALLERS));
            for n in (caller..count).step_by(CALLERS) {
                let guard = client.lock(format!("held:{n}")).acquire().await;
                own.push(guard.expect("the lock is free"));
            }
            own
        });
    }
    let guards: Vec<LockGuard> = callers.join_all().await.into_iter().flatten().collect();
    let (start, busy) = (Instant::now(), background());
    tokio::time::sleep(watch).await;
    let busy = background() - busy;
    let part = busy.as_secs_f64() / start.elapsed().as_secs_f64();
    let valid = guards.iter().all(LockGuard::is_valid);
    assert!(valid, "a lock was lost while it was held");
    part
}

/// The CPU time of the background thread so far.
fn background() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    let nanos = tasks.filter_map(|task| {
        let read = |file| fs::read_to_string(task.as_ref().ok()?.path().join(file)).ok();
        // The first number is the time on a core. A thread that ends meanwhile has no such file.
        let is_background = read("comm")?.trim() == "lock-background";
        let nanos = read("schedstat")?.split(' ').next()?.parse::<u64>().ok();
        nanos.filter(|_| is_background)
    });
    Duration::from_nanos(nanos.sum())
}
