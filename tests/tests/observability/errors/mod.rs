//! Every kind of failure, reached through the public interface, and its message. The fault table has what a server
//! refuses.

mod installed;
mod kinds;
mod secrets;
mod sentences;
mod unavailable;

use std::time::Duration;

use harness::{KEY, LOCK, LONG, RedisServer, ms};
use lock_runtime::{LockClient, LockError};

/// A client with a label.
fn client(url: impl Into<String>) -> LockClient {
    let builder = LockClient::builder().url(url).label("api-7@here");
    builder.build().expect("the settings are valid")
}

/// The error of an attempt to lock.
async fn refusal(client: &LockClient, wait: Duration) -> LockError {
    let acquire = client.lock(KEY).wait(wait).acquire();
    acquire.await.expect_err("the attempt fails")
}

/// Runs a command that must succeed.
#[track_caller]
fn ask<T: redis::FromRedisValue>(server: &RedisServer, words: &[&str]) -> T {
    harness::ask(&mut server.connection(), words)
}
