//! The vocabulary of the suites: one lock, its records, and ways to acquire it.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use lock_runtime::inspect::{
    Audit, AuditEntry, HolderRef, ListedLock, Locks, Receipt, Revocation, Revoked,
};
use lock_runtime::{
    FencingToken, LockClient, LockClientBuilder, LockError, LockErrorKind, LockGuard,
};
use redis::{Connection, ConnectionLike, FromRedisValue};
use tokio::task::JoinHandle;

use crate::monitor::Monitor;
use crate::proxy::Proxy;
use crate::server::RedisServer;
use crate::stalls;
use crate::wait::{PATIENCE, eventually};

/// The key that most tests lock.
pub const KEY: &str = "order:42";
/// Its record in Redis.
pub const LOCK: &str = "lock:order:42";
pub const FENCE: &str = "{lock:order:42}:f";
pub const QUEUE: &str = "{lock:order:42}:w";
pub const SHARES: &str = "{lock:order:42}:r";

/// An operation id, as another client may use it.
pub const OPERATION: &str = "019b0000-0000-7000-8000-000000000001";

/// A wait that only a failing test exhausts.
pub const LONG: Duration = PATIENCE;

/// The delay that a busy machine may add to any time.
pub const SLACK: Duration = Duration::from_secs(3);

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// How long a client of a test waits for a connection and for an answer: longer than any stall of a
/// busy machine, and less than [`LONG`], so that a test learns of an answer that never comes.
pub const ANSWER: Duration = Duration::from_secs(10);

/// The settings of a test's client, which waits for answers as long as a busy machine takes.
pub fn patient(url: impl Into<String>) -> LockClientBuilder {
    hasty(url).command_timeout(ANSWER)
}

/// The settings of a client with the product's own patience, a second: for tests of servers that
/// are silent or slow. They need a machine that is never silent for so long.
pub fn hasty(url: impl Into<String>) -> LockClientBuilder {
    stalls::watch();
    LockClient::builder().url(url)
}

/// A patient client, connected when it is first used.
pub fn client(url: impl Into<String>) -> LockClient {
    patient(url).build().expect("the settings are valid")
}

/// A patient client without local turns: each caller asks the server.
pub fn client_without_turns(url: impl Into<String>) -> LockClient {
    let builder = patient(url).local_turns(1);
    builder.build().expect("the settings are valid")
}

/// A server, and a patient client of it.
pub fn server_and_client() -> (RedisServer, LockClient) {
    let server = RedisServer::start();
    let client = client(server.url());
    (server, client)
}

/// A server, and a connection with all permissions.
pub fn server_and_connection() -> (RedisServer, Connection) {
    let server = RedisServer::start();
    let connection = server.connection();
    (server, connection)
}

/// A server, and a proxy in front of it.
pub fn server_and_proxy() -> (RedisServer, Proxy) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    (server, proxy)
}

/// The error of a call that must fail in this way.
#[track_caller]
pub fn failed<T: Debug>(outcome: Result<T, LockError>, kind: LockErrorKind) -> LockError {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    error
}

/// Acquires the lock, however long it takes.
pub async fn hold(client: &LockClient) -> LockGuard {
    let acquire = client.lock(KEY).wait(LONG).acquire();
    acquire.await.expect("the lock can be acquired")
}

/// Acquires the lock with its token, however long it takes.
pub async fn hold_fenced(client: &LockClient) -> LockGuard {
    let acquire = client.lock(KEY).wait(LONG).fenced().acquire();
    acquire.await.expect("the lock can be acquired")
}

/// The token of a lock. Requests it unless the lock came with it.
///
/// # Panics
///
/// When the lock is lost.
pub async fn token_of(guard: &LockGuard) -> FencingToken {
    guard.fencing_token().await.expect("it is held")
}

/// The guard of a task that waits for the lock.
pub async fn served(waiting: JoinHandle<Result<LockGuard, LockError>>) -> LockGuard {
    let acquired = soon(waiting).await.expect("the task does not panic");
    acquired.expect("the lock can be acquired")
}

pub async fn cycle(client: &LockClient) {
    let guard = soon(hold(client)).await;
    guard.release().await.expect("it was held throughout");
}

/// A server, a proxy in front of it, and a client behind the proxy. The client is connected, and the
/// server knows its scripts.
pub async fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let (server, proxy) = server_and_proxy();
    let client = client(proxy.url());
    bring_scripts(&client).await;
    (server, proxy, client)
}

/// Loads all scripts of this client into the server.
pub async fn bring_scripts(client: &LockClient) {
    let lock = |ttl| client.lock("warm").ttl(ttl).wait(LONG).fenced().acquire();
    for _ in 0..2 {
        let guard = lock(LONG).await.expect("it is free");
        guard.renew().await.expect("it is held");
        // A second caller, with a different ttl, is named as successor in an `end`.
        let mut next = pin!(lock(LONG * 2));
        let polled = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await;
        assert!(polled.is_pending(), "it is held");
        guard.release().await.expect("it was held");
        let guard = next.await.expect("it is next");
        guard.release().await.expect("it was held");
    }
    let guard = client.lock("warm").wait(LONG).acquire().await;
    let guard = guard.expect("it is free");
    guard.fencing_token().await.expect("it is held");
    guard.release().await.expect("it was held");
}

/// Whether the server has the key.
#[track_caller]
pub fn exists(connection: &mut Connection, key: &str) -> bool {
    ask(connection, &["EXISTS", key])
}

/// A number in the server's INFO; 0 if it is not there.
pub fn figure(connection: &mut dyn ConnectionLike, name: &str) -> u64 {
    let info: String = ask(connection, &["INFO", "everything"]);
    let mut lines = info.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix([':', '=']));
    let value = value.and_then(|value| value.split(',').next());
    value.map_or(0, |value| value.parse().expect("it is a number"))
}

/// Waits until this many callers of this client wait for the lock that another caller has.
pub async fn in_line(client: &LockClient, callers: usize) {
    eventually("callers in line", LONG, async || {
        client.held()[0].waiting_callers == callers
    })
    .await;
}

/// Waits until an operator sees this many waiters.
pub async fn sees_waiters(operator: &LockClient, key: &str, waiters: usize) {
    eventually("waiters", LONG, async || {
        let state = operator.inspect(key).await;
        state.expect("it can be seen").waiter_count() == waiters
    })
    .await;
}

/// The reason and operator of a revocation.
pub fn revocation() -> Revocation {
    Revocation::new("ann@ops-1", "stuck import")
}

/// Revokes a lock from the holder that the operator has seen.
pub async fn revoke(operator: &LockClient, key: &str, seen: impl Into<HolderRef>) -> Receipt {
    let revoked = operator.revoke(key, seen, revocation()).await;
    match revoked.expect("it can be revoked") {
        Revoked::Done(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

/// The owner in the lock's record.
pub fn owner_on(server: &RedisServer) -> Option<String> {
    let value: Option<String> = ask(&mut server.connection(), &["GET", LOCK]);
    value.map(|value| value[..22].to_owned())
}

/// The remaining locks of a listing.
pub async fn all_locks(mut locks: Locks) -> Result<Vec<ListedLock>, LockError> {
    let mut all = Vec::new();
    while let Some(page) = locks.next_page().await? {
        all.extend(page);
    }
    Ok(all)
}

/// The keys of the remaining locks of a listing.
pub async fn keys_of(locks: Locks) -> BTreeSet<String> {
    let all = all_locks(locks).await.expect("it can be read");
    let keys = all.iter().map(|lock| lock.key.as_str().to_owned());
    keys.collect()
}

/// The remaining entries of an audit.
pub async fn all_entries(mut audit: Audit) -> Vec<AuditEntry> {
    let mut all = Vec::new();
    while let Some(page) = audit.next_page().await.expect("it can be read") {
        all.extend(page);
    }
    all
}

/// Waits until a caller queues for the lock.
pub async fn is_awaited(connection: &mut Connection) {
    eventually("waiter in the queue", LONG, async || {
        exists(connection, QUEUE)
    })
    .await;
}

/// Waits until the lock is free.
pub async fn is_free(connection: &mut Connection, limit: Duration) {
    eventually("free lock", limit, async || !exists(connection, LOCK)).await;
}

/// Waits until the lock and the queue are gone.
pub async fn nothing_is_left(connection: &mut Connection, limit: Duration) {
    eventually("end of everything", limit, async || {
        ask::<i64>(connection, &["EXISTS", LOCK, QUEUE]) == 0
    })
    .await;
}

/// Runs a command that must succeed.
#[track_caller]
pub fn ask<T: FromRedisValue>(connection: &mut dyn ConnectionLike, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    match command.query(connection) {
        Ok(answer) => answer,
        Err(error) => panic!("{words:?}: {error}"),
    }
}

/// Waits until a command with this word, the ttl, takes the lock [`LOCK`], and until its owner is ended: the lock goes
/// although it no longer expires.
pub async fn is_taken_and_ended(monitor: &mut Monitor, server: &RedisServer, ttl: &str) {
    eventually("command that takes the lock", LONG, async || {
        let commands = monitor.take();
        commands
            .iter()
            .any(|command| command.words().contains(&ttl))
    })
    .await;
    let mut admin = server.connection();
    eventually("end of the owner", LONG, async || {
        let _: bool = ask(&mut admin, &["PERSIST", LOCK]);
        !exists(&mut admin, LOCK)
    })
    .await;
}

/// Bounds an operation that should be immediate.
pub async fn soon<T>(work: impl Future<Output = T>) -> T {
    let outcome = tokio::time::timeout(LONG, work).await;
    outcome.expect("it ends")
}
