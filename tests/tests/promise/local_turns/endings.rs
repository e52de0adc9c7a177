//! A waiter that is gone at its turn is skipped, and nothing is left behind.

use harness::{KEY, LOCK, LONG, QUEUE, RedisServer, ask, client, eventually, hold, ms, soon};
use lock_runtime::LockErrorKind;

use super::line::{Line, Visits};

/// Whether nothing of the lock is left in Redis but its fence.
async fn is_free(server: &RedisServer) {
    let mut connection = server.connection();
    eventually("free lock", LONG, async || {
        let left: i64 = ask(&mut connection, &["EXISTS", LOCK, QUEUE]);
        left == 0
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_left_is_passed_over() {
    let server = RedisServer::start();
    let client = client(server.url());
    let visits = Visits::default();
    let first = hold(&client).await;
    let gone = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    let brief = tokio::spawn(client.lock(KEY).wait(ms(20)).acquire());
    let line = Line::of(1, &client, &visits).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    assert!(brief.await.unwrap().unwrap_err().is_busy());
    first.release().await.unwrap();
    line.served().await;
    is_free(&server).await;
}

/// The lease was passed to a caller that is never polled again.
#[tokio::test]
async fn a_caller_dropped_with_the_lease_passes_it_on() {
    let server = RedisServer::start();
    let client = client(server.url());
    let first = hold(&client).await;
    let token = first.fencing_token().get();
    let mut gone = Box::pin(client.lock(KEY).wait(LONG).acquire());
    let polled =
        std::future::poll_fn(|cx| std::task::Poll::Ready(gone.as_mut().poll(cx).is_ready()));
    assert!(!polled.await, "the lock is held");
    let next = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    first.release().await.unwrap();
    drop(gone);
    let next = soon(next).await.unwrap().unwrap();
    assert_eq!(
        next.fencing_token().get(),
        token + 2,
        "the token between is spent"
    );
    next.release().await.unwrap();
    is_free(&server).await;
}

#[tokio::test]
async fn a_body_that_panics_passes_the_lease_on() {
    let server = RedisServer::start();
    let client = client(server.url());
    let visits = Visits::default();
    let first = hold(&client).await;
    let token = first.fencing_token().get();
    let panics = tokio::spawn({
        let client = client.clone();
        async move {
            let _guard = hold(&client).await;
            panic!("on purpose");
        }
    });
    let line = Line::of(1, &client, &visits).await;
    first.release().await.unwrap();
    assert!(panics.await.unwrap_err().is_panic());
    line.served().await;
    assert_eq!(visits.tokens(), [token + 2]);
    is_free(&server).await;
}

#[tokio::test]
async fn a_shutdown_ends_the_local_queue() {
    let server = RedisServer::start();
    let client = client(server.url());
    let first = hold(&client).await;
    let waiting: Vec<_> = (0..3)
        .map(|_| tokio::spawn(client.lock(KEY).wait(LONG).acquire()))
        .collect();
    tokio::task::yield_now().await;
    let shutdown = tokio::spawn({
        let client = client.clone();
        async move { client.shutdown().await }
    });
    for caller in waiting {
        let error = soon(caller).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Shutdown);
    }
    first.release().await.unwrap();
    soon(shutdown).await.unwrap();
    is_free(&server).await;
}
