//! A lock whose records have all moved, in a slot that is still moving: the old node redirects each command by ASK.
//! `protocol/scripts/damage/moving_slot` has scripts whose records are partly missing.

use std::time::Duration;

use harness::{LONG, RedisCluster, eventually, patient, token_of};

use super::has;

const KEY: &str = "{half}:1";

#[tokio::test]
async fn release_and_hand_off_follow_the_records_of_a_half_moved_slot() {
    let cluster = RedisCluster::with(3, 0);
    let clients = [(); 3].map(|()| patient(cluster.url()).build().unwrap());
    // No renewal meets the moving slot.
    let lock = |number: usize| {
        clients[number]
            .lock(KEY)
            .ttl(Duration::from_secs(900))
            .wait(LONG * 2)
    };
    // There is a fence. Otherwise scripts that name one would be retried until the whole slot has moved.
    let guard = lock(0).fenced().acquire().await.unwrap();
    // A second waiter keeps the queue's record there for the first one's confirmation.
    let first = tokio::spawn(lock(1).acquire());
    let queued = async |count| clients[0].inspect(KEY).await.unwrap().waiter_count() == count;
    eventually("the first waiter", LONG, async || queued(1).await).await;
    let second = tokio::spawn(lock(2).acquire());
    eventually("the second waiter", LONG, async || queued(2).await).await;

    let name = format!("lock:{KEY}");
    let source = cluster.first_owner(&name);
    let (target, slot) = (cluster.other_primary(source), cluster.slot(&name));
    cluster.open_slot(slot, source, target);
    for record in ["", ":w", ":f"] {
        cluster.move_named(&format!("{name}{record}"), source, target);
    }
    let token = token_of(&guard).await;
    guard.release().await.unwrap();
    let guard = first.await.unwrap().unwrap();
    assert!(token_of(&guard).await > token);
    assert!(has(&cluster, target, &name), "the slot no longer moves");

    while cluster.move_key(slot, source, target) {}
    cluster.close_slot(slot, source, target);
    guard.release().await.unwrap();
    second.await.unwrap().unwrap().release().await.unwrap();
}
