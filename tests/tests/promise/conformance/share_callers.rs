//! Callers of shares that are dropped, that block a thread, or whose client shuts down.

use std::time::{Duration, Instant};

use harness::{eventually, failed};
use lock_runtime::{Acquire, LockClient, LockErrorKind};

use super::dropping::{POLLS, dropped_at_any_poll, dropped_while_it_is_served};
use super::shutdown::{endless, hasty, with_grace};
use super::store::Store;
use super::tools::{
    KEY, LONG, SLACK, at_once, becomes_free, becomes_granted, becomes_refused, ms, on_a_thread,
    poll_and_drop,
};

fn shares(client: &LockClient) -> [Acquire; 2] {
    let lock = || client.lock(KEY).wait(LONG);
    [lock().read(), lock().permits(5).take(2)]
}

pub(crate) async fn share_dropped_at_any_poll_leaves_nothing_behind(store: Store) {
    dropped_at_any_poll(&store, |client| client.lock(KEY).read()).await;
    dropped_at_any_poll(&store, |client| client.lock(KEY).permits(5).take(2)).await;
}

pub(crate) async fn writer_dropped_behind_readers_admits_more_of_them(store: Store) {
    let (one, other) = (store.client(), store.client());
    for client in [&one, &other] {
        let inside = at_once(one.lock(KEY).read()).await;
        let writer = tokio::spawn(client.lock(KEY).write().wait(LONG).acquire());
        becomes_refused(other.lock(KEY).read()).await;
        let reader = tokio::spawn(other.lock(KEY).read().wait(LONG).acquire());
        tokio::task::yield_now().await;
        writer.abort();
        assert!(writer.await.unwrap_err().is_cancelled());
        let reader = reader.await.unwrap().unwrap();
        assert_eq!(
            reader.fencing_token().await.unwrap(),
            inside.fencing_token().await.unwrap()
        );
        inside.release().await.unwrap();
        reader.release().await.unwrap();
        becomes_free(&one, SLACK).await;
        eventually("empty store", SLACK, async || store.is_empty().await).await;
    }
}

pub(crate) async fn share_dropped_while_it_is_served_is_released(store: Store) {
    dropped_while_it_is_served(&store, |client| client.lock(KEY).read()).await;
    dropped_while_it_is_served(&store, |client| client.lock(KEY).permits(5).take(2)).await;
}

pub(crate) async fn share_dropped_while_others_hold_theirs_is_released(store: Store) {
    let (one, other) = (store.client(), store.client());
    let inside = at_once(one.lock(KEY).permits(5)).await;
    for client in [&one, &other] {
        for polls in 0..POLLS {
            let four = || client.lock(KEY).permits(5).take(4);
            drop(poll_and_drop(four().acquire(), polls).await);
            becomes_granted(four()).await;
        }
    }
    inside.release().await.unwrap();
    eventually("empty store", SLACK, async || store.is_empty().await).await;
}

pub(crate) async fn blocking_calls_share_a_lock(store: Store) {
    let (one, other) = (store.client(), store.client());
    let reader = at_once(other.lock(KEY).read()).await;
    let once_around = move || {
        let free = || one.lock(KEY).wait(Duration::ZERO);
        let guard = free().read().acquire_blocking().unwrap();
        guard.release_blocking().unwrap();
        let permits = free().permits(3).take(2).acquire_blocking().unwrap();
        failed(free().permits(3).acquire_blocking(), LockErrorKind::Busy);
        assert!(free().write().try_acquire_blocking().unwrap().is_none());
        permits.release_blocking().unwrap();
        let permit = free().permits(2).try_acquire_blocking().unwrap();
        drop(permit.expect("one is left"));
        free()
            .read()
            .run_blocking(|guard| guard.key().len())
            .unwrap()
    };
    assert_eq!(on_a_thread(once_around.clone()).await, KEY.len());
    // On the thread of a runtime.
    assert_eq!(once_around(), KEY.len());
    reader.release().await.unwrap();
    becomes_free(&other, SLACK).await;
}

pub(crate) async fn thread_waits_for_its_share(store: Store) {
    let (one, other) = (store.client(), store.client());
    for client in [&one, &other] {
        for share in shares(client) {
            let writer = at_once(one.lock(KEY).write()).await;
            let waiting = tokio::spawn(on_a_thread(move || {
                let guard = share.acquire_blocking().unwrap();
                guard.release_blocking()
            }));
            tokio::time::sleep(ms(50)).await;
            assert!(!waiting.is_finished(), "the lock is held");
            writer.release().await.unwrap();
            waiting.await.unwrap().unwrap();
        }
    }
    assert!(store.is_empty().await);
}

pub(crate) async fn waiting_shares_fail_at_a_shutdown(store: Store) {
    let client = hasty(&store, ms(50));
    let guard = harness::hold(&client).await;
    let waiting = shares(&client).map(|share| tokio::spawn(share.acquire()));
    let [blocking, _] = shares(&client);
    let blocking = tokio::task::spawn_blocking(|| blocking.acquire_blocking());
    tokio::time::sleep(ms(20)).await;
    client.shutdown().await;
    for outcome in waiting.into_iter().chain([blocking]) {
        failed(outcome.await.unwrap(), LockErrorKind::Shutdown);
    }
    drop(guard);
    eventually("free lock", LONG, async || store.is_empty().await).await;
}

pub(crate) async fn shared_bodies_are_ended_by_a_shutdown(store: Store) {
    let client = with_grace(&store, ms(60));
    let mut bodies = Vec::new();
    for share in shares(&client) {
        bodies.push(endless(share).await);
    }
    let started = Instant::now();
    client.shutdown().await;
    assert!(started.elapsed() >= ms(60), "the grace was cut short");
    for (dropped, running) in bodies {
        assert!(dropped.is_up(), "the body still runs");
        let error = running.await.unwrap().unwrap_err();
        assert!(error.is_lost(), "{error}");
        assert!(error.to_string().contains("shut down"), "{error}");
    }
    eventually("free lock", LONG, async || store.is_empty().await).await;
}
