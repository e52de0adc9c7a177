//! Readers, writers and permits inside each other: what a call tree holds decides at once, without a round trip.

use harness::token_of;
use lock_runtime::{Acquire, LockClient, LockError, LockErrorKind, LockGuard};

use super::{Crowd, KEY, LONG, soon};

type Asking = fn(Acquire) -> Acquire;

/// The ways to ask for the lock.
const MODES: [(&str, Asking); 6] = [
    ("plain", |lock| lock),
    ("write", Acquire::write),
    ("read", Acquire::read),
    ("1 permit", |lock| lock.permits(5)),
    ("2 permits", |lock| lock.permits(5).take(2)),
    ("3 permits", |lock| lock.permits(5).take(3)),
];

/// What may be requested inside each mode, in the same order.
const MAY_NEST: [[bool; 6]; 6] = [
    [true; 6],
    [true; 6],
    [false, false, true, false, false, false],
    [false, false, false, true, false, false],
    [false, false, false, true, true, false],
    [false, false, false, true, true, true],
];

async fn nested(
    client: &LockClient,
    outer: fn(Acquire) -> Acquire,
    inner: fn(Acquire) -> Acquire,
) -> Result<(), LockError> {
    let body = async |outer: &LockGuard| {
        let body = async |inner: &LockGuard| {
            assert_eq!(token_of(inner).await, token_of(outer).await);
        };
        inner(client.lock(KEY)).wait(LONG).run(body).await
    };
    soon(outer(client.lock(KEY)).run(body)).await.unwrap()
}

#[tokio::test]
async fn held_modes_decide_at_once() {
    let client = LockClient::memory();
    for ((held, outer), row) in MODES.into_iter().zip(MAY_NEST) {
        for ((asked, inner), may_nest) in MODES.into_iter().zip(row) {
            let outcome = nested(&client, outer, inner).await;
            let blocking = outer(client.lock(KEY)).run_blocking(|_| {
                let inner = inner(client.lock(KEY)).wait(LONG);
                inner.run_blocking(|_| ())
            });
            for outcome in [outcome, blocking.unwrap()] {
                match outcome {
                    Ok(()) => assert!(may_nest, "{asked} inside {held}"),
                    Err(error) => {
                        assert_eq!(error.kind(), LockErrorKind::Reentered);
                        assert!(!may_nest, "{asked} inside {held}: {error}");
                    }
                }
            }
        }
    }
}

/// A read inside a write runs together with other reads of the tree, so nothing inside it may write.
#[tokio::test]
async fn reading_inside_of_writing_does_not_write_again() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let body = async |_: &LockGuard| client.lock(KEY).write().try_acquire().await;
        client.lock(KEY).read().run(body).await.unwrap()
    };
    let refused = client.lock(KEY).write().run(body).await.unwrap();
    assert_eq!(refused.unwrap_err().kind(), LockErrorKind::Reentered);
}

#[tokio::test]
async fn reading_siblings_run_together_and_a_writing_sibling_runs_alone() {
    let client = LockClient::memory();
    let (readers, writers) = (Crowd::default(), Crowd::default());
    let read = async || {
        let visit = async |_: &LockGuard| readers.visit().await;
        client.lock(KEY).read().wait(LONG).run(visit).await.unwrap();
    };
    let write = async || {
        let visit = async |_: &LockGuard| {
            assert_eq!(readers.now(), 0, "a reader runs together with the writer");
            writers.visit().await;
        };
        client
            .lock(KEY)
            .write()
            .wait(LONG)
            .run(visit)
            .await
            .unwrap();
    };
    let body = async |_: &LockGuard| {
        tokio::join!(read(), read(), write(), read(), read(), write(), read());
    };
    soon(client.lock(KEY).run(body)).await.unwrap();
    assert!(readers.most() >= 2, "{}", readers.most());
    assert_eq!(writers.most(), 1);
}

#[tokio::test]
async fn siblings_with_permits_keep_to_the_permits_of_their_tree() {
    let client = LockClient::memory();
    let crowd = Crowd::default();
    let visit = async || {
        let visit = async |_: &LockGuard| crowd.visit().await;
        let lock = client.lock(KEY).permits(5).take(1).wait(LONG);
        lock.run(visit).await.unwrap();
    };
    let body = async |_: &LockGuard| {
        tokio::join!(visit(), visit(), visit(), visit(), visit());
    };
    soon(client.lock(KEY).permits(5).take(2).run(body))
        .await
        .unwrap();
    assert_eq!(crowd.most(), 2);
}
