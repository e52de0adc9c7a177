//! The words that the suites share: one lock, its records, and how to ask for it.

use std::future::Future;
use std::time::Duration;

use lock_runtime::{LockClient, LockGuard};
use redis::{Connection, FromRedisValue};

use crate::wait::PATIENCE;

/// The key that most tests lock.
pub const KEY: &str = "order:42";
/// Its lock in Redis.
pub const LOCK: &str = "lock:order:42";
/// Its queue.
pub const QUEUE: &str = "{lock:order:42}:w";

/// A wait that only a failing test sees the end of.
pub const LONG: Duration = PATIENCE;

/// What a busy machine may add to any time.
pub const SLACK: Duration = Duration::from_secs(3);

/// Milliseconds.
pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A client with default settings, connected when it is first used.
///
/// # Panics
///
/// When the URL cannot be used.
pub fn client(url: impl Into<String>) -> LockClient {
    let builder = LockClient::builder().url(url);
    builder.build().expect("the settings are valid")
}

/// A client of that server whose callers pass no lease to each other: each asks the server.
///
/// # Panics
///
/// When the URL cannot be used.
pub fn client_without_turns(url: impl Into<String>) -> LockClient {
    let builder = LockClient::builder().url(url).local_turns(1);
    builder.build().expect("the settings are valid")
}

/// The lock, however long it takes.
///
/// # Panics
///
/// When it cannot be had.
pub async fn hold(client: &LockClient) -> LockGuard {
    let acquire = client.lock(KEY).wait(LONG).acquire();
    acquire.await.expect("the lock can be had")
}

/// Runs a command that must succeed.
///
/// # Panics
///
/// When it does not.
#[track_caller]
pub fn ask<T: FromRedisValue>(connection: &mut Connection, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    match command.query(connection) {
        Ok(answer) => answer,
        Err(error) => panic!("{words:?}: {error}"),
    }
}

/// Bounds what should take no time at all.
///
/// # Panics
///
/// When it takes longer than [`LONG`].
pub async fn soon<T>(work: impl Future<Output = T>) -> T {
    let outcome = tokio::time::timeout(LONG, work).await;
    outcome.expect("it ends")
}
