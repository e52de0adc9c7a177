//! Grants that their caller fetches late, but in time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use harness::{KEY, LOCK, LONG, RedisServer, ask, behind_a_proxy, client, eventually, hold, ms};

/// Polls once.
async fn is_ready<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

/// The lease is renewed from then on.
#[tokio::test]
async fn a_grant_that_is_fetched_late_is_renewed() {
    let server = RedisServer::start();
    let ours = client(server.url());
    let ttl = ms(4_000);
    let guard = hold(&client(server.url())).await;
    let mut late = pin!(ours.lock(KEY).ttl(ttl).wait(LONG).acquire());
    assert!(!is_ready(late.as_mut()).await, "it is held");
    guard.release().await.unwrap();
    // Past its first renewal.
    tokio::time::sleep(ttl * 6 / 10).await;
    let guard = late.await.expect("there is time left");
    let lost = tokio::time::timeout(ttl * 5 / 4, guard.lost()).await;
    assert!(lost.is_err(), "it is renewed");
    guard.release().await.unwrap();
}

fn rest(server: &RedisServer) -> Duration {
    let rest: i64 = ask(&mut server.connection(), &["PTTL", LOCK]);
    Duration::from_millis(rest.max(0) as u64)
}

/// Another server has taken over, where the lease is shorter.
#[tokio::test]
async fn a_grant_that_is_fetched_after_the_connection_broke_is_confirmed() {
    /// So long that no renewal is due.
    const TTL: Duration = Duration::from_secs(3_600);
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    ask::<()>(&mut connection, &["SET", LOCK, "another program's"]);
    let mut late = pin!(client.lock(KEY).ttl(TTL).wait(LONG).acquire());
    assert!(!is_ready(late.as_mut()).await, "it is held");
    ask::<i64>(&mut connection, &["DEL", LOCK]);
    eventually("grant", LONG, async || rest(&server) > TTL / 2).await;
    let next = RedisServer::start();
    let record: String = ask(&mut connection, &["GET", LOCK]);
    let taken_over = ["SET", LOCK, &record, "PX", "60000"];
    ask::<()>(&mut next.connection(), &taken_over);
    proxy.redirect(next.port());
    proxy.kill_connections();
    // Long enough to notice the broken connection, while nothing makes the client reconnect.
    tokio::time::sleep(ms(100)).await;
    let guard = late.await.expect("it was granted");
    eventually("renewal", LONG, async || rest(&next) > TTL / 2).await;
    guard.release().await.unwrap();
}
