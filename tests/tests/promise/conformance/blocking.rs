//! Synchronous callers, with and without a runtime around them.

use std::time::{Duration, Instant};

use harness::{failed, ran_since, wait_until};
use lock_runtime::{LockClient, LockErrorKind};

use super::store::Store;
use super::tools::{Flag, KEY, LONG, SLACK, becomes_free, hold, ms, on_a_thread};

/// How long a caller waits by default.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// Everything that a synchronous caller can do, once each.
fn once_around(client: &LockClient) {
    let free = || client.lock(KEY).wait(Duration::ZERO);
    let guard = free().acquire_blocking().unwrap();
    assert!(guard.is_valid());
    assert!(free().try_acquire_blocking().unwrap().is_none());
    for wait in [ms(0), ms(100)] {
        let started = Instant::now();
        failed(free().wait(wait).acquire_blocking(), LockErrorKind::Busy);
        let elapsed = started.elapsed();
        assert!(
            elapsed >= wait && ran_since(started) < DEFAULT_WAIT,
            "{elapsed:?}"
        );
    }
    guard.release_blocking().unwrap();

    let guard = free().try_acquire_blocking().unwrap().expect("it is free");
    guard.release_blocking().unwrap();

    let nested = free().run_blocking(|outer| {
        let inner = client.lock(KEY).acquire_blocking().unwrap();
        (
            inner.fencing_token_blocking().unwrap() == outer.fencing_token_blocking().unwrap(),
            inner.hold_count(),
        )
    });
    assert_eq!(nested.unwrap(), (true, 2));

    drop(free().acquire_blocking().unwrap());
    let again = client.lock(KEY).wait(LONG).acquire_blocking().unwrap();
    again.release_blocking().unwrap();
}

pub(crate) async fn a_blocking_call_works_on_a_plain_thread(store: Store) {
    let client = store.client();
    on_a_thread(move || {
        assert!(tokio::runtime::Handle::try_current().is_err());
        once_around(&client);
    })
    .await;
}

pub(crate) async fn a_blocking_call_works_inside_a_current_thread_runtime(store: Store) {
    once_around(&store.client());
    // No await between the drop of a guard and its release.
    let (client, other) = (store.client(), store.client());
    drop(hold(&client).await);
    let next = other.lock(KEY).wait(LONG).acquire_blocking();
    next.unwrap().release_blocking().unwrap();
    // More often than a task's cooperative budget allows without a yield.
    for _ in 0..200 {
        client.lock(KEY).run_blocking(|_| ()).unwrap();
    }
}

pub(crate) async fn a_blocking_call_works_inside_a_worker_of_a_runtime(store: Store) {
    let client = store.client();
    on_a_thread(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let worker = runtime.spawn(async move { once_around(&client) });
        runtime.block_on(worker).unwrap();
    })
    .await;
}

pub(crate) async fn a_thread_waits_for_its_turn(store: Store) {
    let (one, other) = (store.client(), store.client());
    for waiter in [&one, &other] {
        for &mode in store.modes {
            let guard = hold(&one).await;
            let waiting = mode(waiter.lock(KEY)).wait(LONG);
            let waiting = tokio::spawn(on_a_thread(move || {
                let guard = waiting.acquire_blocking().unwrap();
                guard.release_blocking()
            }));
            tokio::time::sleep(ms(50)).await;
            assert!(!waiting.is_finished(), "the lock is held");
            guard.release().await.unwrap();
            waiting.await.unwrap().unwrap();
        }
    }
}

pub(crate) async fn a_blocking_body_runs_to_its_end_and_then_fails(store: Store) {
    let client = store.client();
    let ended = Flag::default();
    let error = client
        .lock(KEY)
        .ttl(ms(1_000))
        .renew(false)
        .run_blocking(|guard| {
            wait_until("loss of the lease", LONG, || !guard.is_valid());
            ended.raise();
        })
        .unwrap_err();
    assert!(error.is_lost(), "{error}");
    assert!(ended.is_up());
    becomes_free(&client, SLACK).await;
}
