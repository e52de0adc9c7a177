//! Bodies that block their runtime.

use std::time::Instant;

use harness::{RedisServer, wait_until};

use super::{KEY, LONG, client, ms};

#[tokio::test(flavor = "current_thread")]
async fn a_body_that_blocks_its_only_thread_is_still_renewed() {
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let body = async |guard: &lock_runtime::LockGuard| {
        let started = Instant::now();
        wait_until("two ttls", LONG, || started.elapsed() > ms(3_200));
        assert!(guard.is_valid());
        // The thread still blocks, and a sync attempt from another thread finds the lock held.
        let attempt = other.lock(KEY).try_acquire_blocking();
        assert!(attempt.unwrap().is_none());
    };
    let run = one.lock(KEY).ttl(ms(1_500)).run(body).await;
    run.expect("it was held throughout");
}

#[tokio::test(flavor = "current_thread")]
async fn a_guard_that_is_dropped_on_a_blocked_thread_is_released() {
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    drop(one.lock(KEY).acquire().await.unwrap());
    // No await from here on, so only the background can release the lock.
    let next = other.lock(KEY).wait(LONG).acquire_blocking();
    next.unwrap().release_blocking().unwrap();
}
