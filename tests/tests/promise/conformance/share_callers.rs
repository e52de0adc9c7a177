//! Callers of shares that are dropped next to other holders, and callers that block a thread.

use std::time::Duration;

use harness::{eventually, failed, token_of};
use lock_runtime::LockErrorKind;

use super::dropping::POLLS;
use super::store::Store;
use super::tools::{
    KEY, LONG, SLACK, at_once, becomes_free, becomes_granted, becomes_refused, on_a_thread,
    poll_and_drop,
};

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
        assert_eq!(token_of(&reader).await, token_of(&inside).await);
        inside.release().await.unwrap();
        reader.release().await.unwrap();
        becomes_free(&one, SLACK).await;
        eventually("empty store", SLACK, async || store.is_empty().await).await;
    }
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
