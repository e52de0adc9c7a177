//! A span for each acquisition and for each hold.

use harness::{RedisServer, failed, server_and_connection};
use lock_runtime::{LockErrorKind, distributed_lock};
use tracing::Instrument;

use super::{LONG, LockClient, LockError, ask, client, eventually, ms};
use crate::journal::{mentions, only, told};

#[distributed_lock(key = "spans-of:<id>", client = locks)]
async fn work(locks: &LockClient, id: &str) -> Result<(), LockError> {
    tracing::info!(template = "inside spans-of", "body");
    again(locks, id).await?;
    tokio::time::sleep(ms(30)).await;
    Ok(())
}

/// The same key under another template, `again`, so that its records can be distinguished.
#[distributed_lock(key = format!("spans-of:{id}"), client = locks)]
async fn again(locks: &LockClient, id: &str) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn a_call_is_a_wait_and_a_hold_in_the_span_of_its_caller() {
    crate::record();
    let (server, mut connection) = server_and_connection();
    let locks = client(server.url());
    let caller = tracing::info_span!("caller");
    let elsewhere = client(server.url()).lock("spans-of:discreet");
    let holder = elsewhere.acquire().await.unwrap();
    let call = tokio::spawn(
        async move { work(&locks, "discreet").await.unwrap() }.instrument(caller.clone()),
    );
    eventually("waiter in the queue", LONG, async || {
        ask::<i64>(&mut connection, &["EXISTS", "{lock:spans-of:discreet}:w"]) == 1
    })
    .await;
    tokio::time::sleep(ms(30)).await;
    holder.release().await.unwrap();
    call.await.unwrap();

    let acquire = only("lock_acquire", "spans-of:<id>");
    assert_eq!(acquire.field("outcome"), "acquired");
    assert_eq!(acquire.field("function"), "work");
    assert_eq!(acquire.field("mode"), "exclusive");
    assert_eq!(acquire.parent, Some("caller"));
    assert!(acquire.time("waited_ms") >= ms(29), "{acquire:?}");
    let hold = only("lock_hold", "spans-of:<id>");
    assert_eq!(hold.field("outcome"), "released");
    assert_eq!(hold.field("function"), "work");
    assert_eq!(hold.parent, Some("caller"));
    assert!(hold.time("held_ms") >= ms(29), "{hold:?}");

    let body = only("body", "inside spans-of");
    assert_eq!(
        body.parent,
        Some("caller"),
        "a body is in its caller's span"
    );
    let acquired = only("lock_acquired", "spans-of:<id>");
    assert_eq!(acquired.parent, Some("lock_acquire"));
    assert_eq!(acquired.number("token"), hold.number("token"));
    assert_eq!(acquired.number("waited_ms"), acquire.number("waited_ms"));
    let nested = [told("lock_acquire", "again"), told("lock_hold", "again")].concat();
    assert!(nested.is_empty(), "a nested call is silent: {nested:?}");
    assert!(!mentions("discreet"), "a key was reported");
}

#[tokio::test]
async fn a_call_without_the_lock_reports_the_reason() {
    crate::record();
    let locks = LockClient::memory();
    let _holder = locks.lock("refused").acquire().await.unwrap();

    refused(&locks, 0).await.unwrap_err();
    let busy = only("lock_acquire", "refused");
    assert_eq!(busy.field("outcome"), "busy");
    let told_busy = only("lock_not_acquired", "refused");
    assert_eq!(told_busy.number("waited_ms"), busy.number("waited_ms"));
    assert!(told("lock_hold", "refused").is_empty());

    // The acquisition is dropped while it waits.
    let waited = async { tokio::time::sleep(ms(20)).await };
    tokio::select! {
        biased;
        _ = refused(&locks, 60_000) => panic!("the lock is held"),
        // Counted from here, since the acquisition has begun.
        () = waited => {}
    }
    let dropped = told("lock_acquire", "refused").pop().unwrap();
    assert_eq!(dropped.field("outcome"), "dropped");
    assert!(dropped.time("waited_ms") >= ms(19), "{dropped:?}");

    // Contention does not mark a span as an error, and an outage does.
    assert!(!busy.has("otel.status_code") && !dropped.has("otel.status_code"));
    let mut server = RedisServer::start();
    server.kill9();
    let gone = client(server.url()).lock("gone").permits(2).name("gone");
    gone.wait(ms(0)).acquire().await.unwrap_err();
    let gone = only("lock_acquire", "gone");
    assert_eq!(gone.field("outcome"), "unavailable");
    assert_eq!(gone.field("mode"), "permits");
    assert_eq!(gone.field("otel.status_code"), "ERROR");

    failed(locks.lock("").acquire().await, LockErrorKind::InvalidKey);
    let by_hand = told("lock_acquire", "-");
    let mut outcomes = by_hand.iter().map(|line| line.field("outcome"));
    assert!(outcomes.any(|outcome| outcome == "invalid_key"));
}

#[distributed_lock(key = String::from("refused"), wait = ms(wait), client = locks)]
async fn refused(locks: &LockClient, wait: u64) -> Result<(), LockError> {
    Ok(())
}
