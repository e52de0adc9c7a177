//! How much memory a process needs for each lock that it holds.

use std::time::Duration;

use harness::{LONG, RedisQuorum, RedisServer, patient};
use lock_runtime::{LockClient, LockGuard};
use tokio::task::JoinSet;

use crate::{COUNTING, alone};

const LOCKS: usize = 10_000;

/// The guard, the names, and the tables, which always have spare capacity.
const A_LOCK: usize = 1024;

/// In addition, the commands in flight to each of three nodes.
const A_LOCK_ON_A_QUORUM: usize = 3 * 1024;

/// Longer than the test takes, since a renewal in progress would be counted.
const TTL: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_held_lock_takes_less_than_a_kilobyte() {
    let _alone = alone().await;
    let server = RedisServer::start();
    takes_less_than(A_LOCK, server.url()).await;
}

#[tokio::test]
async fn a_held_lock_on_a_quorum_takes_less_than_three_kilobytes() {
    let _alone = alone().await;
    // A ttl is no longer than the restart delay.
    let nodes = (0..3).map(|_| RedisServer::builder());
    let quorum = RedisQuorum::of(nodes, TTL);
    takes_less_than(A_LOCK_ON_A_QUORUM, quorum.url()).await;
}

async fn takes_less_than(most: usize, url: String) {
    let client = patient(url).label("api-7").connect().await.unwrap();
    // The first locks grow the buffers that many simultaneous commands need.
    for guard in take(&client, "first", 200).await {
        guard.release().await.unwrap();
    }

    let before = allocated();
    let guards = take(&client, "order", LOCKS).await;
    let each = (allocated() - before) / LOCKS;
    println!("{each} bytes a lock");
    assert!(each <= most, "{each} bytes a lock");
    // Nothing but the locks was counted.
    assert!(each > size_of::<LockGuard>(), "{each} bytes a lock");
    assert!(guards.iter().all(LockGuard::is_valid));
    // Otherwise the next test would count what the background still frees.
    drop(guards);
    client.shutdown().await;
}

fn allocated() -> usize {
    let stats = COUNTING.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

async fn take(client: &LockClient, name: &str, locks: usize) -> Vec<LockGuard> {
    let mut guards = Vec::with_capacity(locks);
    let mut callers = JoinSet::new();
    for number in 0..locks {
        let lock = client.lock(format!("{name}:{number:08}"));
        let lock = lock.ttl(TTL).wait(LONG);
        callers.spawn(lock.acquire());
        if callers.len() == 64 {
            let first = callers.join_next().await;
            guards.push(first.expect("calls are in flight").unwrap().unwrap());
        }
    }
    let rest = callers.join_all().await;
    guards.extend(rest.into_iter().map(Result::unwrap));
    guards
}
