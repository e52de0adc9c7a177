//! Leases that were confirmed on a connection that is gone.

use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, Proxy, RedisServer, ask, behind_a_proxy, bring_scripts, eventually, ms,
    patient, server_and_proxy, soon,
};
use lock_runtime::{LockClient, LockGuard};

use tokio::task::JoinSet;

/// So long that no renewal is due while a test runs.
const TTL: Duration = Duration::from_secs(3_600);

/// Another server takes over, where the lock has this much time left.
fn fail_over(server: &RedisServer, proxy: &Proxy, rest: Option<Duration>) -> RedisServer {
    let next = RedisServer::start();
    if let Some(rest) = rest {
        let record: String = ask(&mut server.connection(), &["GET", LOCK]);
        let rest = rest.as_millis().to_string();
        ask::<()>(&mut next.connection(), &["SET", LOCK, &record, "PX", &rest]);
    }
    proxy.redirect(next.port());
    proxy.kill_connections();
    next
}

fn rest(server: &RedisServer) -> Duration {
    let rest: i64 = ask(&mut server.connection(), &["PTTL", LOCK]);
    Duration::from_millis(rest.max(0) as u64)
}

async fn lease(client: &LockClient, renew: bool) -> LockGuard {
    let lock = client.lock(KEY).ttl(TTL).renew(renew);
    lock.acquire().await.unwrap()
}

/// Without a server, the confirmation is repeated until a server answers.
#[tokio::test]
async fn a_lock_is_found_lost_as_soon_as_a_server_answers_again() {
    for renew in [true, false] {
        let (server, proxy, client) = behind_a_proxy().await;
        let guard = lease(&client, renew).await;
        proxy.refuse(true);
        let _next = fail_over(&server, &proxy, None);
        eventually("attempts", LONG, async || proxy.refused() > 2).await;
        assert!(guard.is_valid(), "nothing is known");
        proxy.refuse(false);
        soon(guard.lost()).await;
    }
}

/// A lease without renewal was confirmed once, and not again after a failure.
#[tokio::test]
async fn a_lease_that_is_not_renewed_is_restored_after_an_outage() {
    let (server, proxy, client) = behind_a_proxy().await;
    let guard = lease(&client, false).await;
    proxy.refuse(true);
    let next = fail_over(&server, &proxy, Some(LONG * 2));
    eventually("attempts", LONG, async || proxy.refused() > 2).await;
    proxy.refuse(false);
    eventually("renewal", LONG, async || rest(&next) > TTL / 2).await;
    // With the margin of each lease: the holder considers it over before the server does.
    assert!(rest(&next) > guard.remaining() + Duration::from_secs(1));
    guard.release().await.unwrap();
}

/// A grant that its caller had not fetched yet was never confirmed.
#[tokio::test]
async fn a_grant_that_is_fetched_after_the_connection_broke_is_confirmed() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    ask::<()>(&mut connection, &["SET", LOCK, "another program's"]);
    let mut late = Box::pin(client.lock(KEY).ttl(TTL).wait(LONG).acquire());
    let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(late.as_mut().poll(cx)));
    assert!(polled.await.is_pending(), "it is held");
    ask::<i64>(&mut connection, &["DEL", LOCK]);
    eventually("grant", LONG, async || rest(&server) > TTL / 2).await;
    let next = fail_over(&server, &proxy, Some(LONG * 2));
    // Long enough to notice the broken connection, while nothing makes the client reconnect.
    tokio::time::sleep(ms(100)).await;
    let guard = late.await.expect("it was granted");
    eventually("renewal", LONG, async || rest(&next) > TTL / 2).await;
    guard.release().await.unwrap();
}

/// Each lease is confirmed once, however many there are: no storm of commands after a cut.
#[tokio::test]
async fn every_held_lock_is_confirmed_once() {
    const HOLDS: usize = 1_000;
    let (server, proxy) = server_and_proxy();
    let client = patient(proxy.url()).build().unwrap();
    bring_scripts(&client).await;
    let mut acquiring = JoinSet::new();
    for number in 0..HOLDS {
        let lock = client.lock(format!("order:{number}")).ttl(TTL);
        acquiring.spawn(lock.wait(LONG).acquire());
    }
    let guards = acquiring.join_all().await;
    let mut monitor = server.monitor();
    proxy.kill_connections();
    let mut renewals = 0;
    let mut count = || {
        let asked = monitor.take();
        renewals += asked.iter().filter(|it| it.name == "EVALSHA").count();
        renewals
    };
    eventually("renewals", LONG, async || count() >= HOLDS).await;
    // The leases beyond the limit come all at once.
    tokio::time::sleep(ms(100)).await;
    let renewals = count();
    assert!(renewals < HOLDS + HOLDS / 10, "{renewals} of {HOLDS}");
    assert!(guards.iter().flatten().all(LockGuard::is_valid));
    assert_eq!(guards.iter().flatten().count(), HOLDS);
}
