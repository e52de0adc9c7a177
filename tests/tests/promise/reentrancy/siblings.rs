//! Siblings: two branches of one tree never overlap.

use std::time::{Duration, Instant};

use harness::ran_since;
use lock_runtime::{LockClient, LockErrorKind, LockGuard, in_current_hold};
use tokio::sync::Notify;

use super::{Crowd, KEY, LONG, at_once, ms, soon};

#[tokio::test]
async fn the_branches_of_a_join_take_turns() {
    let client = LockClient::memory();
    let crowd = Crowd::default();
    let branch = async || {
        let lock = client.lock(KEY).wait(LONG);
        let body = async |_: &LockGuard| {
            crowd.visit().await;
            // Each branch may nest further calls meanwhile.
            let below = async |_: &LockGuard| tokio::task::yield_now().await;
            at_once(&client).run(below).await.unwrap();
        };
        lock.run(body).await.unwrap();
    };
    let inner = async |_: &LockGuard| {
        tokio::join!(branch(), branch(), branch());
    };
    // Under a body, and under a nested one.
    let outer = async |_: &LockGuard| {
        tokio::join!(branch(), branch(), branch(), branch());
        at_once(&client).run(inner).await.unwrap();
    };
    soon(at_once(&client).run(outer)).await.unwrap();
    assert_eq!(crowd.most(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn carried_tasks_on_several_threads_take_turns() {
    let client = LockClient::memory();
    let crowd = Crowd::default();
    let body = async |_: &LockGuard| {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (client, crowd) = (client.clone(), crowd.clone());
            tasks.spawn(in_current_hold(async move {
                for _ in 0..10 {
                    let visit = async |_: &LockGuard| crowd.visit().await;
                    client.lock(KEY).wait(LONG).run(visit).await.unwrap();
                }
            }));
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
    };
    soon(at_once(&client).run(body)).await.unwrap();
    assert_eq!(crowd.most(), 1);
}

#[tokio::test(start_paused = true)]
async fn wait_bounds_the_waiting_for_a_sibling() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let sibling = at_once(&client).acquire().await.unwrap();
        for wait in [ms(0), ms(250)] {
            let started = tokio::time::Instant::now();
            let error = client.lock(KEY).wait(wait).acquire().await.unwrap_err();
            assert_eq!(error.kind(), LockErrorKind::Busy);
            assert!(error.holder().unwrap().contains("sibling"), "{error}");
            assert_eq!(started.elapsed(), wait);
        }
        assert!(client.lock(KEY).try_acquire().await.unwrap().is_none());
        sibling.release().await.unwrap();
        drop(at_once(&client).acquire().await.unwrap());
    };
    at_once(&client).run(body).await.unwrap();
}

#[tokio::test]
async fn a_sync_call_with_a_sibling_inside_fails_at_once() {
    let client = LockClient::memory();
    let (inside, go_on) = (Notify::new(), Notify::new());
    let sibling = async || {
        let body = async |_: &LockGuard| {
            inside.notify_one();
            go_on.notified().await;
        };
        at_once(&client).run(body).await.unwrap();
    };
    let sync_one = async || {
        inside.notified().await;
        let started = Instant::now();
        let error = client.lock(KEY).wait(LONG).acquire_blocking().unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Reentered);
        assert!(error.to_string().contains("sibling"), "{error}");
        assert!(ran_since(started) < LONG / 4, "it waited");
        go_on.notify_one();
    };
    let body = async |_: &LockGuard| {
        tokio::join!(sibling(), sync_one());
        // Once the sibling has left, the call enters.
        let nested = client.lock(KEY).wait(Duration::ZERO).acquire_blocking();
        nested.unwrap().release_blocking().unwrap();
    };
    soon(at_once(&client).run(body)).await.unwrap();
}
