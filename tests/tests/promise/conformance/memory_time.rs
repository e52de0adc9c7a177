//! A memory client uses its runtime's clock, so paused time makes everything exact. Its synchronous
//! callers use the real clock.

use std::time::Duration;

use lock_runtime::LockClient;
use tokio::time::Instant;

use super::tools::{KEY, LONG, hold, ms};

#[tokio::test(start_paused = true)]
async fn a_wait_takes_exactly_its_time() {
    let client = LockClient::memory();
    let guard = hold(&client).await;
    let lock = || client.lock(KEY);
    for wait in [ms(0), ms(1), ms(250), Duration::from_secs(3_600)] {
        let started = Instant::now();
        let error = lock().wait(wait).acquire().await.unwrap_err();
        assert_eq!((started.elapsed(), error.waited()), (wait, Some(wait)));
    }
    let started = Instant::now();
    lock().acquire().await.unwrap_err();
    assert_eq!(started.elapsed(), Duration::from_secs(10), "the default");
    assert!(guard.is_valid(), "an hour is nothing to a renewed lease");
}

#[tokio::test(start_paused = true)]
async fn a_synchronous_caller_uses_the_real_clock() {
    let client = LockClient::memory();
    let (minute, lock) = (Duration::from_secs(60), || client.lock(KEY).wait(LONG));
    tokio::time::advance(minute).await;
    let guard = lock().ttl(minute / 2).renew(false).acquire_blocking();
    let guard = guard.unwrap();
    tokio::time::advance(minute).await;
    assert!(guard.is_valid());
    guard.renew().await.unwrap();
    guard.release_blocking().unwrap();

    // With paused time these calls would never end.
    let guard = lock().ttl(ms(100)).renew(false).acquire_blocking().unwrap();
    let next = lock().acquire_blocking().unwrap();
    assert!(!guard.is_valid());
    let error = client.lock(KEY).wait(ms(50)).acquire_blocking();
    assert!(error.unwrap_err().waited().unwrap() >= ms(50));
    next.release_blocking().unwrap();
}
