//! The body never starts without the lock: busy, unreachable, misconfigured.

use std::time::Duration;

use harness::{RedisServer, server_and_connection};
use lock_runtime::{Acquire, LockClient, LockErrorKind};

use super::{KEY, ask, client, hold, ms};

/// Neither a sync nor an async body starts; the call fails with `kind`.
async fn never_starts(lock: impl Fn() -> Acquire, kind: LockErrorKind) {
    let in_async = lock().run(async |_| panic!("the body started")).await;
    assert_eq!(in_async.unwrap_err().kind(), kind);
    let in_sync = lock().run_blocking(|_| panic!("the body started"));
    assert_eq!(in_sync.unwrap_err().kind(), kind);
}

#[tokio::test]
async fn line_1_not_when_the_lock_is_busy() {
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let guard = hold(&one).await;
    for client in [&one, &other] {
        for wait in [Duration::ZERO, ms(60)] {
            never_starts(|| client.lock(KEY).wait(wait), LockErrorKind::Busy).await;
        }
    }
    guard.release().await.unwrap();
}

#[tokio::test]
async fn line_1_not_when_the_server_is_unreachable() {
    let mut server = RedisServer::start();
    let client = client(server.url());
    drop(hold(&client).await);
    server.kill9();
    for wait in [Duration::ZERO, ms(60)] {
        never_starts(|| client.lock(KEY).wait(wait), LockErrorKind::Unavailable).await;
    }
}

#[tokio::test]
async fn line_1_not_when_something_is_misconfigured() {
    let (server, mut connection) = server_and_connection();
    let client = client(server.url());
    never_starts(|| client.lock(""), LockErrorKind::InvalidKey).await;
    let too_short = || client.lock(KEY).ttl(ms(1));
    never_starts(too_short, LockErrorKind::InvalidOptions).await;

    let _: i64 = ask(&mut connection, &["LPUSH", "lock:order:42", "a list"]);
    never_starts(|| client.lock(KEY), LockErrorKind::Rejected).await;

    let closed = LockClient::memory();
    closed.shutdown().await;
    never_starts(|| closed.lock(KEY), LockErrorKind::Shutdown).await;
}
