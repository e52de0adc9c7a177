//! Several locks, some of which the call tree already holds.

use std::future::poll_fn;
use std::task::Poll;

use lock_runtime::testing::{lose, occupy};
use lock_runtime::{LockClient, LockErrorKind, LockGuard, in_current_hold};
use tokio::sync::oneshot;

use super::{KEY, LONG, at_once, ms, soon};

const BOTH: [&str; 2] = ["order:41", KEY];

/// Runs `call` in a call tree that holds [`KEY`] and is not dropped when the lock is lost.
async fn inside<T: Send + 'static>(
    client: &LockClient,
    call: impl Future<Output = T> + Send + 'static,
) -> T {
    let (send, result) = oneshot::channel();
    let body = async |_: &LockGuard| {
        let carried = in_current_hold(async { drop(send.send(call.await)) });
        drop(tokio::spawn(carried).await);
    };
    // The outer call fails if the lock is lost.
    drop(at_once(client).run(body).await);
    soon(result).await.expect("the call ends")
}

#[tokio::test]
async fn body_is_dropped_when_a_lock_that_its_tree_held_is_lost() {
    let client = LockClient::memory();
    let (started, has_started) = oneshot::channel();
    let call = {
        let all = client.lock_all(BOTH).wait(ms(0));
        all.run(async move |_: &LockGuard| {
            started.send(()).unwrap();
            std::future::pending::<()>().await;
        })
    };
    let outer = inside(&client, call);
    let lose = async {
        has_started.await.unwrap();
        lose(&client, KEY).unwrap();
    };
    let (outcome, ()) = soon(async { tokio::join!(outer, lose) }).await;
    let error = outcome.unwrap_err();
    assert!(error.is_lost(), "{error}");
    assert_eq!(error.key(), Some(KEY));
    drop(client.lock("order:41").wait(LONG).acquire().await.unwrap());
}

#[test]
fn release_reports_that_a_lock_which_the_tree_held_is_lost() {
    let client = LockClient::memory();
    let outer = at_once(&client).run_blocking(|_| {
        let guard = client.lock_all(BOTH).try_acquire_blocking();
        let guard = guard.unwrap().expect("both are free");
        assert!(guard.is_valid());
        lose(&client, KEY).unwrap();
        assert!(!guard.is_valid());
        guard.release_blocking().unwrap_err()
    });
    assert!(outer.unwrap_err().is_lost());
    assert!(
        client
            .lock_all(BOTH)
            .try_acquire_blocking()
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn call_does_not_begin_without_a_lock_that_was_lost_while_it_waited() {
    let client = LockClient::memory();
    let call = {
        let client = client.clone();
        async move {
            let occupied = occupy(&client, "order:41", "api-7").unwrap();
            let mut acquiring = Box::pin(client.lock_all(BOTH).wait(LONG).acquire());
            let is_pending = poll_fn(|cx| Poll::Ready(acquiring.as_mut().poll(cx).is_pending()));
            assert!(is_pending.await, "it is occupied");
            lose(&client, KEY).unwrap();
            drop(occupied);
            acquiring.await.unwrap_err()
        }
    };
    let error = inside(&client, call).await;
    assert!(error.is_lost(), "{error}");
    assert!(client.lock_all(BOTH).try_acquire().await.unwrap().is_some());
}

#[tokio::test]
async fn error_names_the_lock_that_could_not_be_entered() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let again = client.lock_all(BOTH).reentrant(false).wait(ms(0));
        let error = again.acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Reentered);
        assert_eq!(error.key(), Some(KEY), "{error}");

        let _sibling = at_once(&client).acquire().await.unwrap();
        let error = client.lock_all(BOTH).wait(ms(5)).acquire().await;
        let error = error.unwrap_err();
        assert_eq!((error.is_busy(), error.key()), (true, Some(KEY)), "{error}");
        let error = client.lock_all(BOTH).acquire_blocking().unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Reentered);
        assert_eq!(error.key(), Some(KEY), "{error}");
    };
    soon(at_once(&client).run(body)).await.unwrap();
    assert!(client.lock_all(BOTH).try_acquire().await.unwrap().is_some());
}
