//! A client that shuts down gracefully.

use std::future::pending;
use std::time::{Duration, Instant};

use harness::{eventually, failed, ran_since, soon};
use lock_runtime::{Acquire, LockClient, LockError, LockErrorKind};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::store::Store;
use super::tools::{Flag, KEY, LONG, SLACK, ms, poll_and_drop};

/// A client whose guards are kept beyond its shutdown, which waits for them for the grace, and then at most for the
/// command timeout. [`harness::hold`] acquires the lock however many attempts the server needs.
fn hasty(store: &Store, grace: Duration) -> LockClient {
    let builder = store.builder().shutdown_grace(grace);
    let builder = builder.command_timeout(ms(500));
    builder.build().expect("the settings are valid")
}

fn with_grace(store: &Store, grace: Duration) -> LockClient {
    let builder = store.builder().shutdown_grace(grace);
    builder.build().expect("the settings are valid")
}

pub(crate) async fn nothing_begins_after_a_shutdown(store: Store) {
    let client = with_grace(&store, LONG);
    let started = Instant::now();
    assert!(client.shutdown().await.is_clean());
    assert!(client.shutdown().await.is_clean());
    assert!(ran_since(started) < SLACK, "there was nothing to wait for");
    let clone = client.clone();
    let errors = [
        client.lock(KEY).acquire().await.unwrap_err(),
        client.lock(KEY).try_acquire().await.unwrap_err(),
        clone.lock(KEY).acquire_blocking().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), LockErrorKind::Shutdown, "{error}");
    }
}

pub(crate) async fn a_waiter_fails_at_a_shutdown(store: Store) {
    let client = hasty(&store, ms(50));
    let guard = harness::hold(&client).await;
    let mut waiting = Vec::new();
    for &mode in store.modes {
        let ask = || mode(client.lock(KEY)).wait(LONG);
        waiting.push(tokio::spawn(ask().acquire()));
        let blocking = ask();
        waiting.push(tokio::task::spawn_blocking(|| blocking.acquire_blocking()));
    }
    tokio::time::sleep(ms(20)).await;
    client.shutdown().await;
    for outcome in waiting {
        failed(outcome.await.unwrap(), LockErrorKind::Shutdown);
    }
    drop(guard);
    eventually("free lock", LONG, async || store.is_empty().await).await;
}

pub(crate) async fn a_body_may_finish_during_a_shutdown(store: Store) {
    let client = with_grace(&store, LONG);
    let (go_on, goes_on) = oneshot::channel::<()>();
    let (entered, enters) = oneshot::channel();
    let running = tokio::spawn({
        let client = client.clone();
        async move {
            let body = async |_: &_| {
                entered.send(()).unwrap();
                goes_on.await.unwrap();
                // A nested call is allowed, although new calls are not.
                client.lock(KEY).run(async |guard| guard.hold_count()).await
            };
            client.lock(KEY).ttl(ms(5_000)).run(body).await
        }
    });
    enters.await.unwrap();
    let mut shutdown = Box::pin(client.shutdown());
    // Longer than the ttl: the lease of a body that may finish is renewed.
    assert!(
        tokio::time::timeout(ms(5_500), &mut shutdown)
            .await
            .is_err(),
        "a body runs"
    );
    go_on.send(()).unwrap();
    assert!(shutdown.await.is_clean(), "the body ended by itself");
    assert_eq!(running.await.unwrap().unwrap().unwrap(), 2);
    assert!(store.is_empty().await);
}

/// Begins a body that never ends. The flag is raised once the body is dropped.
async fn endless(acquire: Acquire) -> (Flag, JoinHandle<Result<(), LockError>>) {
    let dropped = Flag::default();
    let (entered, enters) = oneshot::channel();
    let inside = dropped.clone();
    let running = tokio::spawn(async move {
        let body = async |_: &_| {
            let _dropped = inside.on_drop();
            entered.send(()).unwrap();
            pending::<()>().await;
        };
        acquire.run(body).await
    });
    enters.await.expect("the body begins");
    (dropped, running)
}

pub(crate) async fn a_body_that_goes_on_is_ended_by_a_shutdown(store: Store) {
    for &mode in store.modes {
        let client = with_grace(&store, ms(60));
        let (dropped, running) = endless(mode(client.lock(KEY))).await;
        let started = Instant::now();
        let report = client.shutdown().await;
        assert_eq!((report.stopped, report.in_use), (1, 0), "{report:?}");
        assert!(started.elapsed() >= ms(60), "the grace was cut short");
        assert!(ran_since(started) < ms(60) + SLACK);
        assert!(dropped.is_up(), "the body still runs");
        eventually("free lock", LONG, async || store.is_empty().await).await;
        let error = running.await.unwrap().unwrap_err();
        assert!(error.is_lost(), "{error}");
        assert!(error.to_string().contains("shut down"), "{error}");
    }
}

pub(crate) async fn a_kept_guard_does_not_block_a_shutdown_for_ever(store: Store) {
    let client = hasty(&store, ms(60));
    let lease = client.lock(KEY).ttl(store.steady).wait(LONG);
    let guard = lease.acquire().await.unwrap();
    let report = soon(client.shutdown()).await;
    assert_eq!((report.stopped, report.in_use), (1, 1), "{report:?}");
    assert!(!guard.is_valid());
    let told = poll_and_drop(guard.lost(), 1).await;
    assert!(told.is_some(), "the holder is notified");
    // The guard is still kept, but its lease is no longer renewed.
    eventually("free lock", LONG, async || store.is_empty().await).await;
    let error = guard.release().await.unwrap_err();
    assert!(
        error.is_lost() && error.to_string().contains("shut down"),
        "{error}"
    );
}
