//! `wait` bounds every call: elapsed ≤ wait + one attempt. `conformance` has the case of a held lock.

use std::time::{Duration, Instant};

use harness::{Mode, RedisServer, failed, hasty, patient, ran_since, server_and_proxy};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};

use super::{KEY, SLACK, client, hold, ms};

/// The default command timeout.
const ATTEMPT: Duration = Duration::from_secs(1);

/// A call fails within its bound, waiting or not, async or not.
async fn ends_in_time(client: &LockClient) {
    for wait in [Duration::ZERO, ms(300)] {
        let started = Instant::now();
        in_time(started, wait, client.lock(KEY).wait(wait).acquire().await);
        let started = Instant::now();
        in_time(
            started,
            wait,
            client.lock(KEY).wait(wait).acquire_blocking(),
        );
    }
}

#[track_caller]
fn in_time(started: Instant, wait: Duration, outcome: Result<LockGuard, LockError>) {
    let elapsed = started.elapsed();
    let error = outcome.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(elapsed >= wait, "after {elapsed:?} of {wait:?}");
    let most = wait + ATTEMPT + SLACK;
    assert!(ran_since(started) < most, "after {elapsed:?} of {wait:?}");
}

#[tokio::test]
async fn line_9_when_connections_are_refused() {
    let mut server = RedisServer::start();
    server.kill9();
    ends_in_time(&hasty(server.url()).build().unwrap()).await;
    ends_in_time(&hasty("redis://host.invalid").build().unwrap()).await;
}

#[tokio::test]
async fn line_9_when_nothing_is_answered_from_the_start() {
    let (_server, proxy) = server_and_proxy();
    proxy.black_hole();
    ends_in_time(&hasty(proxy.url()).build().unwrap()).await;
}

#[tokio::test]
async fn line_9_when_an_open_connection_falls_silent() {
    // An attempt long enough that two of them cannot pass for one.
    let attempt = ms(4_000);
    let (_server, proxy) = server_and_proxy();
    let builder = patient(proxy.url());
    let client = builder.command_timeout(attempt).build().unwrap();
    drop(hold(&client).await);
    proxy.black_hole();
    let started = Instant::now();
    let outcome = client.lock(KEY).wait(Duration::ZERO).acquire().await;
    assert!(outcome.unwrap_err().is_unavailable());
    let elapsed = started.elapsed();
    assert!(elapsed >= attempt, "the timeout is the client's own");
    assert!(ran_since(started) < attempt + SLACK, "it took {elapsed:?}");
}

#[tokio::test]
async fn line_9_when_the_server_falls_silent_after_a_busy_answer() {
    let attempt = ms(3_000);
    let (server, proxy) = server_and_proxy();
    let builder = patient(proxy.url());
    let slow = builder.command_timeout(attempt).build().unwrap();
    let _guard = hold(&client(server.url())).await;
    // Each answer takes most of an attempt.
    assert!(slow.lock(KEY).try_acquire().await.unwrap().is_none());
    proxy.replies(Mode::Delay(ms(2_000)));
    let started = Instant::now();
    let outcome = slow.lock(KEY).wait(ms(100)).acquire().await;
    assert!(ran_since(started) < ms(100) + attempt + SLACK);
    failed(outcome, LockErrorKind::Busy);
}
