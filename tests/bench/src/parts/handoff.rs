//! The time from a release to the next holder, which waits in another client.
//!
//! Both clients are in this process, so that one clock measures both ends. They share the background
//! thread, but no connection and no message.

use std::mem::swap;
use std::time::{Duration, Instant};

use harness::RedisServer;
use redis::aio::MultiplexedConnection;

use super::Setting;
use super::cycle::FLOOR;
use crate::contestants::{Contestant, Kind};
use crate::findings::{Findings, Goal, Value};
use crate::number::Short;
use crate::runtimes::Flavour;
use crate::stats::{Times, ratio};

const KEY: &str = "handoff:1";

/// The queue of its lock.
const QUEUE: &str = "{lock:handoff:1}:w";

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let effort = &setting.effort;
    let (ours, pings) = handoffs(Kind::Ours, effort.handoffs);
    findings.figure(
        "release to the waiter's confirmed grant, p50 to a PING",
        Value::new(Goal::AtMost(5.0), ratio(ours.median(), pings.median()))
            .of(Short(ours.median())),
        Short(pings.median()),
    );
    let column = if setting.beside {
        "release → grant p50 / p99, not pinned"
    } else {
        "release → grant p50 / p99"
    };
    let both = |times: &Times| {
        format!(
            "{} / {}",
            Short(times.median()),
            Short(times.percentile(99))
        )
    };
    findings.contestant(FLOOR, column, format_args!("{} (a PING)", both(&pings)));
    for kind in Kind::ALL {
        let times = match kind {
            Kind::Ours | Kind::InOrder => &ours,
            peer => &handoffs(peer, effort.peer_handoffs).0,
        };
        findings.contestant(kind.name(), column, both(times));
    }
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

/// A random time in the sleep of a polling client.
fn pause(round: usize) -> Duration {
    let spread = u64::try_from(round * 37 % 41).expect("it is small");
    Duration::from_millis(20 + spread)
}

async fn ping(raw: &mut MultiplexedConnection) {
    let ping = redis::cmd("PING");
    ping.exec_async(raw).await.expect("the server answers");
}
