//! What the crate promises, line by line, each against a real server.
//!
//! The tests are named after the lines of the contract in the crate's documentation. Where a
//! promise is about a server that fails, the failure is real: the server is frozen or restarted, or
//! a proxy in front of it keeps the bytes.

mod line_01_body_needs_the_lock;
mod line_02_ok_means_held;
mod line_03_holder_gives_up_first;
mod line_04_only_the_owner_releases;
mod line_05_crashed_holder;
mod line_06_renewal;
mod line_07_tokens;
mod line_08_kinds;
mod line_09_wait;
mod line_10_dropping;
mod line_11_keys;
mod line_12_fencing;

use std::future::Future;
use std::time::Duration;

use harness::{PATIENCE, Proxy, RedisServer};
use lock_runtime::{LockClient, LockGuard};
use redis::Connection;

const KEY: &str = "order:42";
const LOCK: &str = "lock:order:42";
const QUEUE: &str = "{lock:order:42}:w";

/// A wait that only a failing test sees the end of.
const LONG: Duration = PATIENCE;

/// What a busy machine may add to any time.
const SLACK: Duration = Duration::from_secs(3);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn client(url: String) -> LockClient {
    let builder = LockClient::builder().url(url);
    builder.build().expect("the settings are valid")
}

/// A server, a proxy in front of it, a client behind the proxy.
fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = client(proxy.url());
    (server, proxy, client)
}

/// The lock, which must be free.
async fn hold(client: &LockClient) -> LockGuard {
    let acquire = client.lock(KEY).wait(LONG).acquire();
    acquire.await.expect("the lock can be had")
}

/// Runs a command that must succeed.
#[track_caller]
fn ask<T: redis::FromRedisValue>(connection: &mut Connection, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    match command.query(connection) {
        Ok(answer) => answer,
        Err(error) => panic!("{words:?}: {error}"),
    }
}

/// Bounds what should take no time at all.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    let outcome = tokio::time::timeout(LONG, work).await;
    outcome.expect("it ends")
}
