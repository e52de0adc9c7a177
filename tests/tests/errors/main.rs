//! Every kind of failure, reached by a user's means, and what it says.

mod events;
mod installed;
mod kinds;
mod log;
mod rejected;
mod secrets;
mod sentences;
mod unavailable;

use std::time::Duration;

use harness::{PATIENCE, RedisServer};
use lock_runtime::{LockClient, LockError};

const KEY: &str = "order:42";
const LOCK: &str = "lock:order:42";

/// A wait that only a failing test sees the end of.
const LONG: Duration = PATIENCE;

/// What a busy machine may add to any time.
const SLACK: Duration = Duration::from_secs(3);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn client(url: impl Into<String>) -> LockClient {
    let builder = LockClient::builder().url(url).label("api-7");
    builder.build().expect("the settings are valid")
}

/// What comes of asking for the lock.
async fn refusal(client: &LockClient, wait: Duration) -> LockError {
    let acquire = client.lock(KEY).wait(wait).acquire();
    acquire.await.expect_err("the lock cannot be had")
}

/// Runs a command that must succeed.
#[track_caller]
fn ask<T: redis::FromRedisValue>(server: &RedisServer, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    match command.query(&mut server.connection()) {
        Ok(answer) => answer,
        Err(error) => panic!("{words:?}: {error}"),
    }
}
