//! Retained leases whose client, connection or server goes away.

use harness::{
    KEY, LOCK, LONG, PATIENCE, RedisServer, eventually, exists, is_free, server_and_connection,
    token_of,
};

use super::tools::{connected, retaining, visit};

/// The lease ends with its client, whether the client is shut down, or its last clone or its last guard is dropped. A
/// panic in a body ends it as well.
#[tokio::test]
async fn retained_lease_ends_with_its_client_or_a_panic() {
    let (server, mut connection) = server_and_connection();
    for end in ["shutdown", "last clone", "last guard", "panic"] {
        let client = connected(&server).await;
        visit(&client).await;
        assert!(exists(&mut connection, LOCK), "it is retained");
        match end {
            "shutdown" => {
                client.shutdown().await;
                assert!(!exists(&mut connection, LOCK));
            }
            "last clone" => drop(client),
            "panic" => {
                let body = async |_: &_| panic!("on purpose");
                let panicking = tokio::spawn(retaining(&client).run::<()>(body));
                assert!(panicking.await.unwrap_err().is_panic());
                is_free(&mut connection, PATIENCE).await;
            }
            _ => {
                let guard = retaining(&client).await.unwrap();
                drop(client);
                drop(guard);
            }
        }
        is_free(&mut connection, PATIENCE).await;
    }
}

/// A share cannot be a turn of an exclusive lease, so the client ends the lease for its own caller.
#[tokio::test]
async fn share_of_the_same_client_ends_a_retained_lease() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    let token = visit(&client).await;
    let share = client.lock(KEY).read().wait(LONG).acquire();
    let share = share.await.expect("the lease is not kept");
    assert!(token_of(&share).await.get() > token);
    share.release().await.unwrap();
}

#[tokio::test]
async fn a_body_that_ends_during_a_shutdown_retains_nothing() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    let guard = retaining(&client).await.unwrap();
    let closing = client.clone();
    let closing = tokio::spawn(async move { closing.shutdown().await });
    eventually("closed client", LONG, async || {
        client.lock("x").try_acquire().await.is_err()
    })
    .await;
    guard.release().await.unwrap();
    closing.await.unwrap();
    assert!(!exists(&mut server.connection(), LOCK));
}
