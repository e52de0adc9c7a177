//! A place in the queue that passes from caller to caller.

use std::time::Duration;

use harness::{KEY, LOCK, LONG, QUEUE, ask, client, eventually, hold, ms, server_and_connection};
use redis::Connection;

/// The next caller takes over the queue entry only if it asks for the same ttl: a late acquire of that
/// owner would set the first caller's ttl.
#[tokio::test]
async fn a_place_in_the_queue_is_not_inherited_by_a_caller_with_another_ttl() {
    /// Shorter than a claim; the difference is longer than a busy machine takes to read it.
    const SHORT: Duration = ms(700);
    let (server, mut connection) = server_and_connection();
    let guard = hold(&client(server.url())).await;
    let ours = client(server.url());
    let first = tokio::spawn(ours.lock(KEY).ttl(ms(60_000)).wait(ms(400)).acquire());
    let entry = |connection: &mut Connection| -> Vec<String> {
        ask(connection, &["ZRANGEBYSCORE", QUEUE, "0", "+inf"])
    };
    let mut before = Vec::new();
    eventually("queue", LONG, async || {
        before = entry(&mut connection);
        !before.is_empty()
    })
    .await;
    let short = ours.lock(KEY).ttl(SHORT).renew(false).wait(LONG);
    let waiting = tokio::spawn(short.acquire());
    let error = first.await.unwrap().unwrap_err();
    assert!(error.is_busy(), "{error}");
    eventually("another entry", LONG, async || {
        let now = entry(&mut connection);
        now.len() == 1 && now != before
    })
    .await;
    guard.release().await.unwrap();
    let guard = waiting.await.unwrap().unwrap();
    let rest: i64 = ask(&mut connection, &["PTTL", LOCK]);
    assert!(rest <= SHORT.as_millis() as i64, "{rest} ms");
    guard.release().await.unwrap();
}
