//! Grants that their caller does not fetch.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use harness::RedisServer;
use lock_runtime::{LockClient, LockErrorKind};

use harness::{KEY, LONG, client, hold, ms};

const TTL: Duration = ms(400);

/// Polls a future once; it is not polled again.
fn poll_once<F: Future>(future: Pin<&mut F>) -> bool {
    future
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_ready()
}

/// A future that is not polled, in a `select!` loop, a buffer or a leaked box, was granted the lock.
/// The lock was renewed for as long as the future lived.
async fn is_not_kept(ours: LockClient, others: LockClient) {
    let guard = hold(&ours).await;
    let lock = ours.lock(KEY).ttl(TTL).wait(LONG);
    let mut unpolled = Box::pin(lock.acquire());
    assert!(!poll_once(unpolled.as_mut()), "it is held");
    guard.release().await.unwrap();
    let waiting = others.lock(KEY).wait(LONG).acquire().await;
    let next = waiting.expect("the lease of the one that does not come ends");
    // The memory backend has put the caller back into the queue.
    next.release().await.unwrap();
    match unpolled.await {
        Ok(guard) => drop(guard),
        Err(error) => assert_eq!(error.kind(), LockErrorKind::Lost, "{error}"),
    }
}

#[tokio::test]
async fn an_unclaimed_grant_ends_with_its_ttl() {
    let server = RedisServer::start();
    is_not_kept(client(server.url()), client(server.url())).await;
}

#[tokio::test]
async fn an_unclaimed_grant_ends_with_its_ttl_in_its_own_client() {
    let server = RedisServer::start();
    let ours = client(server.url());
    is_not_kept(ours.clone(), ours).await;
}

#[tokio::test]
async fn an_unclaimed_grant_ends_with_its_ttl_in_memory() {
    let ours = LockClient::memory();
    is_not_kept(ours.clone(), ours).await;
}

/// The lease of a caller that is polled late, but in time, is renewed from then on.
#[tokio::test]
async fn a_grant_that_is_fetched_late_is_renewed() {
    let server = RedisServer::start();
    let ours = client(server.url());
    let ttl = ms(2_000);
    let guard = hold(&client(server.url())).await;
    let mut late = Box::pin(ours.lock(KEY).ttl(ttl).wait(LONG).acquire());
    assert!(!poll_once(late.as_mut()), "it is held");
    guard.release().await.unwrap();
    // Past its first renewal.
    tokio::time::sleep(ttl * 6 / 10).await;
    let guard = late.await.expect("there is time left");
    let lost = tokio::time::timeout(ttl * 2, guard.lost()).await;
    assert!(lost.is_err(), "it is renewed");
    guard.release().await.unwrap();
}
