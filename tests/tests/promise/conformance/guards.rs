//! The properties of a guard, alone and nested.

use std::time::Duration;

use super::store::Store;
use super::tools::{KEY, LONG, becomes_free, hold, is_held};
use harness::token_of;

pub(crate) async fn a_guard_has_its_keys_and_remaining_time(store: Store) {
    let guard = hold(&store.client()).await;
    assert_eq!(guard.key(), KEY);
    assert_eq!(guard.hold_count(), 1);
    assert!(guard.is_valid());
    assert!(guard.remaining() > Duration::ZERO);
    assert!(guard.remaining() <= Duration::from_secs(30), "the default");
    let token = token_of(&guard).await;
    assert!(token.get() > 0 && token.get() < 1 << 63);
    assert_eq!(token.to_string(), token.get().to_string());
    guard.renew().await.expect("the lock is ours");
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
