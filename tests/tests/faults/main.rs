//! One server and everything that can happen to it and on the way to it.
//!
//! Each file is a kind of fault. Exclusion must hold in all of them; where a lease cannot hold (a
//! server that forgets), the loss must be told and the tokens must still rise.

mod blocking;
mod connections;
mod crowd;
mod cuts;
mod late;
mod releases;
mod restarts;
mod scripts;
mod silence;

use std::future::Future;
use std::time::Duration;

use harness::{PATIENCE, Proxy, RedisServer, eventually};
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

/// A server that knows the scripts, a proxy in front of it, and a client behind the proxy that
/// is connected.
async fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = client(proxy.url());
    hold(&client).await.release().await.unwrap();
    contend(&client).await;
    (server, proxy, client)
}

/// Has the server learn the script of a contended release.
async fn contend(client: &LockClient) {
    let guard = hold(client).await;
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(1)).await;
    drop(guard);
    let guard = waiting.await.unwrap().unwrap();
    guard.renew().await.unwrap();
    guard.release().await.unwrap();
}

/// The lock, however long it takes.
async fn hold(client: &LockClient) -> LockGuard {
    let acquire = client.lock(KEY).wait(LONG).acquire();
    acquire.await.expect("the lock can be had")
}

/// Waits until neither lock nor queue is left.
async fn nothing_is_left(connection: &mut Connection, limit: Duration) {
    eventually("end of everything", limit, async || {
        ask::<i64>(connection, &["EXISTS", LOCK, QUEUE]) == 0
    })
    .await;
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

/// The number that the server's INFO gives under `name`.
fn figure(connection: &mut Connection, name: &str) -> u64 {
    let info: String = ask(connection, &["INFO", "everything"]);
    let value = info
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.expect("INFO has it").parse().expect("it is a number")
}
