//! One holder at a time, and the errors of the other callers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;

use super::store::Store;
use super::tools::{KEY, LONG, becomes_free, hold, is_held, ms};

pub(crate) async fn two_are_never_inside_at_once(store: Store) {
    let inside = Arc::new(AtomicBool::new(false));
    let visits = Arc::new(AtomicU32::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..6 {
        let client = store.client();
        let (inside, visits) = (inside.clone(), visits.clone());
        callers.spawn(async move {
            for _ in 0..10 {
                let visit = async |_: &_| {
                    assert!(!inside.swap(true, Ordering::SeqCst), "two are inside");
                    tokio::task::yield_now().await;
                    visits.fetch_add(1, Ordering::SeqCst);
                    inside.store(false, Ordering::SeqCst);
                };
                let run = client.lock(KEY).wait(LONG).run(visit);
                run.await.expect("each caller gets the lock");
            }
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller.expect("no caller panics");
    }
    assert_eq!(visits.load(Ordering::SeqCst), 60);
}

pub(crate) async fn a_busy_error_names_the_holder(store: Store) {
    let guard = hold(&store.client()).await;
    let attempt = store.client().lock(KEY).wait(ms(50)).acquire().await;
    let error = attempt.unwrap_err();
    assert!(error.is_busy(), "{error}");
    assert_eq!(error.key(), Some(KEY));
    let holder = &store.holder;
    assert!(
        error.holder().is_some_and(|name| name.contains(holder)),
        "{error}"
    );
    assert!(
        error.waited().is_some_and(|waited| waited >= ms(50)),
        "{error}"
    );
    drop(guard);
}

pub(crate) async fn busy_error_has_the_rest_of_the_lease(store: Store) {
    let (holder, other) = (store.client(), store.client());
    let ttl = store.longest_ttl;
    for renew in [false, true] {
        let lease = holder.lock(KEY).ttl(ttl).renew(renew).wait(LONG);
        let guard = lease.acquire().await.unwrap();
        for (client, wait) in [
            (&other, Duration::ZERO),
            (&other, ms(30)),
            (&holder, Duration::ZERO),
            // It waits behind the holder in this process, and asks no server.
            (&holder, ms(30)),
        ] {
            let attempt = client.lock(KEY).wait(wait).acquire();
            // A spawned task belongs to no call tree.
            let error = tokio::spawn(attempt).await.unwrap().unwrap_err();
            assert!(error.is_busy(), "{error}");
            let left = error.retry_after().expect("the lease has an end");
            assert!(ttl / 2 < left && left <= ttl, "{left:?} after {wait:?}");
        }
        guard.release().await.unwrap();
    }
}

pub(crate) async fn every_end_of_a_hold_frees_the_lock(store: Store) {
    let (one, other) = (store.client(), store.client());
    drop(hold(&one).await);
    becomes_free(&other, LONG).await;
    assert!(store.is_empty().await);

    let body = tokio::spawn({
        let one = one.clone();
        async move { one.lock(KEY).run(async |_| panic!("the body fails")).await }
    });
    assert!(body.await.unwrap_err().is_panic());
    becomes_free(&other, LONG).await;

    let blocking = std::panic::catch_unwind(AssertUnwindSafe(|| {
        one.lock(KEY).run_blocking(|_| panic!("the body fails"))
    }));
    assert!(blocking.is_err());
    becomes_free(&other, LONG).await;

    let endless = one.lock(KEY).run(async |_| std::future::pending().await);
    let cancelled: Result<Result<(), _>, _> = tokio::time::timeout(ms(20), endless).await;
    assert!(cancelled.is_err(), "the body continues");
    becomes_free(&other, LONG).await;
}

pub(crate) async fn keys_do_not_exclude_each_other(store: Store) {
    let client = store.client();
    let guard = hold(&client).await;
    for key in [
        "order:4",
        "order:43",
        "order:42:f",
        "ORDER:42",
        "{order:42}",
    ] {
        let other = client.lock(key).try_acquire().await.unwrap();
        assert!(other.is_some(), "{key} is another lock");
    }
    assert!(is_held(&client).await);
    drop(guard);
}

pub(crate) async fn the_lock_is_free_when_the_last_guard_has_gone(store: Store) {
    let (client, other) = (store.client(), store.client());
    let body = async |_: &_| client.lock(KEY).acquire().await.unwrap();
    let nested = client.lock(KEY).run(body).await.unwrap();
    assert!(nested.is_valid());
    assert_eq!(nested.hold_count(), 1);
    assert!(is_held(&other).await, "the nested guard still holds it");
    nested.release().await.unwrap();
    becomes_free(&other, LONG).await;
}
