//! A dropped future or guard leaves nothing behind.

use harness::eventually;

use super::store::{Mode, Store};
use super::tools::{KEY, LONG, SLACK, becomes_free, hold, is_held, ms, on_a_thread, poll_and_drop};

/// More polls than an acquisition has.
pub(super) const POLLS: usize = 12;

pub(crate) async fn an_acquire_dropped_at_any_poll_leaves_nothing_behind(store: Store) {
    for &mode in store.modes {
        dropped_at_any_poll(&store, mode).await;
    }
}

pub(crate) async fn an_acquire_dropped_while_it_is_served_releases_the_lock(store: Store) {
    for &mode in store.modes {
        dropped_while_it_is_served(&store, mode).await;
    }
}

/// Drops a caller behind a holder, after any number of polls.
async fn dropped_at_any_poll(store: &Store, mode: Mode) {
    let (one, other) = (store.client(), store.client());
    for waiter in [&one, &other] {
        for polls in 0..POLLS {
            let guard = hold(&one).await;
            let dropped = poll_and_drop(mode(waiter.lock(KEY)).wait(LONG).acquire(), polls).await;
            assert!(dropped.is_none(), "the lock is held");
            guard.release().await.unwrap();
            // A waiter that stayed in the queue would be handed the lock.
            becomes_free(&other, SLACK).await;
            eventually("empty store", SLACK, async || store.is_empty().await).await;
        }
    }
}

/// Drops a caller before, while or after it is granted its lock.
async fn dropped_while_it_is_served(store: &Store, mode: Mode) {
    let (one, other) = (store.client(), store.client());
    for client in [&one, &other] {
        for polls in 0..POLLS {
            // The lock is free: the future is dropped before, while or after it acquires it.
            drop(poll_and_drop(mode(client.lock(KEY)).acquire(), polls).await);
            becomes_free(&one, SLACK).await;

            // The lock is handed to the future while it is dropped.
            let guard = hold(&one).await;
            let mut waiting = Box::pin(mode(client.lock(KEY)).wait(LONG).acquire());
            let first = tokio::time::timeout(ms(5), &mut waiting).await;
            assert!(first.is_err(), "the lock is held");
            drop(guard);
            drop(poll_and_drop(waiting, polls).await);
            becomes_free(&one, SLACK).await;
            eventually("empty store", SLACK, async || store.is_empty().await).await;
        }
    }
}

pub(crate) async fn a_release_that_is_dropped_still_releases(store: Store) {
    let client = store.client();
    for polls in 1..4 {
        let guard = hold(&client).await;
        drop(poll_and_drop(guard.release(), polls).await);
        becomes_free(&client, SLACK).await;
    }
    // The release was never polled, and still drops the guard.
    let guard = hold(&client).await;
    drop(guard.release());
    becomes_free(&client, SLACK).await;
}

pub(crate) async fn a_renewal_that_is_dropped_does_not_outlive_the_release(store: Store) {
    let (client, other) = (store.client(), store.client());
    for polls in 0..4 {
        let guard = hold(&client).await;
        drop(poll_and_drop(guard.renew(), polls).await);
        guard.release().await.unwrap();
        assert!(!is_held(&other).await);
    }
}

pub(crate) async fn a_guard_dropped_by_a_dying_runtime_is_released(store: Store) {
    let client = store.client();
    let dying = client.clone();
    on_a_thread(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (inside, entered) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            let body = async |_: &_| {
                inside.send(()).unwrap();
                std::future::pending::<()>().await;
            };
            dying.lock(KEY).run(body).await
        });
        entered.recv().expect("the body begins");
        drop(runtime);
    })
    .await;
    becomes_free(&client, SLACK).await;
    assert!(!is_held(&client).await);
}
