//! The properties of a guard, alone and nested.

use std::time::Duration;

use super::store::Store;
use super::tools::{KEY, LONG, becomes_free, hold, is_held};

pub(crate) async fn a_guard_has_its_keys_and_remaining_time(store: Store) {
    let guard = hold(&store.client()).await;
    assert_eq!(guard.key(), KEY);
    assert_eq!(guard.hold_count(), 1);
    assert!(guard.is_valid());
    assert!(guard.remaining() > Duration::ZERO);
    assert!(guard.remaining() <= Duration::from_secs(30), "the default");
    let token = guard.fencing_token().await.unwrap();
    assert!(token.get() > 0 && token.get() < 1 << 63);
    assert_eq!(token.to_string(), token.get().to_string());
    guard.renew().await.expect("the lock is ours");
}

pub(crate) async fn a_nested_guard_costs_no_new_token(store: Store) {
    let client = store.client();
    let body = async |outer: &lock_runtime::LockGuard| {
        let inner = client.lock(KEY).acquire().await.unwrap();
        assert_eq!(
            inner.fencing_token().await.unwrap(),
            outer.fencing_token().await.unwrap()
        );
        assert_eq!((inner.hold_count(), outer.hold_count()), (2, 2));
        inner.release().await.unwrap();
        assert_eq!(outer.hold_count(), 1);
        assert!(outer.is_valid());
        client
            .clone()
            .lock(KEY)
            .run(async |inner| inner.hold_count())
            .await
    };
    assert_eq!(client.lock(KEY).run(body).await.unwrap().unwrap(), 2);
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
