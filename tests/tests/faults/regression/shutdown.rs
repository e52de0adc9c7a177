//! When `shutdown` returns, nothing is left behind.

use std::pin::pin;
use std::time::Duration;

use harness::{
    Form, KEY, LONG, QUEUE, RedisServer, ask, client, failed, hold, is_awaited, is_free, ms,
    patient, server_and_connection, soon,
};
use lock_runtime::LockErrorKind;

/// A shutdown did not wait for the waiters that it stopped. Their queue entries remained, and could be
/// granted the lock.
#[tokio::test]
async fn a_waiter_has_left_the_queue_when_a_shutdown_returns() {
    let (server, mut connection) = server_and_connection();
    let holder = client(server.url());
    let _guard = hold(&holder).await;
    // Enough rounds to hit a race that is rarely lost.
    for round in 0..Form::of_this_run().pick(10, 40) {
        let client = client(server.url());
        let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
        is_awaited(&mut connection).await;
        client.shutdown().await;
        let entries: usize = ask(&mut connection, &["ZCARD", QUEUE]);
        assert_eq!(entries, 0, "queued in round {round}");
        failed(waiting.await.unwrap(), LockErrorKind::Shutdown);
    }
}

/// A shutdown missed a writer that was becoming a reader. The downgrade continued, and its guard was valid after the
/// shutdown.
#[tokio::test]
async fn a_downgrade_in_flight_is_ended_by_a_shutdown() {
    let server = RedisServer::start();
    for blocking in [false, true] {
        let builder = patient(server.url());
        let builder = builder.shutdown_grace(Duration::ZERO);
        let client = builder.command_timeout(ms(500)).build().unwrap();
        // However many attempts the server needs.
        let lock = client.lock(KEY).ttl(LONG * 3).wait(LONG);
        let writing = lock.acquire().await.unwrap();
        server.pause();
        let downgrading = async move {
            if blocking {
                let thread = tokio::task::spawn_blocking(|| writing.downgrade_blocking());
                thread.await.unwrap()
            } else {
                writing.downgrade().await
            }
        };
        let mut downgrading = pin!(downgrading);
        let early = tokio::time::timeout(ms(50), &mut downgrading).await;
        assert!(early.is_err(), "the server does not answer");
        client.shutdown().await;
        server.resume();
        let error = soon(downgrading).await.unwrap_err();
        assert!(error.is_lost(), "{error}");
        assert!(error.to_string().contains("shut down"), "{error}");
        let mut connection = server.connection();
        is_free(&mut connection, LONG).await;
    }
}
