//! Down the call tree: a call inside a body enters its lock.

use harness::token_of;
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard, distributed_lock};

use super::{KEY, at_once, is_held, ms};

/// Recursion, each level through the attribute.
#[distributed_lock(key = "order:42", wait = "0s", client = locks, guard = guard)]
async fn descend(locks: &LockClient, depth: usize) -> Result<usize, LockError> {
    let held = guard.hold_count();
    if depth == 0 {
        return Ok(held);
    }
    Box::pin(descend(locks, depth - 1)).await
}

/// The same without async.
#[distributed_lock(key = "order:42", wait = "0s", client = locks, guard = guard)]
fn descend_blocking(locks: &LockClient, depth: usize) -> Result<usize, LockError> {
    let held = guard.hold_count();
    if depth == 0 {
        return Ok(held);
    }
    descend_blocking(locks, depth - 1)
}

/// A sync function between two async ones does not interrupt the call tree.
fn in_between(locks: &LockClient) -> Result<usize, LockError> {
    descend_blocking(locks, 0)
}

#[tokio::test]
async fn recursion_descends_through_sync_and_async_alike() {
    let client = LockClient::memory();
    assert_eq!(descend(&client, 9).await.unwrap(), 10);
    let body = async |_: &LockGuard| {
        let below = in_between(&client).unwrap();
        let further = descend(&client, 1).await.unwrap();
        (below, further)
    };
    let (below, further) = at_once(&client).run(body).await.unwrap();
    assert_eq!((below, further), (2, 3));

    let body = |_: &LockGuard| descend_blocking(&client, 1);
    assert_eq!(at_once(&client).run_blocking(body).unwrap().unwrap(), 3);
    assert!(!is_held(&client).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tree_follows_its_future_from_thread_to_thread() {
    let client = LockClient::memory();
    let mut bodies = tokio::task::JoinSet::new();
    for order in 0..8 {
        let client = client.clone();
        bodies.spawn(async move {
            let key = format!("order:{order}");
            let lock = || client.lock(key.as_str()).wait(ms(0));
            let body = async |outer: &LockGuard| {
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                    let nested = lock().acquire().await.expect("it is ours");
                    assert_eq!(token_of(&nested).await, token_of(outer).await);
                    // The lock of another key is not in this call tree.
                    let neighbour = format!("order:{}", (order + 1) % 8);
                    if let Some(guard) = client.lock(neighbour).try_acquire().await.unwrap() {
                        assert_ne!(token_of(&guard).await, token_of(outer).await);
                    }
                }
            };
            client
                .lock(key.as_str())
                .wait(super::LONG)
                .run(body)
                .await
                .unwrap();
        });
    }
    while let Some(body) = bodies.join_next().await {
        body.unwrap();
    }
}

#[tokio::test]
async fn a_spawned_task_and_a_thread_start_fresh() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let lock = at_once(&client);
        let task = tokio::spawn(lock.acquire()).await.unwrap();
        assert!(task.unwrap_err().is_busy());
        let lock = at_once(&client);
        let thread = tokio::task::spawn_blocking(|| lock.acquire_blocking());
        assert!(thread.await.unwrap().unwrap_err().is_busy());
    };
    at_once(&client).run(body).await.unwrap();
}

#[tokio::test]
async fn a_guard_opens_no_tree_until_it_runs_something() {
    let client = LockClient::memory();
    let guard = at_once(&client).acquire().await.unwrap();
    assert!(at_once(&client).acquire().await.unwrap_err().is_busy());
    let nested = guard.run(async { at_once(&client).acquire().await.unwrap().hold_count() });
    assert_eq!(nested.await.unwrap(), 2);
    assert_eq!(guard.hold_count(), 1);
    assert!(at_once(&client).acquire().await.unwrap_err().is_busy());
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn another_client_and_another_key_are_not_nested() {
    let (client, stranger) = (LockClient::memory(), LockClient::memory());
    let body = async |outer: &LockGuard| {
        // Each memory client has a store of its own, and so a lock of its own.
        let theirs = at_once(&stranger).acquire().await.unwrap();
        assert_eq!((theirs.hold_count(), outer.hold_count()), (1, 1));
        let other = client
            .lock("order:43")
            .try_acquire()
            .await
            .unwrap()
            .unwrap();
        assert_eq!((other.hold_count(), outer.hold_count()), (1, 1));
        assert!(token_of(&other).await > token_of(outer).await);
    };
    at_once(&client).run(body).await.unwrap();
}

#[tokio::test]
async fn a_call_that_refuses_to_nest_fails_at_once() {
    let client = LockClient::memory();
    let strict = || client.lock(KEY).wait(super::LONG).reentrant(false);
    let body = async |outer: &LockGuard| {
        let in_async = strict().acquire().await.unwrap_err();
        let in_sync = strict().acquire_blocking().unwrap_err();
        for error in [in_async, in_sync] {
            assert_eq!(error.kind(), LockErrorKind::Reentered);
            assert!(error.to_string().contains("reentrant = false"), "{error}");
        }
        // The nested call's own option decides, not the outer call's.
        drop(at_once(&client).acquire().await.unwrap());
        outer.hold_count()
    };
    assert_eq!(strict().run(body).await.unwrap(), 1);
}

#[tokio::test]
async fn a_nested_call_never_shortens_the_lease() {
    let client = LockClient::memory();
    let body = async |outer: &LockGuard| {
        let before = outer.remaining();
        let nested = client.lock(KEY).ttl(ms(50)).renew(false).max_hold(ms(50));
        let nested = nested.acquire().await.unwrap();
        assert!(nested.remaining() > ms(1_000), "{:?}", nested.remaining());
        nested.release().await.unwrap();
        assert!(outer.remaining() + ms(1_000) > before);
    };
    at_once(&client).run(body).await.unwrap();
}
