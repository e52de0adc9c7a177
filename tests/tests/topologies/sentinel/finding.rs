//! Which server is the primary when a connection is made.

use std::time::Instant;

use harness::{
    KEY, LOCK, LONG, RedisSentinels, RedisServer, SLACK, ask, client, exists, failed, hold, ms,
    patient, ran_since, sentinel_of, sentinel_url, served,
};
use lock_runtime::LockErrorKind;

/// The sentinels that knew about the failover are gone, and the client remembers it.
#[tokio::test]
async fn stale_sentinel_is_not_trusted_after_a_failover() {
    let mut all = RedisSentinels::start();
    let (old, promoted) = (RedisServer::start(), all.fail_over(0));
    let stale = sentinel_of(&old, 2);
    let client = client(sentinel_url(&[&all.sentinels[0], &stale]));
    hold(&client).await.release().await.unwrap();
    all.sentinels[0].kill9();
    all.servers[promoted].kill9();
    let error = client
        .lock(KEY)
        .wait(ms(1_500))
        .acquire()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    assert!(!exists(&mut old.connection(), LOCK));
}

/// The sentinel names a server that has become a replica.
#[tokio::test]
async fn replica_that_a_sentinel_names_grants_nothing_until_it_is_promoted() {
    let primary = RedisServer::start();
    let replica = primary.replica();
    let sentinel = sentinel_of(&replica, 1);
    let url = sentinel_url(&[&sentinel]);
    let error = failed(
        patient(url.as_str()).connect().await,
        LockErrorKind::Unavailable,
    );
    let sentence = "is a replica, although the sentinels name it as the primary";
    assert!(error.to_string().contains(sentence), "{error}");
    let client = client(url);
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(300)).await;
    let _: () = ask(&mut replica.connection(), &["REPLICAOF", "NO", "ONE"]);
    served(waiting).await.release().await.unwrap();
}

#[tokio::test]
async fn sentinels_that_are_gone_are_named_and_a_connection_outlives_them() {
    let server = RedisServer::start();
    let mut sentinel = sentinel_of(&server, 1);
    let url = sentinel_url(&[&sentinel]);
    let holder = client(&*url);
    let guard = hold(&holder).await;
    sentinel.pause();
    // A busy machine needs time to find out who is silent.
    let connect = || patient(&*url).command_timeout(ms(4_000)).connect();
    let silent = failed(connect().await, LockErrorKind::Unavailable);
    let words = format!("the sentinel 127.0.0.1:{} is silent", sentinel.port());
    assert!(silent.to_string().contains(&words), "{silent}");
    sentinel.kill9();
    let gone = failed(connect().await, LockErrorKind::Unavailable);
    let words = format!("cannot connect to 127.0.0.1:{}", sentinel.port());
    assert!(gone.to_string().contains(&words), "{gone}");
    guard.renew().await.unwrap();
    guard.release().await.unwrap();
}

/// A client sends nothing before its first command, and nothing once it is dropped.
#[tokio::test]
async fn sentinel_is_watched_while_there_is_a_connection() {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let all = RedisSentinels {
        servers: vec![server],
        sentinels: vec![sentinel],
    };
    let client = client(all.url());
    tokio::time::sleep(ms(100)).await;
    assert_eq!(all.watching(0), 0);
    hold(&client).await.release().await.unwrap();
    let is_watching = |count: usize| {
        let all = &all;
        harness::eventually("watch", LONG, async move || all.watching(0) == count)
    };
    is_watching(1).await;
    drop(client);
    let dropped = Instant::now();
    is_watching(0).await;
    assert!(ran_since(dropped) < SLACK, "{:?}", dropped.elapsed());
}
