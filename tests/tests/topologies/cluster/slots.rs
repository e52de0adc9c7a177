//! Slots that move under held and queued locks.

use std::time::Duration;

use harness::{KEY, LOCK, LONG, QUEUE, RedisCluster, client, eventually, exists, hold, ms, served};

use super::has;

/// The primary that has the lock, and another one.
fn source_and_target(cluster: &RedisCluster) -> (usize, usize) {
    let source = cluster.first_owner(LOCK);
    (source, (source + 1) % 3)
}

#[tokio::test]
async fn held_lock_moves_with_its_slot() {
    let cluster = RedisCluster::start();
    let client = client(cluster.url());
    let guard = hold(&client).await;
    let (source, target) = source_and_target(&cluster);
    cluster.move_slot(cluster.slot(LOCK), source, target, || ());
    assert!(has(&cluster, target, LOCK));
    guard.renew().await.unwrap();
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    assert!(!has(&cluster, target, LOCK));
    hold(&client).await.release().await.unwrap();
}

/// The lock has gone to the new node, and the slot is still the old one's: ASK.
#[tokio::test]
async fn held_lock_is_renewed_and_released_while_its_slot_moves() {
    let cluster = RedisCluster::start();
    let client = client(cluster.url());
    let (source, target) = source_and_target(&cluster);
    let slot = cluster.slot(LOCK);
    for is_released in [false, true] {
        let guard = hold(&client).await;
        cluster.open_slot(slot, source, target);
        cluster.move_named(LOCK, source, target);
        guard.renew().await.unwrap();
        if is_released {
            guard.release().await.unwrap();
            eventually("release", LONG, async || !has(&cluster, target, LOCK)).await;
        } else {
            while cluster.move_key(slot, source, target) {}
            cluster.close_slot(slot, source, target);
            guard.release().await.unwrap();
            cluster.move_slot(slot, target, source, || ());
        }
    }
}

/// While the records of a lock are apart, nobody can queue or be granted it: TRYAGAIN, until the slot has moved.
#[tokio::test]
async fn waiters_are_served_once_their_slot_has_moved() {
    let cluster = RedisCluster::start();
    let clients = [(); 2].map(|()| client(cluster.url()));
    let guard = hold(&clients[0]).await;
    let waiting = tokio::spawn(clients[1].lock(KEY).wait(LONG).acquire());
    let (source, target) = source_and_target(&cluster);
    let mut admin = cluster.nodes[source].connection();
    eventually("waiter", LONG, async || exists(&mut admin, QUEUE)).await;
    let slot = cluster.slot(LOCK);
    cluster.open_slot(slot, source, target);
    cluster.move_named(QUEUE, source, target);
    let releasing = tokio::spawn(guard.release());
    tokio::time::sleep(ms(100)).await;
    while cluster.move_key(slot, source, target) {}
    cluster.close_slot(slot, source, target);
    releasing.await.unwrap().unwrap();
    served(waiting).await.release().await.unwrap();
}

/// Its holder keeps it, and a newcomer is told after its time that the slot moves.
#[tokio::test]
async fn slot_that_is_left_half_moved_keeps_its_holders_and_admits_nobody() {
    let cluster = RedisCluster::start();
    let ttl = ms(2_000);
    let builder = lock_runtime::LockClient::builder().url(cluster.url());
    let client = builder.command_timeout(ms(500)).build().unwrap();
    let guard = client.lock(KEY).ttl(ttl).acquire().await.unwrap();
    let (source, target) = source_and_target(&cluster);
    let slot = cluster.slot(LOCK);
    cluster.open_slot(slot, source, target);
    cluster.move_named(LOCK, source, target);
    let other = harness::client(cluster.url());
    let error = other.lock(KEY).wait(ms(700)).acquire().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains("TRYAGAIN"), "{error}");
    tokio::time::sleep(ttl * 2).await;
    assert!(guard.is_valid(), "it was renewed all the time");
    while cluster.move_key(slot, source, target) {}
    cluster.close_slot(slot, source, target);
    guard.release().await.unwrap();
    hold(&other).await.release().await.unwrap();
}

/// Slots move to and fro under load.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_exclude_each_other_while_slots_move() {
    let cluster = RedisCluster::start();
    let clients = [(); 2].map(|()| client(cluster.url()));
    let inside = std::sync::Arc::new(tokio::sync::Mutex::new(()));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..8 {
        let (client, inside) = (clients[caller % 2].clone(), inside.clone());
        callers.spawn(async move {
            let mut done = 0;
            let until = tokio::time::Instant::now() + Duration::from_secs(4);
            while tokio::time::Instant::now() < until {
                let guard = client.lock(KEY).wait(LONG).acquire().await.unwrap();
                let alone = inside.try_lock().expect("nobody else is inside");
                tokio::time::sleep(ms(1)).await;
                drop(alone);
                guard.release().await.unwrap();
                done += 1;
            }
            done
        });
    }
    let (source, target) = source_and_target(&cluster);
    let slot = cluster.slot(LOCK);
    let mut cluster = cluster;
    for round in 0..20 {
        let (from, to) = if round % 2 == 0 {
            (source, target)
        } else {
            (target, source)
        };
        let moving = tokio::task::spawn_blocking(move || {
            cluster.move_slot(slot, from, to, || ());
            cluster
        });
        cluster = moving.await.unwrap();
        tokio::time::sleep(ms(50)).await;
    }
    let mut done = 0;
    while let Some(caller) = callers.join_next().await {
        done += caller.unwrap();
    }
    assert!(done > 100, "{done} turns");
}
