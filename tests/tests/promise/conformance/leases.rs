//! How long a lease lasts.

use std::future::pending;
use std::time::{Duration, Instant};

use harness::{ran_since, token_of};
use lock_runtime::Acquire;
use tokio::time::timeout;

use super::store::Store;
use super::tools::{Flag, KEY, LONG, SLACK, becomes_free, hold, is_held, ms, until};

/// How long before the ttl a holder gives up: 1 % and 2 ms.
fn margin(ttl: Duration) -> Duration {
    ttl / 100 + ms(2)
}

pub(crate) async fn without_renewal_the_hold_is_lost_at_its_ttl(store: Store) {
    let ttl = ms(300);
    let client = store.client();
    let started = Instant::now();
    let lease = client.lock(KEY).ttl(ttl).renew(false);
    let guard = lease.acquire().await.unwrap();
    let held_since = Instant::now();
    assert!(guard.is_valid());
    timeout(LONG, guard.lost())
        .await
        .expect("the loss is reported");
    // tokio's timers have a resolution of a millisecond.
    assert!(held_since.elapsed() + (held_since - started) + ms(2) >= ttl - margin(ttl));
    assert!(ran_since(held_since) < ttl + SLACK);
    assert!(!guard.is_valid());
    assert_eq!(guard.remaining(), Duration::ZERO);
    becomes_free(&client, SLACK).await;
    assert!(guard.renew().await.unwrap_err().is_lost());
    assert!(!is_held(&client).await, "a renewal took the lock");
    assert!(guard.release().await.unwrap_err().is_lost());
}

/// Two leases at once, since each takes long.
pub(crate) async fn lease_is_renewed_up_to_its_max_hold_or_once_by_hand(store: Store) {
    tokio::join!(renewed_up_to_its_max_hold(&store), renewed_by_hand(&store));
}

async fn renewed_up_to_its_max_hold(store: &Store) {
    let ttl = store.steady;
    let max_hold = ttl + ms(3_000);
    let (one, other) = (store.client(), store.client());
    let started = Instant::now();
    let lease = one.lock(KEY).ttl(ttl).max_hold(max_hold);
    let guard = lease.acquire().await.unwrap();
    // A guard outlives its client.
    drop(one);
    let lost = timeout(ttl + ms(500), guard.lost()).await;
    assert!(lost.is_err() && guard.is_valid(), "it was not renewed");
    assert!(is_held(&other).await);
    timeout(LONG, guard.lost())
        .await
        .expect("the loss is reported");
    let held = started.elapsed();
    assert!(held + ms(2) >= max_hold - margin(ttl), "{held:?}");
    let error = guard.release().await.unwrap_err();
    assert!(error.to_string().contains("max_hold"), "{error}");
    becomes_free(&other, SLACK).await;
}

async fn renewed_by_hand(store: &Store) {
    let ttl = store.steady * 2 / 3;
    let lease = store.client().lock("by hand").ttl(ttl).renew(false);
    let started = Instant::now();
    let guard = lease.acquire().await.unwrap();
    assert!(guard.remaining() <= ttl - margin(ttl));
    until(started + ttl / 2).await;
    let before = guard.remaining();
    guard.renew().await.unwrap();
    assert!(guard.remaining() > before, "the lease was not extended");
    timeout(LONG, guard.lost())
        .await
        .expect("one renewal is not two");
    let held = started.elapsed();
    assert!(held > ttl, "it ended at its first deadline, {held:?}");
    assert!(guard.release().await.unwrap_err().is_lost());
}

pub(crate) async fn a_max_hold_below_the_ttl_ends_the_hold(store: Store) {
    let client = store.client();
    let started = Instant::now();
    let lease = client.lock(KEY).ttl(LONG).max_hold(ms(200));
    let guard = lease.acquire().await.unwrap();
    timeout(LONG / 2, guard.lost())
        .await
        .expect("the loss is reported");
    assert!(started.elapsed() + ms(2) >= ms(200) - margin(ms(200)));
    let error = guard.release().await.unwrap_err();
    assert!(error.to_string().contains("max_hold"), "{error}");
    becomes_free(&client, LONG / 2).await;
}

pub(crate) async fn a_body_is_dropped_when_its_lease_ends(store: Store) {
    let client = store.client();
    drops_its_body(client.lock(KEY)).await;
    becomes_free(&client, SLACK).await;
}

/// The end of the lease drops the body of such a call.
pub(super) async fn drops_its_body(acquire: Acquire) {
    let (dropped, ended) = (Flag::default(), Flag::default());
    let body = async |_: &_| {
        let _dropped = dropped.on_drop();
        pending::<()>().await;
        ended.raise();
    };
    // Long enough for a busy machine to begin the body.
    let lease = acquire.ttl(ms(500)).renew(false);
    let started = Instant::now();
    let error = timeout(LONG, lease.run(body)).await.unwrap().unwrap_err();
    // When the timeout ends, it polls the body once more.
    assert!(ran_since(started) < LONG / 2, "nothing woke it");
    assert!(error.is_lost(), "{error}");
    assert_eq!(error.key(), Some(KEY));
    assert!(dropped.is_up() && !ended.is_up());
}

pub(crate) async fn a_body_that_ends_in_time_gives_its_result(store: Store) {
    let (one, other) = (store.client(), store.client());
    let result = one
        .lock(KEY)
        .run(async |guard| {
            assert!(is_held(&other).await);
            guard.key().len()
        })
        .await;
    assert_eq!(result.unwrap(), KEY.len());
    let own_error = one.lock(KEY).run(async |_| Err::<(), _>("no stock")).await;
    assert_eq!(own_error.unwrap(), Err("no stock"));
    hold(&other).await.release().await.unwrap();
}

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
