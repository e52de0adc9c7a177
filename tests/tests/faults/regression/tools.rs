//! What many tests do.

use std::time::Duration;

use harness::{PATIENCE, Proxy, RedisServer, wait_until};
use lock_runtime::{LockClient, LockGuard};
use redis::{Connection, FromRedisValue};

pub(crate) const KEY: &str = "order:42";
pub(crate) const LOCK: &str = "lock:order:42";
pub(crate) const FENCE: &str = "{lock:order:42}:f";
pub(crate) const QUEUE: &str = "{lock:order:42}:w";

/// A time that only a failing test sees the end of.
pub(crate) const LONG: Duration = PATIENCE;

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn client(server: &RedisServer) -> LockClient {
    let builder = LockClient::builder().url(server.url());
    builder.build().expect("the settings are valid")
}

/// A client behind a proxy. It has its connection, and the server has its scripts.
pub(crate) async fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.build().expect("the settings are valid");
    let other = client.lock("warm").acquire().await;
    let other = other.expect("the lock is free");
    other.renew().await.expect("it is held");
    other.release().await.expect("it was held");
    (server, proxy, client)
}

/// The lock, which must be free.
pub(crate) async fn hold(client: &LockClient) -> LockGuard {
    let acquired = client.lock(KEY).wait(Duration::ZERO).acquire().await;
    acquired.expect("the lock is free")
}

/// Runs a command that must succeed: `ask(&mut connection, &["GET", "x"])`.
#[track_caller]
pub(crate) fn ask<T: FromRedisValue>(connection: &mut Connection, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    match command.query(connection) {
        Ok(answer) => answer,
        Err(error) => panic!("{words:?}: {error}"),
    }
}

pub(crate) fn exists(connection: &mut Connection, key: &str) -> bool {
    ask(connection, &["EXISTS", key])
}

/// Blocks the thread until the lock is lost, as a body does that computes for too long.
pub(crate) fn outlast(guard: &LockGuard) {
    wait_until("end of the lease", LONG, || !guard.is_valid());
}
