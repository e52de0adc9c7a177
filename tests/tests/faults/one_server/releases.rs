//! Releases that race with what came before them.

use harness::RedisServer;

use super::{KEY, LOCK, LONG, ask, client, hold, ms, nothing_is_left, soon};

#[tokio::test]
async fn a_release_right_at_the_acquires_reply_frees_the_key_each_time() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let client = client(server.url());
    let mut lost = 0;
    for _ in 0..1_000 {
        // So short a ttl that its first renewal falls due at once.
        let guard = client.lock(KEY).ttl(ms(40)).wait(LONG).acquire();
        // A machine that stalls may lose so short a lease even before it has it.
        let Ok(guard) = guard.await else {
            lost += 1;
            continue;
        };
        // Or now; the key must be gone all the same.
        drop(guard.release().await);
        // At once, but for a release whose answer did not come within what was left of the lease.
        nothing_is_left(&mut connection, ms(1_000)).await;
    }
    assert!(lost < 100, "{lost} leases ended before they began");
}

#[tokio::test]
async fn a_drop_right_at_the_acquires_reply_frees_the_key_each_time() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let client = client(server.url());
    for _ in 0..300 {
        drop(soon(hold(&client)).await);
    }
    nothing_is_left(&mut connection, ms(5_000)).await;
}

#[tokio::test]
async fn a_renewal_by_hand_does_not_outlive_a_release() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let client = client(server.url());
    for _ in 0..100 {
        let guard = soon(hold(&client)).await;
        {
            // Sent, and not waited for.
            let mut renewal = Box::pin(guard.renew());
            let polled = tokio::time::timeout(ms(0), &mut renewal).await;
            drop(polled);
        }
        guard.release().await.unwrap();
        let left: i64 = ask(&mut connection, &["EXISTS", LOCK]);
        assert_eq!(left, 0);
    }
}
