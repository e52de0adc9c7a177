//! Futures that keep their call tree in another task.

#![expect(
    clippy::async_yields_async,
    reason = "a body hands out the future that it carried off"
)]

use harness::token_of;
use lock_runtime::{LockClient, LockGuard, in_current_hold};
use tokio::sync::oneshot;

use super::{at_once, is_held, ms, soon};

#[tokio::test]
async fn a_carried_task_enters_the_lock() {
    let client = LockClient::memory();
    let body = async |outer: &LockGuard| {
        let lock = at_once(&client);
        let task = tokio::spawn(in_current_hold(lock.acquire()));
        let nested = task.await.unwrap().unwrap();
        assert_eq!(token_of(&nested).await, token_of(outer).await);
    };
    at_once(&client).run(body).await.unwrap();
}

#[tokio::test]
async fn a_carried_future_that_outlives_the_body_keeps_the_lock() {
    let client = LockClient::memory();
    let (go_on, goes_on) = oneshot::channel::<()>();
    let carried = async |outer: &LockGuard| {
        let client = client.clone();
        let carried = in_current_hold(async move {
            goes_on.await.unwrap();
            let nested = at_once(&client).acquire().await.unwrap();
            token_of(&nested).await
        });
        let task = tokio::spawn(carried);
        assert_eq!(outer.hold_count(), 2, "the body and the carried future");
        (token_of(outer).await, task)
    };
    let (token, task) = at_once(&client).run(carried).await.unwrap();
    assert!(is_held(&client).await, "the carried future shares it");
    go_on.send(()).unwrap();
    assert_eq!(soon(task).await.unwrap(), token);
    assert!(!is_held(&client).await);
}

#[tokio::test]
async fn a_carried_future_that_has_ended_or_is_dropped_no_longer_shares_the_hold() {
    let client = LockClient::memory();
    let kept = async |_: &LockGuard| {
        let mut ended = Box::pin(in_current_hold(async {}));
        (&mut ended).await;
        let never_polled = in_current_hold(std::future::pending::<()>());
        (ended, never_polled)
    };
    let (ended, never_polled) = at_once(&client).run(kept).await.unwrap();
    assert!(is_held(&client).await, "one was never polled");
    drop(never_polled);
    assert!(!is_held(&client).await, "the other has ended");
    drop(ended);
}

#[tokio::test]
async fn a_carried_future_keeps_the_turn_of_the_call_that_made_it() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let carry = async |_: &LockGuard| in_current_hold(std::future::pending::<()>());
        let carried = at_once(&client).run(carry).await.unwrap();
        assert!(at_once(&client).acquire().await.unwrap_err().is_busy());
        drop(carried);
        at_once(&client).acquire().await.unwrap().hold_count()
    };
    assert_eq!(at_once(&client).run(body).await.unwrap(), 2);
}

#[tokio::test]
async fn outside_of_a_body_there_is_nothing_to_carry() {
    let client = LockClient::memory();
    let guard = at_once(&client).acquire().await.unwrap();
    let carried = in_current_hold(async { at_once(&client).acquire().await });
    assert!(carried.await.unwrap_err().is_busy());
    let carried = guard.run(async { in_current_hold(async { is_held(&client).await }) });
    let carried = carried.await.unwrap();
    assert_eq!(guard.hold_count(), 2);
    assert!(carried.await);
    assert_eq!(guard.hold_count(), 1);
}

#[tokio::test]
async fn a_call_under_a_carried_hold_that_is_lost_fails() {
    let client = LockClient::memory();
    let carry = async |_: &LockGuard| {
        let client = client.clone();
        tokio::spawn(in_current_hold(async move {
            tokio::time::sleep(ms(120)).await;
            // This task is not dropped with the body, so it must be notified of the loss.
            soon(client.lock(super::KEY).wait(super::LONG).acquire()).await
        }))
    };
    let lease = at_once(&client).ttl(ms(60)).renew(false);
    let task = lease.run(carry).await.unwrap();
    assert!(task.await.unwrap().unwrap_err().is_lost());
}
