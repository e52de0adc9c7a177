//! From a release to the next holder, which waits in another client.
//!
//! Both clients are in this process, so that one clock measures both ends. They share the
//! background thread, but neither its connections nor anything that is said over them.

use std::mem::swap;
use std::time::{Duration, Instant};

use harness::{PATIENCE, RawLock, RedisServer};

use crate::client;
use crate::report::Report;
use crate::stats::{Short, Times};

const KEY: &str = "handoff:1";
const ROUNDS: usize = 500;

/// The time between two looks at the queue.
const STEP: Duration = Duration::from_millis(1);

pub(crate) async fn measure(report: &mut Report) {
    let server = RedisServer::start();
    let mut lock = RawLock::new(&server, KEY);
    let mut raw = server.async_connection().await;
    let (mut holder, mut waiter) = (client(&server).await, client(&server).await);
    let mut guard = holder.lock(KEY).acquire().await.expect("the lock is free");

    let (mut handoffs, mut pings) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let waiting = tokio::spawn({
            let acquire = waiter.lock(KEY).wait(PATIENCE);
            async move {
                let guard = acquire.acquire().await.expect("it is handed over");
                (Instant::now(), guard)
            }
        });
        while lock.queue().is_empty() {
            tokio::time::sleep(STEP).await;
        }

        let released = Instant::now();
        guard.release().await.expect("it was held throughout");
        let (granted, next) = waiting.await.expect("a waiter does not panic");
        handoffs.push(granted - released);
        guard = next;
        swap(&mut holder, &mut waiter);

        let start = Instant::now();
        redis::cmd("PING")
            .exec_async(&mut raw)
            .await
            .expect("the server answers");
        pings.push(start.elapsed());
    }

    let (handoffs, pings) = (Times::new(handoffs), Times::new(pings));
    let both = |times: &Times| {
        format!(
            "{} / {}",
            Short(times.median()),
            Short(times.percentile(99))
        )
    };
    report.row(
        "hand-off, release to grant, median / p99",
        both(&handoffs),
        format!("{} (one PING)", both(&pings)),
    );
}
