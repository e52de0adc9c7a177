//! Renewal never re-creates a lost lock and never shortens a lease.

use std::time::Instant;

use harness::RedisServer;
use lock_runtime::LockGuard;

use super::{KEY, LOCK, LONG, ask, client, ms, soon};

/// Waits until `count` renewals are carried out.
async fn renewals(server: &RedisServer, count: usize) {
    let mut monitor = server.monitor();
    let mut seen = 0;
    harness::eventually("renewal", LONG, async || {
        let commands = monitor.take();
        seen += commands.iter().filter(|c| c.name == "EVALSHA").count();
        seen >= count
    })
    .await;
}

#[tokio::test]
async fn line_6_a_deleted_lock_is_not_made_again() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let guard = client.lock(KEY).ttl(ms(300)).acquire().await.unwrap();
    let _: i64 = ask(&mut connection, &["DEL", LOCK]);
    soon(guard.lost()).await;
    assert!(soon(guard.renew()).await.unwrap_err().is_lost());
    assert_eq!(ask::<i64>(&mut connection, &["EXISTS", LOCK]), 0);
}

#[tokio::test]
async fn line_6_a_lock_of_another_is_not_extended() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    // The first renewal finds the other owner's lock, with less time left than it asks for.
    let guard = client.lock(KEY).ttl(ms(900)).acquire().await.unwrap();
    let _: () = ask(&mut connection, &["SET", LOCK, "theirs", "PX", "600"]);
    let set = Instant::now();
    soon(guard.lost()).await;
    // In this order, since the time until the answer would be missing from the rest.
    let passed = set.elapsed().as_millis();
    let left: i64 = ask(&mut connection, &["PTTL", LOCK]);
    let due = i64::try_from(600_u128.saturating_sub(passed)).unwrap();
    // A server may use the time of its last look at the clock.
    assert!(left <= due + 1, "{left} ms are left and {due} ms are due");
}

#[tokio::test]
async fn line_6_a_longer_lease_is_not_cut_short() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let guard = client.lock(KEY).ttl(ms(1_500)).acquire().await.unwrap();
    let _: i64 = ask(&mut connection, &["PEXPIRE", LOCK, "60000"]);
    renewals(&server, 2).await;
    by_hand(&guard).await;
    let left: i64 = ask(&mut connection, &["PTTL", LOCK]);
    assert!(left > 30_000, "it was cut to {left} ms");
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

async fn by_hand(guard: &LockGuard) {
    guard.renew().await.expect("the lock is ours");
}
