//! Releases that race with the command before them.

use harness::RedisServer;

use super::{KEY, LOCK, LONG, ask, client, hold, ms, nothing_is_left, soon};

#[tokio::test]
async fn a_release_right_at_the_acquires_reply_frees_the_key_each_time() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let client = client(server.url());
    let mut lost = 0;
    for _ in 0..1_000 {
        // So short a ttl that the first renewal is due at once.
        let guard = client.lock(KEY).ttl(ms(40)).wait(LONG).acquire();
        // A machine that stalls may lose so short a lease before the caller has it.
        let Ok(guard) = guard.await else {
            lost += 1;
            continue;
        };
        // The lease may be lost now; the record must be gone all the same.
        drop(guard.release().await);
        // At once, unless the release's answer did not come within the rest of the lease.
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
            // The release is sent and not awaited.
            let mut renewal = Box::pin(guard.renew());
            let polled = tokio::time::timeout(ms(0), &mut renewal).await;
            drop(polled);
        }
        guard.release().await.unwrap();
        let left: i64 = ask(&mut connection, &["EXISTS", LOCK]);
        assert_eq!(left, 0);
    }
}
