//! Redisson: a lease of 30 s renewed at a third, and a message on unlock that wakes a waiter. There, a
//! lease with an explicit time is not renewed; here it is. There, a lost message leaves the waiter
//! asleep until the lease ends.

use std::time::Instant;

use super::{KEY, LONG, LockClient, RedisServer, SLACK, ask, client, eventually, hold, ms, pttl};

/// A waiter in the queue, behind this many others.
async fn waiter(
    server: &RedisServer,
    client: &LockClient,
    before: i64,
) -> tokio::task::JoinHandle<lock_runtime::LockGuard> {
    let acquire = client.lock(KEY).wait(LONG).acquire();
    let waiting = tokio::spawn(async { acquire.await.expect("it is handed on") });
    let mut connection = server.connection();
    eventually("waiter in the queue", LONG, async || {
        let queue = ["ZCOUNT", harness::QUEUE, "0", "+inf"];
        ask::<i64>(&mut connection, &queue) == before + 1
    })
    .await;
    waiting
}

#[tokio::test]
async fn a_lease_is_30_s_long_and_renewed_though_a_time_was_given() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let guard = hold(&client).await;
    assert!((20_000..=30_000).contains(&pttl(&mut connection)));
    guard.release().await.unwrap();

    let timed = client.lock(KEY).ttl(ms(1_500)).acquire().await.unwrap();
    tokio::time::sleep(ms(2_000)).await;
    timed.release().await.expect("held for longer than its ttl");
}

#[tokio::test]
async fn waiters_are_served_in_order_as_soon_as_the_lock_is_free() {
    let server = RedisServer::start();
    let clients: Vec<_> = (0..4).map(|_| client(server.url())).collect();
    let holder = hold(&clients[0]).await;
    let mut waiting = Vec::new();
    for (before, client) in (0..).zip(&clients[1..]) {
        waiting.push(waiter(&server, client, before).await);
    }
    let mut last = holder.fencing_token();
    holder.release().await.unwrap();
    for next in waiting {
        let guard = next.await.unwrap();
        assert!(guard.fencing_token() > last, "out of order");
        last = guard.fencing_token();
        guard.release().await.unwrap();
    }
}

#[tokio::test]
async fn a_lost_message_costs_a_poll_and_not_the_lease() {
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let holder = hold(&one).await;
    let waiting = waiter(&server, &other, 0).await;
    // The release of another program: it sends no message.
    super::delete(&mut server.connection());
    let freed = Instant::now();
    waiting.await.unwrap().release().await.unwrap();
    let elapsed = freed.elapsed();
    assert!(elapsed < ms(600) + SLACK, "it slept for {elapsed:?}");
    assert!(holder.release().await.unwrap_err().is_lost());
}
