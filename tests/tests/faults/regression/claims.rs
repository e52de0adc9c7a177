//! Locks that were handed over, and how long a holder that is killed keeps them.

use std::time::Duration;

use harness::{RedisServer, eventually};
use lock_runtime::{LockClient, LockGuard};
use redis::Connection;

use harness::{KEY, LOCK, LONG, QUEUE, ask, client, exists, hold, ms};

/// Shorter than a claim, by more than a busy machine takes to read it.
const SHORT: Duration = ms(700);

async fn queued(connection: &mut Connection) {
    eventually("queue", LONG, async || exists(connection, QUEUE)).await;
}

/// The rest of the lock's time is at most a lease.
async fn holds_for_no_more_than_its_ttl(connection: &mut Connection, guard: LockGuard) {
    let rest: i64 = ask(connection, &["PTTL", LOCK]);
    assert!(rest <= SHORT.as_millis() as i64, "{rest} ms");
    guard.release().await.unwrap();
}

fn short(client: &LockClient) -> lock_runtime::Acquire {
    client.lock(KEY).ttl(SHORT).renew(false).wait(LONG)
}

/// A claim lasts 1.5 s, and a confirmation could only lengthen it.
#[tokio::test]
async fn a_lock_that_was_handed_over_lasts_no_longer_than_its_ttl() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let guard = hold(&client(server.url())).await;
    let waiting = tokio::spawn(short(&client(server.url())).acquire());
    queued(&mut connection).await;
    guard.release().await.unwrap();
    let guard = waiting.await.unwrap().unwrap();
    holds_for_no_more_than_its_ttl(&mut connection, guard).await;
}

/// The next caller takes over the queue entry only if it asks for the same ttl: a late acquire of that
/// owner would set the first caller's ttl.
#[tokio::test]
async fn a_place_in_the_queue_is_not_left_to_a_caller_that_asks_for_another_ttl() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let guard = hold(&client(server.url())).await;
    let ours = client(server.url());
    let first = tokio::spawn(ours.lock(KEY).ttl(ms(60_000)).wait(ms(400)).acquire());
    queued(&mut connection).await;
    let entry = |connection: &mut Connection| -> Vec<String> {
        ask(connection, &["ZRANGEBYSCORE", QUEUE, "0", "+inf"])
    };
    let before = entry(&mut connection);
    let waiting = tokio::spawn(short(&ours).acquire());
    let error = first.await.unwrap().unwrap_err();
    assert!(error.is_busy(), "{error}");
    eventually("another entry", LONG, async || {
        let now = entry(&mut connection);
        now.len() == 1 && now != before
    })
    .await;
    guard.release().await.unwrap();
    let guard = waiting.await.unwrap().unwrap();
    holds_for_no_more_than_its_ttl(&mut connection, guard).await;
}
