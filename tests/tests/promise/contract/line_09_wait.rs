//! `wait` bounds every call: elapsed ≤ wait + one attempt.

use std::time::{Duration, Instant};

use harness::{Mode, Proxy, RedisServer};
use lock_runtime::{LockClient, LockErrorKind};

use super::{KEY, LONG, SLACK, behind_a_proxy, client, hold, ms};

/// The default command timeout.
const ATTEMPT: Duration = Duration::from_secs(1);

/// A call fails with `kind` within its bound, waiting or not, async or not.
async fn ends_in_time(client: &LockClient, attempt: Duration, kind: LockErrorKind) {
    for wait in [Duration::ZERO, ms(300)] {
        let started = Instant::now();
        let outcome = client.lock(KEY).wait(wait).acquire().await;
        in_time(started, wait, attempt, kind, outcome);
        let started = Instant::now();
        let outcome = client.lock(KEY).wait(wait).acquire_blocking();
        in_time(started, wait, attempt, kind, outcome);
    }
}

#[track_caller]
fn in_time(
    started: Instant,
    wait: Duration,
    attempt: Duration,
    kind: LockErrorKind,
    outcome: Result<lock_runtime::LockGuard, lock_runtime::LockError>,
) {
    let elapsed = started.elapsed();
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(elapsed >= wait, "{kind:?} after {elapsed:?} of {wait:?}");
    let most = wait + attempt + SLACK;
    assert!(elapsed < most, "{kind:?} after {elapsed:?} of {wait:?}");
}

#[tokio::test]
async fn line_9_when_the_lock_is_held() {
    let server = RedisServer::start();
    // The server answers, however busy the machine is. A call that ignored `wait` would wait for longer
    // than an attempt may take.
    let builder = LockClient::builder().url(server.url());
    let builder = builder.command_timeout(LONG).wait(LONG * 3);
    let (one, other) = (builder.clone().build().unwrap(), builder.build().unwrap());
    let _guard = hold(&one).await;
    ends_in_time(&one, LONG, LockErrorKind::Busy).await;
    ends_in_time(&other, LONG, LockErrorKind::Busy).await;
}

#[tokio::test]
async fn line_9_when_connections_are_refused() {
    let mut server = RedisServer::start();
    server.kill9();
    ends_in_time(&client(server.url()), ATTEMPT, LockErrorKind::Unavailable).await;
}

#[tokio::test]
async fn line_9_when_nothing_is_answered_from_the_start() {
    let (_server, proxy, client) = behind_a_proxy();
    proxy.black_hole();
    ends_in_time(&client, ATTEMPT, LockErrorKind::Unavailable).await;
}

#[tokio::test]
async fn line_9_when_an_open_connection_falls_silent() {
    // An attempt so long that two of them cannot pass for one.
    let attempt = ms(4_000);
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.command_timeout(attempt).build().unwrap();
    drop(hold(&client).await);
    proxy.black_hole();
    let started = Instant::now();
    let outcome = client.lock(KEY).wait(Duration::ZERO).acquire().await;
    assert!(outcome.unwrap_err().is_unavailable());
    let elapsed = started.elapsed();
    assert!(elapsed < attempt + SLACK, "it took {elapsed:?}");
}

#[tokio::test]
async fn line_9_when_a_holder_is_seen_and_then_nothing_more() {
    let attempt = ms(3_000);
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let slow = builder.command_timeout(attempt).build().unwrap();
    let _guard = hold(&client(server.url())).await;
    // Each answer takes most of an attempt.
    assert!(slow.lock(KEY).try_acquire().await.unwrap().is_none());
    proxy.replies(Mode::Delay(ms(2_000)));
    let started = Instant::now();
    let outcome = slow.lock(KEY).wait(ms(100)).acquire().await;
    assert!(started.elapsed() < ms(100) + attempt + SLACK);
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Busy, "{error}");
}

#[tokio::test]
async fn line_9_a_command_timeout_of_ones_own_is_the_attempt() {
    let server = RedisServer::start();
    let builder = LockClient::builder().url(server.url());
    let client = builder.command_timeout(ms(100)).build().unwrap();
    drop(hold(&client).await);
    server.pause();
    for wait in [Duration::ZERO, ms(250)] {
        let started = Instant::now();
        let outcome = client.lock(KEY).wait(wait).acquire().await;
        assert!(outcome.unwrap_err().is_unavailable());
        let elapsed = started.elapsed();
        assert!(elapsed < wait + ms(100) + SLACK, "{elapsed:?} of {wait:?}");
    }
    server.resume();
}
