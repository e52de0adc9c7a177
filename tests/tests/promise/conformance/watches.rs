//! A watch tells who holds a lock.

use std::time::Duration;

use harness::{revoke, sees_waiters, soon, token_of};
use lock_runtime::LockErrorKind;
use lock_runtime::inspect::{LockState, Watch};

use super::store::Store;
use super::tools::{KEY, LONG, STEADY, at_once, hold, ms};

async fn next(watch: &mut Watch) -> LockState {
    let state = soon(watch.changed()).await.expect("it can be seen");
    state.expect("the client is not shut down")
}

/// The holders that come are told, each once, whatever else happens to the lock.
pub(crate) async fn watch_tells_the_state_and_each_change_of_holder_once(store: Store) {
    let (client, other, operator) = (store.client(), store.client(), store.operator());
    let mut watch = operator.watch(KEY).every(ms(100));
    assert!(!next(&mut watch).await.is_held());

    // On a server, later calls than the first have no token before they ask.
    let warm = client.lock("another").acquire().await.unwrap();
    warm.release().await.unwrap();
    let first = client.lock(KEY).ttl(STEADY).acquire().await.unwrap();
    let seen = next(&mut watch).await;
    assert!(seen.is_held());
    // None of this is a change of holder.
    first.renew().await.unwrap();
    let token = token_of(&first).await;
    let waiting = tokio::spawn(other.lock(KEY).ttl(STEADY).wait(LONG).acquire());
    if store.has_queue() {
        sees_waiters(&operator, KEY, 1).await;
    }

    // The watch asks meanwhile.
    tokio::time::sleep(ms(250)).await;
    first.release().await.unwrap();
    let second = soon(waiting).await.unwrap().unwrap();
    let mut seen = next(&mut watch).await;
    if !seen.is_held() && !store.has_queue() {
        // The lock was free until the waiter asked again.
        seen = next(&mut watch).await;
    }
    assert!(seen.is_held());
    assert!(token_of(&second).await > token);
    second.release().await.unwrap();
    assert!(!next(&mut watch).await.is_held());
}

pub(crate) async fn each_watch_begins_with_the_current_state(store: Store) {
    let operator = store.operator();
    let guard = hold(&store.client()).await;
    let mut watches = [(); 3].map(|()| operator.watch(KEY).every(ms(100)));
    for watch in &mut watches {
        assert!(next(watch).await.is_held());
    }
    guard.release().await.unwrap();
    for watch in &mut watches {
        assert!(!next(watch).await.is_held());
    }
}

/// The client's own messages bring the question forward: an hour would be too late.
pub(crate) async fn client_that_waits_for_the_lock_learns_of_its_holder_at_once(store: Store) {
    if !store.has_queue() {
        // A release in Redisson's record does not decide who is next.
        return;
    }
    let (client, other) = (store.watcher(), store.client());
    let first = other.lock(KEY).ttl(STEADY).acquire().await.unwrap();
    let mut watch = client.watch(KEY).every(Duration::from_secs(3600));
    let before = next(&mut watch).await;
    let waiting = tokio::spawn(client.lock(KEY).ttl(STEADY).wait(LONG).acquire());
    sees_waiters(&client, KEY, 1).await;
    first.release().await.unwrap();
    let second = soon(waiting).await.unwrap().unwrap();
    let after = next(&mut watch).await;
    assert!(after.is_held());
    assert_ne!(before.holders[0].reference, after.holders[0].reference);

    // A revocation is a message, too.
    let reference = after.holders[0].reference.expect("it can be revoked");
    revoke(&store.operator(), KEY, reference).await;
    assert!(!next(&mut watch).await.is_held());
    drop(second);
}

pub(crate) async fn lease_that_ends_by_itself_is_told(store: Store) {
    let operator = store.operator();
    let mut watch = operator.watch(KEY).every(ms(100));
    assert!(!next(&mut watch).await.is_held());
    let guard = at_once(store.client().lock(KEY).ttl(ms(1_500)).renew(false)).await;
    // However late a busy machine asks.
    let held = loop {
        tokio::select! {
            state = next(&mut watch) => break state,
            () = tokio::time::sleep(ms(200)) => guard.renew().await.unwrap(),
        }
    };
    assert!(held.is_held());
    assert!(!next(&mut watch).await.is_held());
    assert!(guard.release().await.unwrap_err().is_lost());
}

pub(crate) async fn watch_ends_when_its_client_is_shut_down(store: Store) {
    let client = store.operator();
    let mut watch = client.watch(KEY);
    next(&mut watch).await;
    let watching = tokio::spawn(async move {
        let ended = watch.changed().await;
        (ended, watch.changed().await)
    });
    tokio::task::yield_now().await;
    client.shutdown().await;
    let (first, second) = soon(watching).await.unwrap();
    assert!(
        matches!((&first, &second), (Ok(None), Ok(None))),
        "{first:?} {second:?}"
    );
    let late = soon(client.watch(KEY).changed()).await;
    assert!(matches!(late, Ok(None)), "{late:?}");
}

pub(crate) async fn impossible_interval_or_key_is_refused(store: Store) {
    let client = store.client();
    for every in [ms(99), Duration::from_millis(3_600_001)] {
        let error = client.watch(KEY).every(every).changed().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
        assert!(
            error.to_string().contains("between 100 ms and 1 h"),
            "{error}"
        );
    }
    let error = client.watch("").changed().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidKey);
}
