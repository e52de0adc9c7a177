//! How long callers wait, and in which order they are served.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use harness::{ran_since, token_of};
use lock_runtime::LockClient;
use tokio::task::JoinSet;

use super::store::Store;
use super::tools::{KEY, LONG, SLACK, becomes_free, hold, ms, poll_and_drop};

pub(crate) async fn a_wait_ends_in_time(store: Store) {
    let holder = store.client();
    let guard = hold(&holder).await;
    for client in [store.client(), holder.clone()] {
        let modes = store.modes.iter();
        for (mode, wait) in modes.flat_map(|mode| [(mode, ms(0)), (mode, ms(150))]) {
            let started = Instant::now();
            let attempt = mode(client.lock(KEY)).wait(wait).acquire().await;
            let (error, elapsed) = (attempt.unwrap_err(), started.elapsed());
            assert!(error.is_busy(), "{error}");
            assert!(elapsed >= wait, "it gave up after {elapsed:?}");
            assert!(ran_since(started) < wait + SLACK, "it took {elapsed:?}");
        }
    }
    drop(guard);
}

pub(crate) async fn a_waiter_is_served_when_the_holder_leaves(store: Store) {
    let (one, other) = (store.client(), store.client());
    for waiter in [&one, &other] {
        let (mut quickest, mut cycle) = (LONG, Duration::ZERO);
        for _ in 0..4 {
            let started = Instant::now();
            hold(waiter).await.release().await.unwrap();
            cycle = cycle.max(started.elapsed());
            let time = hand_over(&one, waiter).await;
            quickest = quickest.min(time);
        }
        // The waiter was notified. A poll would be half a second away. If this takes long on a slow machine, so does a
        // cycle.
        let most = ms(200) + 4 * cycle;
        assert!(quickest < most, "it took {quickest:?} of {most:?}");
    }
    assert!(store.is_empty().await);
}

/// The time from a release to the grant of the waiter.
async fn hand_over(one: &LockClient, waiter: &LockClient) -> Duration {
    let guard = hold(one).await;
    let token = token_of(&guard).await;
    let waiting = tokio::spawn(waiter.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(50)).await;
    assert!(!waiting.is_finished(), "the lock is held");
    let left = Instant::now();
    guard.release().await.unwrap();
    let guard = waiting.await.unwrap().unwrap();
    let time = left.elapsed();
    assert!(token_of(&guard).await > token);
    guard.release().await.unwrap();
    time
}

pub(crate) async fn a_waiter_is_served_when_the_lease_ends(store: Store) {
    let (one, other) = (store.client(), store.client());
    let lease = one.lock(KEY).ttl(ms(300)).renew(false);
    let started = Instant::now();
    let dead = lease.acquire().await.unwrap();
    let guard = other.lock(KEY).wait(LONG).acquire().await.unwrap();
    let elapsed = started.elapsed();
    assert!(elapsed >= ms(290), "the lease was cut short at {elapsed:?}");
    assert!(ran_since(started) < ms(300) + SLACK, "it took {elapsed:?}");
    assert!(!dead.is_valid());
    assert!(dead.release().await.unwrap_err().is_lost());
    guard
        .release()
        .await
        .expect("the dead holder frees nothing");
}

/// A future that is not polled again, in a `select!` loop, a buffer or a leaked box, is granted the lock.
pub(crate) async fn a_grant_that_is_not_fetched_ends_with_its_ttl(store: Store) {
    let (ours, other) = (store.client(), store.client());
    for next in [&ours, &other] {
        let guard = hold(&ours).await;
        let unpolled = ours.lock(KEY).ttl(ms(400)).wait(LONG).acquire();
        let mut unpolled = Box::pin(unpolled);
        let first = poll_fn(|cx| Poll::Ready(unpolled.as_mut().poll(cx).is_pending()));
        assert!(first.await, "it is held");
        guard.release().await.unwrap();
        let next = next.lock(KEY).wait(LONG).acquire().await;
        let next = next.expect("the lease of the unpolled waiter ends");
        // The memory backend has put the caller back into the queue.
        next.release().await.unwrap();
        match unpolled.await {
            Ok(guard) => drop(guard),
            Err(error) => assert!(error.is_lost(), "{error}"),
        }
        becomes_free(&other, LONG).await;
    }
}

pub(crate) async fn callers_are_served_in_order(store: Store) {
    let client = store.client();
    let guard = hold(&client).await;
    let served = Arc::new(Mutex::new(Vec::new()));
    let mut callers = JoinSet::new();
    for caller in 0..12 {
        let (client, served) = (client.clone(), served.clone());
        callers.spawn(async move {
            let guard = client.lock(KEY).wait(LONG).acquire().await.unwrap();
            served.lock().unwrap().push(caller);
            guard.release().await.unwrap();
        });
        // Each caller queues before the next one starts.
        tokio::task::yield_now().await;
    }
    guard.release().await.unwrap();
    while let Some(caller) = callers.join_next().await {
        caller.unwrap();
    }
    assert_eq!(*served.lock().unwrap(), (0..12).collect::<Vec<_>>());
}

pub(crate) async fn a_waiter_that_gives_up_leaves_the_queue(store: Store) {
    let (one, other) = (store.client(), store.client());
    for impatient in [&one, &other] {
        let guard = hold(&one).await;
        let short = tokio::spawn(impatient.lock(KEY).wait(ms(60)).acquire());
        let dropped = poll_and_drop(impatient.lock(KEY).wait(LONG).acquire(), 5).await;
        assert!(dropped.is_none());
        let patient = tokio::spawn(impatient.lock(KEY).wait(LONG).acquire());
        assert!(short.await.unwrap().unwrap_err().is_busy());
        assert!(!patient.is_finished());
        let left = Instant::now();
        guard.release().await.unwrap();
        let guard = patient.await.unwrap().unwrap();
        assert!(ran_since(left) < SLACK, "it took {:?}", left.elapsed());
        guard.release().await.unwrap();
        assert!(store.is_empty().await);
    }
}
