//! Releases whose answers the client does not await.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use harness::{
    KEY, LOCK, LONG, Mode, RedisServer, exists, hold, is_awaited, is_free, ms, patient, served,
    server_and_connection, server_and_proxy, soon,
};
use lock_runtime::LockClient;

/// A connected client that does not await the answers to its releases; the server knows its scripts.
async fn hasty(url: String) -> LockClient {
    let client = patient(url).await_release(false);
    let client = client.build().unwrap();
    for _ in 0..2 {
        hold(&client).await.release().await.unwrap();
    }
    client
}

#[tokio::test]
async fn a_release_does_not_wait_for_its_answer() {
    let (server, proxy) = server_and_proxy();
    let client = hasty(proxy.url()).await;
    let guard = hold(&client).await;
    proxy.replies(Mode::Hold);
    let mut release = pin!(guard.release());
    let released = poll_fn(|cx| Poll::Ready(release.as_mut().poll(cx))).await;
    assert!(matches!(released, Poll::Ready(Ok(()))), "{released:?}");
    is_free(&mut server.connection(), LONG).await;
    proxy.heal();
}

#[tokio::test]
async fn a_waiter_of_another_client_is_served() {
    let (server, mut connection) = server_and_connection();
    let (client, other) = (hasty(server.url()).await, harness::client(server.url()));
    let guard = hold(&client).await;
    let waiting = tokio::spawn(async move { hold(&other).await });
    is_awaited(&mut connection).await;
    guard.release().await.unwrap();
    // The waiter is also served before a caller that asks right after the release.
    let behind = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    let first = soon(waiting).await.unwrap();
    assert!(!behind.is_finished());
    first.release().await.unwrap();
    served(behind).await.release().await.unwrap();
    soon(client.shutdown()).await;
    assert!(!exists(&mut server.connection(), LOCK));
}

/// The release of a dropped guard is not awaited either. A later command runs after it: an attempt without a wait finds
/// the lock free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_guard_frees_its_lock_at_once() {
    let server = RedisServer::start();
    // A command that times out is repeated, which may change the order.
    let client = patient(server.url());
    let client = client.connect().await.unwrap();
    let attempts = tokio::spawn(async move {
        // Loads the scripts: a command whose script the server does not know is repeated, after the next command.
        hold(&client).await.release().await.unwrap();
        for attempt in 0..500 {
            let guard = soon(client.lock(KEY).try_acquire()).await.unwrap();
            drop(guard.unwrap_or_else(|| panic!("attempt {attempt} was too early")));
        }
        soon(client.shutdown()).await;
    });
    attempts.await.unwrap();
    assert!(!exists(&mut server.connection(), LOCK));
}

/// The deadline decides.
#[tokio::test]
async fn a_release_after_the_deadline_is_a_loss() {
    let server = RedisServer::start();
    let client = hasty(server.url()).await;
    let guard = client.lock(KEY).ttl(ms(50)).renew(false).await.unwrap();
    soon(guard.lost()).await;
    assert!(guard.release().await.unwrap_err().is_lost());
}

#[tokio::test]
async fn a_shutdown_waits_for_sent_releases() {
    // A drop also sends a release.
    for is_dropped in [false, true] {
        let (server, proxy) = server_and_proxy();
        let client = hasty(proxy.url()).await;
        let guard = hold(&client).await;
        proxy.requests(Mode::Delay(ms(200)));
        if is_dropped {
            drop(guard);
        } else {
            guard.release().await.unwrap();
        }
        soon(client.shutdown()).await;
        assert!(!exists(&mut server.connection(), LOCK));
    }
}
