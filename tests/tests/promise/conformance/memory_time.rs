//! A memory client uses its runtime's clock, so paused time makes everything exact. Its synchronous
//! callers use the real clock.

use std::time::Duration;

use lock_runtime::{Acquire, LockClient};
use tokio::time::Instant;

use super::tools::{KEY, LONG, hold, ms};

/// The time that passes on the paused clock while `work` runs.
async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let started = Instant::now();
    let output = work.await;
    (output, started.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_wait_takes_exactly_its_time() {
    let client = LockClient::memory();
    let guard = hold(&client).await;
    let lock = || client.lock(KEY);
    for wait in [ms(0), ms(1), ms(250), Duration::from_secs(3_600)] {
        let (outcome, time) = timed(lock().wait(wait).acquire()).await;
        let error = outcome.unwrap_err();
        assert_eq!((time, error.waited()), (wait, Some(wait)));
    }
    let (_, time) = timed(lock().acquire()).await;
    assert_eq!(time, Duration::from_secs(10), "the default");
    assert!(guard.is_valid(), "an hour is nothing to a renewed lease");
}

#[tokio::test(start_paused = true)]
async fn a_hold_is_lost_at_its_deadline_and_free_at_its_ttl() {
    let client = LockClient::memory();
    let ttl = Duration::from_secs(10);
    let guard = client.lock(KEY).ttl(ttl).renew(false).acquire().await;
    let guard = guard.unwrap();
    assert_eq!(guard.remaining(), ms(10_000 - 100 - 2));
    let next = client.lock(KEY).wait(Duration::from_secs(60)).acquire();
    let next = tokio::spawn(timed(next));
    let ((), time) = timed(guard.lost()).await;
    assert_eq!(time, ms(10_000 - 100 - 2));
    let (granted, time) = next.await.unwrap();
    assert!(granted.is_ok());
    assert_eq!(time, ttl);
}

#[tokio::test(start_paused = true)]
async fn max_hold_is_exact_and_the_next_caller_follows() {
    let client = LockClient::memory();
    let max_hold = Duration::from_secs(300);
    let lease = client.lock(KEY).ttl(Duration::from_secs(10));
    let guard = lease.max_hold(max_hold).acquire().await.unwrap();
    let next = client.lock(KEY).wait(max_hold * 2).acquire();
    let next = tokio::spawn(timed(next));
    let ((), time) = timed(guard.lost()).await;
    let margin = ms(100 + 2);
    assert!(
        time <= max_hold && time >= max_hold - margin,
        "it was lost after {time:?}"
    );
    let (granted, time) = next.await.unwrap();
    assert!(granted.is_ok());
    assert_eq!(time, max_hold);
}

#[tokio::test(start_paused = true)]
async fn a_renewed_hold_lasts_for_days() {
    let client = LockClient::memory();
    let guard = hold(&client).await;
    tokio::time::advance(Duration::from_secs(3 * 24 * 60 * 60)).await;
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_exactly_for_its_grace() {
    let grace = Duration::from_secs(30);
    let builder = LockClient::builder().url("memory://");
    let client = builder.shutdown_grace(grace).build().unwrap();
    let body = async |_: &_| std::future::pending::<()>().await;
    let running = client.lock(KEY).run(body);
    let (outcome, ((), time)) = tokio::join!(running, timed(client.shutdown()));
    assert!(outcome.unwrap_err().is_lost());
    assert_eq!(time, grace);
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

#[tokio::test(start_paused = true)]
async fn permit_waits_for_the_first_share_to_lapse_and_a_writer_for_the_last() {
    let client = LockClient::memory();
    let seconds = Duration::from_secs;
    let lease = |ttl| client.lock(KEY).permits(2).ttl(ttl).renew(false);
    let _longer = lease(seconds(20)).acquire().await.unwrap();
    let _shorter = lease(seconds(10)).acquire().await.unwrap();
    let waits = |acquire: Acquire| timed(acquire.wait(seconds(60)).acquire());
    let (permit, time) = waits(client.lock(KEY).permits(2)).await;
    assert_eq!(time, seconds(10));
    permit.unwrap().release().await.unwrap();
    let (writer, time) = waits(client.lock(KEY).write()).await;
    assert!(writer.is_ok());
    assert_eq!(time, seconds(10), "the rest of twenty");
}
