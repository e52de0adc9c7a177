//! What is left behind when `shutdown` returns: nothing.

use std::time::Duration;

use harness::{RedisServer, cycle, eventually};
use lock_runtime::{LockClient, LockErrorKind};

use harness::{KEY, LOCK, LONG, QUEUE, ask, client, exists, hold, ms};

/// Enough to meet a race that is won now and then.
const ROUNDS: usize = 40;

/// A shutdown did not wait for a release that was asked for a moment before: it was counted as
/// under way only when its task first ran.
#[tokio::test]
async fn a_lock_that_was_dropped_before_a_shutdown_is_free_after_it() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    for round in 0..ROUNDS {
        let client = client(server.url());
        drop(hold(&client).await);
        client.shutdown().await;
        assert!(!exists(&mut connection, LOCK), "held in round {round}");
    }
}

/// Nor did it wait for those who were told to stop waiting: their places in the queue were still
/// there, and would have been served.
#[tokio::test]
async fn a_waiter_has_left_the_queue_when_a_shutdown_returns() {
    let server = RedisServer::start();
    let holder = client(server.url());
    let _guard = hold(&holder).await;
    let mut connection = server.connection();
    for round in 0..ROUNDS {
        let client = client(server.url());
        let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
        eventually("waiter in the queue", LONG, async || {
            exists(&mut connection, QUEUE)
        })
        .await;
        client.shutdown().await;
        let entries: usize = ask(&mut connection, &["ZCARD", QUEUE]);
        assert_eq!(entries, 0, "queued in round {round}");
        let error = waiting.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Shutdown, "{error}");
    }
}

/// A guard that was kept through a shutdown was renewed for ever: nobody could have the lock, and
/// its holder was told that it was lost.
#[tokio::test]
async fn a_hold_that_a_shutdown_ended_is_not_renewed() {
    let server = RedisServer::start();
    let builder = LockClient::builder().url(server.url());
    let client = builder.shutdown_grace(Duration::ZERO).build().unwrap();
    let guard = client.lock(KEY).ttl(ms(300)).acquire().await.unwrap();
    client.shutdown().await;
    assert!(!guard.is_valid());
    let mut connection = server.connection();
    eventually("end of the lease", LONG, async || {
        !exists(&mut connection, LOCK)
    })
    .await;
    drop(guard);
}

/// A timeout that no clock reaches was added to one: the panic came back as `Shutdown`, or as a panic.
#[tokio::test]
async fn a_command_timeout_may_be_as_long_as_a_duration() {
    let server = RedisServer::start();
    for url in [server.url(), "memory://".to_owned()] {
        let client = LockClient::builder()
            .url(url)
            .command_timeout(Duration::MAX);
        let client = client.connect().await.unwrap();
        cycle(&client).await;
        client.shutdown().await;
    }
}
