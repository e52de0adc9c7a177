//! The same for locks with several holders, and for several locks.

use harness::{all_locks, eventually, revoke, sees_waiters, token_of};
use lock_runtime::inspect::HolderKind;
use tokio::time::timeout;

use super::store::Store;
use super::tools::{KEY, LONG, STEADY, at_once};

pub(crate) async fn readers_are_shown_and_revoked_together(store: Store) {
    let (client, other, operator) = (store.client(), store.client(), store.operator());
    let readers = [
        at_once(client.lock(KEY).read().ttl(STEADY)).await,
        at_once(other.lock(KEY).read().ttl(STEADY)).await,
    ];
    let state = operator.inspect(KEY).await.unwrap();
    assert_eq!(state.holders.len(), 2, "{state:?}");
    for holder in &state.holders {
        assert_eq!((holder.kind, holder.permits), (HolderKind::Share, 1));
        assert_eq!(holder.token, Some(token_of(&readers[0]).await));
    }
    let listed = all_locks(operator.locks()).await.unwrap();
    assert_eq!(listed[0].holder_count, 2, "{listed:?}");

    let writer = tokio::spawn(client.lock(KEY).write().ttl(STEADY).wait(LONG).acquire());
    sees_waiters(&operator, KEY, 1).await;
    let receipt = revoke(&operator, KEY, token_of(&readers[0]).await).await;
    assert!(receipt.handed_off);
    for reader in &readers {
        timeout(LONG, reader.lost())
            .await
            .expect("the holder is notified");
    }
    let writer = timeout(LONG, writer).await.unwrap().unwrap().unwrap();
    assert!(token_of(&writer).await > token_of(&readers[0]).await);
    for reader in readers {
        let lost = reader.release().await.unwrap_err().to_string();
        assert!(lost.contains("revoked by ann@ops-1"), "{lost}");
    }
    assert!(writer.is_valid());
    writer.release().await.unwrap();
}

pub(crate) async fn permits_are_shown_with_what_they_take(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let one = at_once(client.lock(KEY).permits(5).ttl(STEADY)).await;
    let three = at_once(client.lock(KEY).permits(5).take(3).ttl(STEADY)).await;
    let state = operator.inspect(KEY).await.unwrap();
    let mut permits: Vec<u32> = state.holders.iter().map(|holder| holder.permits).collect();
    permits.sort_unstable();
    assert_eq!(permits, [1, 3], "{state:?}");
    one.release().await.unwrap();
    assert_eq!(operator.inspect(KEY).await.unwrap().holders.len(), 1);
    three.release().await.unwrap();
    assert!(!operator.inspect(KEY).await.unwrap().is_held());
}

pub(crate) async fn revoked_lock_among_several_ends_the_call(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let keys = ["{account}:1", "{account}:2", "{account}:3"];
    let guard = client.lock_all(keys).ttl(STEADY).acquire().await.unwrap();
    let held = client.held();
    assert_eq!((held.len(), held[0].keys.len()), (1, 3), "{held:?}");
    revoke(&operator, "{account}:2", token_of(&guard).await).await;
    timeout(LONG, guard.lost())
        .await
        .expect("the holder is notified");
    assert!(guard.release().await.unwrap_err().is_lost());
    for key in keys {
        let is_free = async || !operator.inspect(key).await.unwrap().is_held();
        eventually("free lock", LONG, is_free).await;
    }
}
