//! Failures of a hold are reported inside its span, also from the background thread.

use harness::{Proxy, RedisServer};
use lock_runtime::{LockGuard, distributed_lock};

use super::{LONG, LockClient, LockError, ask, client, eventually, ms};
use crate::journal::{self, only, told};

#[distributed_lock(key = "fails:<id>", ttl = "3s", client = locks, guard = held)]
async fn unrenewed(
    locks: &LockClient,
    id: u8,
    body: impl AsyncFnOnce(&LockGuard),
) -> Result<(), LockError> {
    body(held).await;
    Ok(())
}

#[tokio::test]
async fn a_failed_renewal_is_reported_and_the_hold_goes_on() {
    crate::record();
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let locks = client(proxy.url());
    let body = async |_: &LockGuard| {
        proxy.refuse(true);
        proxy.kill_connections();
        eventually("failed renewal", LONG, async || {
            !told("renewal_failed", "fails:<id>").is_empty()
        })
        .await;
        proxy.refuse(false);
    };
    unrenewed(&locks, 1, body).await.unwrap();

    let failed = told("renewal_failed", "fails:<id>").remove(0);
    assert_eq!(failed.parent, Some("lock_hold"));
    assert!(!failed.field("fault").is_empty());
    // Earlier failures are not logged: the broken connection was reported, and no regular renewal was
    // due.
    let failures = u64::try_from(failed.number("failures")).unwrap();
    assert!(failures.is_power_of_two(), "{failures}");
    let hold = only("lock_hold", "fails:<id>");
    assert_eq!(hold.field("outcome"), "released");
}

#[distributed_lock(key = "deleted:<id>", ttl = "3s", client = locks)]
async fn deleted(locks: &LockClient, id: u8, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    std::future::pending().await
}

#[tokio::test]
async fn a_loss_is_reported_with_its_reason_and_ends_the_hold() {
    crate::record();
    let server = RedisServer::start();
    let locks = client(server.url());
    let body = async || {
        let deleted: i64 = ask(&mut server.connection(), &["DEL", "lock:deleted:1"]);
        assert_eq!(deleted, 1);
    };
    assert!(deleted(&locks, 1, body).await.unwrap_err().is_lost());

    let lost = only("lock_lost", "deleted:<id>");
    assert_eq!(lost.parent, Some("lock_hold"));
    assert_eq!(lost.field("function"), "deleted");
    assert!(lost.field("reason").contains("no longer"), "{lost:?}");
    let hold = only("lock_hold", "deleted:<id>");
    assert_eq!(hold.field("outcome"), "lost");
    assert_eq!(hold.number("token"), lost.number("token"));
}

#[distributed_lock(key = "unanswered:<id>", ttl = "1s", client = locks)]
async fn unanswered(locks: &LockClient, id: u8, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    Ok(())
}

#[tokio::test]
async fn a_release_without_an_answer_is_reported() {
    crate::record();
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let locks = client(proxy.url());
    unanswered(&locks, 1, async || proxy.black_hole())
        .await
        .unwrap();

    let told = only("release_unconfirmed", "unanswered:<id>");
    assert_eq!(told.parent, Some("lock_hold"));
    let hold = only("lock_hold", "unanswered:<id>");
    assert_eq!(hold.field("outcome"), "unconfirmed");
    assert_eq!(hold.number("token"), told.number("token"));
    // Not even if the ttl ended before an answer came.
    let lost = journal::told("lock_lost", "unanswered:<id>");
    assert!(lost.is_empty(), "it was held until the end: {lost:?}");
}

#[distributed_lock(key = "cancelled:<id>", client = locks)]
async fn cancelled(locks: &LockClient, id: u8) -> Result<(), LockError> {
    std::future::pending().await
}

#[tokio::test]
async fn a_hold_whose_caller_goes_away_is_dropped() {
    crate::record();
    let locks = LockClient::memory();
    let call = tokio::time::timeout(ms(20), cancelled(&locks, 1));
    call.await.unwrap_err();
    let hold = only("lock_hold", "cancelled:<id>");
    assert_eq!(hold.field("outcome"), "dropped");
    assert!(hold.time("held_ms") > ms(0), "{hold:?}");
}
