//! Several locks that are acquired together: all or none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use harness::{eventually, failed, token_of};
use lock_runtime::{LockClient, LockErrorKind, LockGuard};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::store::Store;
use super::tools::{LONG, is_refused, ms, on_a_thread, poll_and_drop};

/// In one slot of a cluster.
const ACCOUNTS: [&str; 3] = ["{account}:1", "{account}:2", "{account}:3"];

/// Whether a lock is held, as another caller sees it.
async fn is_held(client: &LockClient, key: &str) -> bool {
    let look = tokio::spawn(is_refused(client.lock(key)));
    look.await.expect("it does not panic")
}

async fn are_free(client: &LockClient, keys: &[&str]) {
    for key in keys {
        eventually("free lock", LONG, async || !is_held(client, key).await).await;
    }
}

pub(crate) async fn one_guard_holds_all_and_frees_all(store: Store) {
    let (client, other) = (store.client(), store.client());
    let all = client.lock_all(["{account}:3", "{account}:1", "{account}:2"]);
    let guard = all.acquire().await.unwrap();
    assert!(guard.keys().eq(ACCOUNTS), "{guard:?}");
    assert_eq!(guard.key(), "{account}:1");
    assert!(guard.is_valid() && guard.remaining() > ms(1_000));
    guard.renew().await.unwrap();
    for key in ACCOUNTS {
        assert!(is_held(&other, key).await, "{key}");
    }
    guard.release().await.unwrap();
    for key in ACCOUNTS {
        assert!(!is_held(&other, key).await, "{key}");
    }
    drop(client.lock_all(ACCOUNTS).acquire().await.unwrap());
    are_free(&other, &ACCOUNTS).await;
}

pub(crate) async fn lock_that_is_named_twice_is_held_once(store: Store) {
    let client = store.client();
    let guard = client
        .lock_all(["{account}:1", "{account}:1"])
        .acquire()
        .await;
    let guard = guard.unwrap();
    assert!(guard.keys().eq(["{account}:1"]));
    guard.release().await.unwrap();
    are_free(&store.client(), &["{account}:1"]).await;
}

pub(crate) async fn one_token_is_above_all_before_and_below_all_after(store: Store) {
    let client = store.client();
    let mut last = 0;
    let one = async |key: &str| {
        let guard = client.lock(key).acquire().await.unwrap();
        let token = token_of(&guard).await.get();
        guard.release().await.unwrap();
        token
    };
    for key in ACCOUNTS {
        last = last.max(one(key).await);
    }
    let guard = client.lock_all(ACCOUNTS).acquire().await.unwrap();
    let token = token_of(&guard).await.get();
    assert!(token > last);
    guard.release().await.unwrap();
    for key in ACCOUNTS {
        assert!(one(key).await > token, "{key}");
    }
}

pub(crate) async fn blocking_lock_is_named_and_the_others_are_released(store: Store) {
    let (client, other) = (store.client(), store.client());
    let ttl = store.longest_ttl;
    let second = other.lock("{account}:2").ttl(ttl).renew(false);
    let held = second.acquire().await.unwrap();
    for wait in [0, 60].map(ms) {
        let all = client.lock_all(ACCOUNTS).wait(wait).acquire().await;
        let error = failed(all, LockErrorKind::Busy);
        assert_eq!(error.key(), Some("{account}:2"), "{error}");
        assert!(error.holder().is_some());
        let left = error.retry_after().expect("the lease has an end");
        assert!(ttl / 2 < left && left <= ttl, "{left:?}");
        are_free(&other, &["{account}:1", "{account}:3"]).await;
    }
    held.release().await.unwrap();
    are_free(&client, &ACCOUNTS).await;
}

pub(crate) async fn locks_before_the_awaited_one_and_locks_that_are_held_are_renewed(store: Store) {
    let (client, other) = (store.client(), store.client());
    let ttl = store.steady;
    let held = other.lock("{account}:2").acquire().await.unwrap();
    let all = client.lock_all(ACCOUNTS).ttl(ttl).wait(LONG).acquire();
    let all = tokio::spawn(all);
    // So are the leases of a caller that has all.
    let others = ["{order}:1", "{order}:2"];
    let both = client.lock_all(others).ttl(ttl).acquire().await.unwrap();
    eventually("first lock", LONG, async || {
        is_held(&other, "{account}:1").await
    })
    .await;
    // Longer than the ttl: they are renewed.
    tokio::time::sleep(ttl + ms(500)).await;
    assert!(both.is_valid());
    for key in ["{account}:1", "{order}:1", "{order}:2"] {
        assert!(is_held(&other, key).await, "{key}");
    }
    both.release().await.unwrap();
    assert!(!is_held(&other, "{account}:3").await);
    held.release().await.unwrap();
    let guard = all.await.unwrap().unwrap();
    for key in ACCOUNTS {
        assert!(is_held(&other, key).await, "{key}");
    }
    guard.release().await.unwrap();
}

pub(crate) async fn callers_of_every_order_never_wait_for_each_other(store: Store) {
    let inside = Arc::new([const { AtomicU32::new(0) }; 3]);
    let mut callers = JoinSet::new();
    let orders = [[0, 1], [1, 0], [1, 2], [2, 1], [2, 0], [0, 2], [1, 1]];
    for order in orders {
        let (client, inside) = (store.client(), inside.clone());
        callers.spawn(async move {
            for _ in 0..12 {
                let body = async |_: &LockGuard| {
                    let mut accounts = order.to_vec();
                    accounts.dedup();
                    for &account in &accounts {
                        assert_eq!(inside[account].fetch_add(1, Ordering::SeqCst), 0);
                    }
                    tokio::task::yield_now().await;
                    for &account in &accounts {
                        inside[account].fetch_sub(1, Ordering::SeqCst);
                    }
                };
                let keys = order.map(|account| ACCOUNTS[account]);
                let lock = match keys {
                    [one, other] if one == other => client.lock(one),
                    keys => client.lock_all(keys),
                };
                lock.wait(LONG).run(body).await.unwrap();
            }
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller.expect("no caller panics");
    }
    are_free(&store.client(), &ACCOUNTS).await;
}

pub(crate) async fn lock_that_the_call_tree_holds_is_entered(store: Store) {
    let client = store.client();
    let other = store.client();
    let body = async |outer: &LockGuard| {
        let inner = client.lock_all(["{account}:1", "{account}:2"]).wait(ms(0));
        let body = async |inner: &LockGuard| {
            assert!(inner.keys().eq(["{account}:1", "{account}:2"]));
            assert_eq!(outer.hold_count(), 2, "the outer hold is shared");
            // Both count as held by this call tree.
            for key in ["{account}:1", "{account}:2"] {
                let nested = client.lock(key).wait(ms(0)).run(async |_| ()).await;
                nested.unwrap();
            }
            let both = client.lock_all(["{account}:2", "{account}:1"]).wait(ms(0));
            both.run(async |_| ()).await.unwrap();
        };
        inner.run(body).await.unwrap();
        assert!(!is_held(&other, "{account}:2").await);
        assert!(is_held(&other, "{account}:1").await);
    };
    client.lock("{account}:1").run(body).await.unwrap();
    are_free(&other, &ACCOUNTS).await;
}

pub(crate) async fn caller_that_is_dropped_leaves_nothing_behind(store: Store) {
    let (client, other) = (store.client(), store.client());
    let held = other.lock("{account}:2").acquire().await.unwrap();
    for polls in [1, 2, 5, 20] {
        let all = client.lock_all(ACCOUNTS).wait(LONG).acquire();
        assert!(poll_and_drop(all, polls).await.is_none());
        are_free(&other, &["{account}:1", "{account}:3"]).await;
    }
    held.release().await.unwrap();
    are_free(&other, &ACCOUNTS).await;
    eventually("empty store", LONG, async || store.is_empty().await).await;
}

pub(crate) async fn thread_acquires_several_locks(store: Store) {
    let (client, other) = (store.client(), store.client());
    let held = other.lock("{account}:3").acquire().await.unwrap();
    let (refused, is_refused) = oneshot::channel();
    let thread = on_a_thread(move || {
        let attempt = client.lock_all(ACCOUNTS).try_acquire_blocking().unwrap();
        assert!(attempt.is_none());
        refused.send(()).unwrap();
        let all = client.lock_all(ACCOUNTS).wait(LONG);
        all.run_blocking(|guard| guard.keys().count())
    });
    let release = async {
        is_refused.await.unwrap();
        tokio::time::sleep(ms(50)).await;
        held.release().await.unwrap();
    };
    let (count, ()) = tokio::join!(thread, release);
    assert_eq!(count.unwrap(), 3);
    are_free(&other, &ACCOUNTS).await;
}

pub(crate) async fn keys_that_cannot_be_locked_together_are_refused(store: Store) {
    let client = store.client();
    let none: [&str; 0] = [];
    let calls = [client.lock_all(none), client.lock_all(none).ttl(ms(1))];
    for (call, words) in calls.into_iter().zip(["at least one key", "20 ms"]) {
        let error = failed(call.acquire().await, LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.key(), None, "{error}");
    }
    let many = (0..33).map(|number| format!("{{account}}:{number}"));
    let error = client.lock_all(many).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidKey, "{error}");
    assert!(error.to_string().contains("at most 32 keys"), "{error}");
    let error = client.lock_all(ACCOUNTS).read().acquire().await;
    failed(error, LockErrorKind::InvalidOptions);
    for keys in [&ACCOUNTS[..], &ACCOUNTS[..1]] {
        let retained = client.lock_all(keys.iter().copied()).retain(ms(1));
        let error = failed(retained.acquire().await, LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains("never retained"), "{error}");
    }
    let unretained = client.lock_all(ACCOUNTS).retain(Duration::ZERO);
    drop(unretained.acquire().await.unwrap());
    are_free(&client, &ACCOUNTS).await;
    let most = (0..32).map(|number| format!("{{account}}:{number}"));
    let guard = client.lock_all(most).acquire().await.unwrap();
    assert_eq!(guard.keys().count(), 32);
    guard.release().await.unwrap();
}

pub(crate) async fn without_renewal_all_are_lost_at_their_ttl(store: Store) {
    let (client, other) = (store.client(), store.client());
    let all = client.lock_all(ACCOUNTS).ttl(ms(200)).renew(false);
    let guard = all.acquire().await.unwrap();
    guard.lost().await;
    assert!(guard.release().await.unwrap_err().is_lost());
    are_free(&other, &ACCOUNTS).await;
}
