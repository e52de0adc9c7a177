//! What operators see of locks while slots move.

use std::collections::BTreeSet;
use std::time::Duration;

use harness::{LONG, RedisCluster, failed, keys_of, patient, sees_waiters, token_of};
use lock_runtime::inspect::{Revocation, Revoked};
use lock_runtime::{LockClient, LockErrorKind, LockGuard};

use super::{has, keys_of_each};

/// No renewal meets a moving slot.
const LEASE: Duration = Duration::from_secs(900);

async fn hold(client: &LockClient, key: &str) -> LockGuard {
    client.lock(key).ttl(LEASE).await.expect("it is free")
}

/// The records of a lock with waiters are on two nodes, whichever of them have moved.
#[tokio::test]
async fn lock_of_a_half_moved_slot_is_shown_from_both_nodes() {
    let cluster = RedisCluster::with(3, 0);
    let [holder, other, operator] = [(); 3].map(|()| patient(cluster.url()).build().unwrap());
    let (key, lock) = ("{half}:1", "lock:{half}:1");
    let guard = hold(&holder, key).await;
    let token = token_of(&guard).await;
    let waiting = tokio::spawn(other.lock(key).wait(LONG * 2).acquire());
    sees_waiters(&operator, key, 1).await;
    let source = cluster.first_owner(lock);
    let (target, slot) = (cluster.other_primary(source), cluster.slot(lock));
    cluster.open_slot(slot, source, target);
    let before = operator.inspect(key).await.unwrap();
    for record in [lock, "lock:{half}:1:w", "lock:{half}:1:f"] {
        cluster.move_named(record, source, target);
        assert!(has(&cluster, target, record));
        let state = operator.inspect(key).await.unwrap();
        assert_eq!(state.holders[0].token, Some(token), "{record}");
        assert_eq!(state.last_token, before.last_token, "{record}");
        // A poll of the waiter may have moved its place.
        assert!(state.waiter_count() <= 1, "{record}");
    }
    cluster.close_slot(slot, source, target);
    let revocation = Revocation::new("ann", "slot");
    let revoked = operator
        .revoke(key, token_of(&guard).await, revocation)
        .await
        .unwrap();
    assert!(matches!(revoked, Revoked::Done(_)), "{revoked:?}");
    let next = harness::served(waiting).await;
    assert!(guard.release().await.unwrap_err().is_lost());
    next.release().await.unwrap();
}

/// The revocation is sent again, and finds the lock as the first one left it, which does not reveal the outcome of the
/// first.
#[tokio::test]
async fn revocation_with_a_lost_answer_has_an_unknown_outcome() {
    let cluster = RedisCluster::behind_proxies();
    let [holder, operator] = [(); 2].map(|()| patient(cluster.url()).build().unwrap());
    let revoke = async |guard: &LockGuard, key| {
        let revocation = Revocation::new("ann", "stuck").without_audit();
        operator
            .revoke(key, token_of(guard).await, revocation)
            .await
    };
    // From here on the node has the script.
    let (first, key) = ("{order}:1", "{order}:2");
    let revoked = revoke(&hold(&holder, first).await, first).await.unwrap();
    assert!(matches!(revoked, Revoked::Done(_)), "{revoked:?}");
    let guard = hold(&holder, key).await;
    token_of(&guard).await;
    cluster.cut_next_reply(cluster.first_owner("lock:{order}:2"), "EVALSHA");
    let error = failed(revoke(&guard, key).await, LockErrorKind::Unavailable);
    assert!(
        error.to_string().contains("may have been carried out"),
        "{error}"
    );
    assert!(!operator.inspect(key).await.unwrap().is_held());
    assert!(guard.release().await.unwrap_err().is_lost());
}

/// A lock moves from a node that has not been read yet to a node that has.
#[tokio::test]
async fn lock_whose_slot_moves_during_a_listing_is_shown() {
    for closes in [true, false] {
        let cluster = RedisCluster::with(3, 0);
        let [holder, operator] = [(); 2].map(|()| patient(cluster.url()).build().unwrap());
        let keys = keys_of_each(&cluster);
        let mut guards = Vec::new();
        for key in keys.iter().flatten() {
            guards.push(hold(&holder, key).await);
        }
        let mut locks = operator.locks().page_size(1_000);
        let first = locks.next_page().await.unwrap().unwrap();
        let first: Vec<&str> = first.iter().map(|lock| lock.key.as_str()).collect();
        let read = keys
            .iter()
            .position(|keys| first.contains(&keys[0].as_str()));
        let read = read.expect("a page has the locks of a node");
        for (source, keys) in keys.iter().enumerate().filter(|(node, _)| *node != read) {
            let lock = format!("lock:{}", keys[0]);
            let slot = cluster.slot(&lock);
            cluster.open_slot(slot, source, read);
            while cluster.move_key(slot, source, read) {}
            assert!(has(&cluster, read, &lock));
            if closes {
                cluster.close_slot(slot, source, read);
            }
        }
        let mut shown: BTreeSet<String> = first.into_iter().map(str::to_owned).collect();
        let twice = shown.len();
        let rest = keys_of(locks).await;
        assert_eq!(
            rest.intersection(&shown).count(),
            0,
            "of {twice}, none is shown twice"
        );
        shown.extend(rest);
        assert!(
            keys.iter().flatten().all(|key| shown.contains(key)),
            "{shown:?}"
        );
        if !closes {
            // The locks of half-moved slots are on the node that imports them.
            assert_eq!(keys_of(operator.locks()).await.len(), 6);
        }
        drop(guards);
    }
}
