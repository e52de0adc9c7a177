//! Leases that expire, or pass to another caller, before their caller is polled.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use harness::{
    KEY, LONG, Mode, Proxy, RedisServer, bring_scripts, eventually, hold, ms, owner_on, soon,
};
use lock_runtime::{LockClient, LockGuard};

/// A server, a proxy, and a patient client. The server knows the client's scripts.
async fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.command_timeout(LONG).build().unwrap();
    bring_scripts(&client).await;
    (server, proxy, client)
}

/// Polls once.
async fn is_ready<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

/// Begins a release that names the head of the local queue as successor. Waits until the server has
/// handed the lock over; the proxy holds the answer back, so the client does not know.
async fn hand_over_unheard(
    server: &RedisServer,
    proxy: &Proxy,
    guard: LockGuard,
) -> tokio::task::JoinHandle<()> {
    let before = owner_on(server);
    proxy.replies(Mode::Hold);
    let release = tokio::spawn(async move { guard.release().await.expect("it was held") });
    eventually("hand-over", LONG, async || owner_on(server) != before).await;
    release
}

/// The hand-off is answered after the lease has expired: the caller requests the lock again.
#[tokio::test]
async fn a_lease_that_expires_before_its_hand_off_is_known_is_acquired_again() {
    // Long enough for the caller to receive its grant on a busy machine.
    const TTL: Duration = ms(4_000);
    let (server, proxy, client) = behind_a_proxy().await;
    let guard = hold(&client).await;
    let next = tokio::spawn(client.lock(KEY).ttl(TTL).wait(LONG).acquire());
    tokio::task::yield_now().await;
    let release = hand_over_unheard(&server, &proxy, guard).await;
    eventually("end of that lease", LONG, async || {
        owner_on(&server).is_none()
    })
    .await;
    proxy.heal();
    let guard = soon(next).await.unwrap().expect("it has time to ask again");
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    release.await.unwrap();
}

/// If the caller is polled late, but in time, its lease is renewed from then on.
#[tokio::test]
async fn a_grant_that_is_fetched_late_is_renewed() {
    let server = RedisServer::start();
    let ours = harness::client(server.url());
    let ttl = ms(4_000);
    let guard = hold(&harness::client(server.url())).await;
    let mut late = pin!(ours.lock(KEY).ttl(ttl).wait(LONG).acquire());
    assert!(!is_ready(late.as_mut()).await, "it is held");
    guard.release().await.unwrap();
    // Past its first renewal.
    tokio::time::sleep(ttl * 6 / 10).await;
    let guard = late.await.expect("there is time left");
    let lost = tokio::time::timeout(ttl * 5 / 4, guard.lost()).await;
    assert!(lost.is_err(), "it is renewed");
    guard.release().await.unwrap();
}
