//! The time from a release until the next holder, in another client, has the lock.
//!
//! Both clients are in this process, so that one clock measures both ends. They share the
//! background thread, but no connection and no message.

use std::mem::swap;
use std::time::{Duration, Instant};

use harness::RedisServer;
use redis::aio::MultiplexedConnection;

use crate::contestants::raw::ping;
use crate::contestants::{Contestant, Kind};
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::number::Short;
use crate::runtimes::Flavour;
use crate::stats::{Times, ratio};

const KEY: &str = "handoff:1";

/// The queue of its lock.
const QUEUE: &str = "{lock:handoff:1}:w";

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let (ours, pings) = handoffs(Kind::Ours, effort.handoffs);
    let ratio = ratio(ours.median(), pings.median());
    let row = findings.figure(
        "release to the waiter's confirmed grant, p50 to a PING",
        [Value::at_most(5.0, ratio).of(Short(ours.median()))],
        Short(pings.median()),
    );
    let peers = effort.of_peers();
    let [rslock, tuned] = Kind::PEERS.map(|peer| handoffs(peer, peers.handoffs).0);
    let both = [&rslock, &tuned].map(|times| Short(times.median()));
    row.peers(format_args!("{} / {}", both[0], both[1]));
}

/// The times of that many hand-offs, and of as many PINGs in between.
fn handoffs(kind: Kind, count: usize) -> (Times, Times) {
    let server = RedisServer::start();
    let url = server.url();
    Flavour::MultiThread.run(async move {
        let (mut holder, mut waiter) = (kind.connect(&url).await, kind.connect(&url).await);
        let mut raw = server.async_connection().await;
        let mut held = holder.acquire(KEY).await;
        let (mut handoffs, mut pings) = (Vec::new(), Vec::new());
        for round in 0..count {
            let waiting = tokio::spawn({
                let waiter = waiter.clone();
                async move {
                    let held = waiter.acquire(KEY).await;
                    (Instant::now(), held)
                }
            });
            if kind.is_ours() {
                queued(&mut raw).await;
            } else {
                tokio::time::sleep(pause(round)).await;
            }
            assert!(!waiting.is_finished(), "it must wait for the holder");

            let start = Instant::now();
            ping(&mut raw).await;
            pings.push(start.elapsed());

            let released = Instant::now();
            holder.release(held).await;
            let (granted, next) = waiting.await.expect("a waiter does not panic");
            handoffs.push(granted.saturating_duration_since(released));
            held = next;
            swap(&mut holder, &mut waiter);
        }
        (Times::new(handoffs), Times::new(pings))
    })
}

/// Waits until a waiter queues.
async fn queued(raw: &mut MultiplexedConnection) {
    loop {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let waiters: usize = redis::cmd("ZCARD")
            .arg(QUEUE)
            .query_async(raw)
            .await
            .expect("the server answers");
        if waiters > 0 {
            return;
        }
    }
}

/// A random time within the sleep of a polling client.
fn pause(round: usize) -> Duration {
    let spread = u64::try_from(round * 37 % 41).expect("it is small");
    Duration::from_millis(20 + spread)
}
