//! How long a share lasts, and what its end means for the other holders.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use harness::ran_since;
use tokio::time::timeout;

use super::leases::drops_its_body;
use super::store::Store;
use super::tools::{
    KEY, LONG, SLACK, at_once, becomes_free, becomes_granted, is_refused, ms, until,
};

pub(crate) async fn lapsed_share_frees_only_its_part(store: Store) {
    let (one, other) = (store.client(), store.client());
    for waiter in [&one, &other] {
        let started = Instant::now();
        let dead = one.lock(KEY).permits(5).take(3);
        let dead = at_once(dead.ttl(ms(400)).renew(false)).await;
        let alive = at_once(other.lock(KEY).permits(5).take(2)).await;
        let next = waiter.lock(KEY).permits(5).take(3).wait(LONG);
        let next = next.acquire().await.unwrap();
        let elapsed = started.elapsed();
        assert!(elapsed >= ms(390), "the lease was cut short at {elapsed:?}");
        assert!(ran_since(started) < ms(400) + SLACK, "it took {elapsed:?}");
        assert!(!dead.is_valid() && alive.is_valid());
        assert!(dead.release().await.unwrap_err().is_lost());
        assert!(is_refused(one.lock(KEY).permits(5)).await);
        alive.release().await.expect("the dead share frees nothing");
        next.release().await.expect("the dead share frees nothing");
    }
    assert!(store.is_empty().await);
}

pub(crate) async fn lost_share_drops_only_its_body(store: Store) {
    let (one, other) = (store.client(), store.client());
    let stays = at_once(other.lock(KEY).read()).await;
    drops_its_body(one.lock(KEY).read()).await;
    stays.renew().await.expect("the other share goes on");
    assert!(is_refused(one.lock(KEY).write()).await);
    stays.release().await.expect("the other share goes on");
    becomes_free(&one, SLACK).await;
}

pub(crate) async fn writer_waits_for_the_last_reader_to_lapse(store: Store) {
    let (one, other) = (store.client(), store.client());
    let started = Instant::now();
    let lease = |ttl| one.lock(KEY).read().ttl(ms(ttl)).renew(false);
    let longer = at_once(lease(900)).await;
    let shorter = at_once(lease(300)).await;
    let writer = other.lock(KEY).write().wait(LONG).acquire().await.unwrap();
    let elapsed = started.elapsed();
    assert!(elapsed >= ms(890), "the lease was cut short at {elapsed:?}");
    assert!(ran_since(started) < ms(900) + SLACK, "it took {elapsed:?}");
    assert!(!longer.is_valid() && !shorter.is_valid());
    writer.release().await.unwrap();
}

pub(crate) async fn renewal_extends_shares_past_their_ttl(store: Store) {
    let (one, other) = (store.client(), store.client());
    let (ttl, started) = (store.steady, Instant::now());
    let reader = at_once(one.lock(KEY).read().ttl(ttl)).await;
    let permits = other.lock(KEY).permits(5).take(3).ttl(ttl);
    let permits = at_once(permits).await;
    let by_hand = one.lock(KEY).read().ttl(ttl * 2 / 3).renew(false);
    let by_hand = at_once(by_hand).await;
    until(started + ttl / 3).await;
    let before = by_hand.remaining();
    by_hand.renew().await.unwrap();
    assert!(by_hand.remaining() > before, "the lease was not extended");
    timeout(LONG, by_hand.lost())
        .await
        .expect("one renewal is not two");
    until(started + ttl + ms(500)).await;
    assert!(reader.is_valid() && permits.is_valid());
    assert!(is_refused(other.lock(KEY).permits(4)).await);
    becomes_granted(other.lock(KEY).permits(5)).await;
    reader.release().await.unwrap();
    permits.release().await.unwrap();
}

pub(crate) async fn every_end_of_a_share_releases_it(store: Store) {
    let (one, other) = (store.client(), store.client());
    let stays = at_once(other.lock(KEY).permits(5)).await;
    let four = || one.lock(KEY).permits(5).take(4);
    drop(at_once(four()).await);
    becomes_granted(other.lock(KEY).permits(5).take(4)).await;
    let body = four();
    let body = tokio::spawn(async move { body.run(async |_| panic!("the body fails")).await });
    assert!(body.await.unwrap_err().is_panic());
    becomes_granted(other.lock(KEY).permits(5).take(4)).await;
    let blocking = AssertUnwindSafe(|| four().run_blocking(|_| panic!("the body fails")));
    assert!(std::panic::catch_unwind(blocking).is_err());
    becomes_granted(other.lock(KEY).permits(5).take(4)).await;
    stays.release().await.unwrap();
    becomes_free(&one, LONG).await;
    assert!(store.is_empty().await);
}
