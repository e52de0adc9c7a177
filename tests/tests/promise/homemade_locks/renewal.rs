//! A timer that compares and extends. In two steps, or with SET, it extends another owner's lease or
//! restores a lock that was released.

use super::{KEY, LOCK, RedisServer, ask, client, delete, eventually, hold, ms, pttl, soon, value};

#[tokio::test]
async fn a_hold_outlives_its_ttl_for_as_long_as_it_is_held() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let guard = client.lock(KEY).ttl(ms(1_500)).acquire().await.unwrap();
    tokio::time::sleep(ms(2_000)).await;
    guard.release().await.expect("held throughout");
    assert_eq!(value(&mut connection), None);
}

#[tokio::test]
async fn a_lock_that_is_gone_is_not_brought_back() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let guard = client.lock(KEY).ttl(ms(600)).acquire().await.unwrap();
    delete(&mut connection);
    soon(guard.lost()).await;
    assert_eq!(value(&mut connection), None);
}

#[tokio::test]
async fn the_lease_of_another_is_not_extended() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let guard = client.lock(KEY).ttl(ms(3_000)).acquire().await.unwrap();
    let _: String = ask(&mut connection, &["SET", LOCK, "another", "PX", "2500"]);
    let lease = pttl(&mut connection); // a renewal would bring it to 3 s
    soon(guard.lost()).await;
    assert!(guard.renew().await.is_err());
    let now = pttl(&mut connection);
    assert!((1..=lease).contains(&now), "{lease} became {now}");
    assert_eq!(value(&mut connection).as_deref(), Some("another"));
}

#[tokio::test]
async fn nothing_is_renewed_after_a_release() {
    let server = RedisServer::start();
    let client = client(server.url());
    hold(&client).await.release().await.unwrap();
    let guard = client.lock(KEY).ttl(ms(900)).acquire().await.unwrap();
    let mut monitor = server.monitor();
    let mut seen = 0;
    eventually("renewal", super::LONG, async || {
        seen += monitor.take().len();
        seen > 0
    })
    .await;
    guard.release().await.unwrap();
    monitor.take();
    tokio::time::sleep(ms(900)).await;
    assert_eq!(monitor.take(), []);
}
