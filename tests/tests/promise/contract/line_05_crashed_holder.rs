//! A crashed holder frees the lock when its ttl ends. Real crashes are in the tests with processes;
//! here, a holder stands for one that never sends a command again.

use std::time::Instant;

use harness::{Proxy, RedisServer};

use super::{KEY, LONG, SLACK, client, ms};

#[tokio::test]
async fn line_5_the_next_waiter_has_the_lock_within_a_poll_of_the_ttl() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let (crashing, waiting) = (client(proxy.url()), client(server.url()));
    let ttl = ms(700);
    let dead = crashing.lock(KEY).ttl(ttl).acquire().await.unwrap();
    // From here on none of its commands gets through, as if it had been killed.
    proxy.black_hole();
    let started = Instant::now();
    let guard = waiting.lock(KEY).wait(LONG).acquire().await.unwrap();
    let elapsed = started.elapsed();
    assert!(elapsed < ttl + ms(600) + SLACK, "it took {elapsed:?}");
    assert!(guard.fencing_token() > dead.fencing_token());
    assert!(!dead.is_valid());
    guard.release().await.unwrap();
}
