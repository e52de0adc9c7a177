//! Retained leases whose client, connection or server goes away.

use harness::{KEY, LOCK, LONG, PATIENCE, RedisServer, ask, eventually, ms};
use redis::Connection;

use super::tools::{RETAIN, TTL, connected, retaining, visit};

fn exists(connection: &mut Connection) -> bool {
    ask(connection, &["EXISTS", LOCK])
}

/// Waits for the release of a lease that would otherwise last longer.
async fn gone(connection: &mut Connection) {
    eventually("end of the lease", PATIENCE, async || !exists(connection)).await;
}

#[tokio::test]
async fn a_shutdown_releases_a_retained_lease() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    visit(&client).await;
    let mut connection = server.connection();
    assert!(exists(&mut connection));
    client.shutdown().await;
    assert!(!exists(&mut connection));
}

/// A body that ends during a shutdown does not retain its lease.
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
    assert!(!exists(&mut server.connection()));
}

#[tokio::test]
async fn the_drop_of_the_last_clone_releases_a_retained_lease() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    visit(&client).await;
    let mut connection = server.connection();
    assert!(exists(&mut connection));
    drop(client);
    gone(&mut connection).await;
}

#[tokio::test]
async fn a_guard_that_outlives_its_client_retains_nothing() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    let guard = retaining(&client).await.unwrap();
    drop(client);
    drop(guard);
    gone(&mut server.connection()).await;
}

#[tokio::test]
async fn a_body_that_panics_retains_nothing() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    visit(&client).await;
    let panicking = retaining(&client);
    let body = async |_: &_| panic!("on purpose");
    let panicking = tokio::spawn(async move { panicking.run::<()>(body).await });
    assert!(panicking.await.unwrap_err().is_panic());
    gone(&mut server.connection()).await;
}

/// The next server may not know the lease, so it is not reused without a confirmation.
#[tokio::test]
async fn a_retained_lease_does_not_outlive_its_connection() {
    let mut server = RedisServer::start();
    let client = connected(&server).await;
    let token = visit(&client).await;
    server.restart_empty();
    // The next connection serves this call.
    let elsewhere = client.lock("elsewhere").wait(LONG).await.unwrap();
    elsewhere.release().await.unwrap();
    let guard = retaining(&client).await.unwrap();
    assert!(guard.fencing_token().get() > token + 1);
    assert!(exists(&mut server.connection()), "it was asked for");
    guard.release().await.unwrap();
}

/// Messages may be missed meanwhile, and the next server may not have the lease.
#[tokio::test]
async fn a_lease_held_while_the_connection_breaks_is_not_retained() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    let guard = retaining(&client).await.unwrap();
    let mut connection = server.connection();
    let _: i64 = ask(&mut connection, &["CLIENT", "KILL", "SKIPME", "yes"]);
    let elsewhere = client.lock("elsewhere").wait(LONG).await.unwrap();
    elsewhere.release().await.unwrap();
    guard.renew().await.unwrap();
    guard.release().await.unwrap();
    assert!(!exists(&mut connection));
}

/// A retained lease has no holder, so no loss is reported; the next caller gets a lease of its own.
#[tokio::test]
async fn a_deleted_retained_lease_is_no_failure_when_its_time_is_over() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    let brief = retaining(&client).retain(ms(50));
    brief.await.unwrap().release().await.unwrap();
    let mut connection = server.connection();
    let _: i64 = ask(&mut connection, &["DEL", LOCK]);
    let mut other = connected(&server).await.lock(KEY).ttl(TTL);
    other = other.wait(LONG);
    let other = other.await.unwrap();
    tokio::time::sleep(ms(500)).await;
    assert!(
        other.renew().await.is_ok(),
        "its release leaves the next lock alone"
    );
    other.release().await.unwrap();
    assert!(RETAIN > ms(500));
    visit(&client).await;
}
