//! The cost of calls under a retained lease, and their tokens.

use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, RedisServer, ask, client, eventually, ms, patient, server_and_connection,
    token_of,
};
use lock_runtime::distributed_lock;
use lock_runtime::{LockClient, LockError};

use super::tools::{RETAIN, TTL, connected, retaining, visit};

/// One grant has sixteen tokens: one command acquires it, and one releases it after the last of them.
#[tokio::test]
async fn the_next_calls_cost_no_command() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    let mut monitor = server.monitor();
    let first = visit(&client).await;
    assert_eq!(monitor.take().len(), 1);
    for turn in 1..15 {
        assert_eq!(visit(&client).await, first + turn);
    }
    assert_eq!(monitor.take().len(), 0);
    assert_eq!(visit(&client).await, first + 15, "the last token");
    assert_eq!(monitor.take().len(), 1, "it is released");
    assert!(visit(&client).await > first + 15);
    assert_eq!(monitor.take().len(), 1, "another grant");
}

/// Callers without a token use the lease of a caller without one. The first caller that requests a token asks the server
/// for it, and from then on every caller has its own.
#[tokio::test]
async fn the_next_calls_ask_for_the_first_token_only() {
    let server = RedisServer::start();
    let client = connected(&server).await;
    let call = async || retaining(&client).await.unwrap().release().await.unwrap();
    let mut monitor = server.monitor();
    call().await;
    assert_eq!(monitor.names(), ["SET"]);
    for _ in 0..3 {
        call().await;
    }
    assert_eq!(monitor.take().len(), 0);
    let fifth = visit(&client).await;
    assert_eq!(
        monitor.names(),
        ["EVALSHA", "EVAL", "EVALSHA"],
        "its script is loaded, and run twice"
    );
    call().await;
    assert_eq!(visit(&client).await, fifth + 2);
    assert_eq!(monitor.take().len(), 0);
}

/// The server is silent for longer than a command takes.
#[tokio::test]
async fn a_caller_waits_for_its_token_as_long_as_for_the_lock() {
    const COMMAND: Duration = ms(300);
    let server = RedisServer::start();
    let client = patient(server.url()).command_timeout(COMMAND);
    let client = client.build().expect("the settings are valid");
    let without_a_token = retaining(&client).await.expect("it is free");
    without_a_token.release().await.expect("it was held");
    server.pause();
    let asking = client.clone();
    let mut asking = tokio::spawn(async move { visit(&asking).await });
    let early = tokio::time::timeout(3 * COMMAND, &mut asking).await;
    assert!(early.is_err(), "it ended: {early:?}");
    server.resume();
    asking.await.expect("it has a token");
}

#[tokio::test]
async fn every_kind_of_call_takes_a_retained_lease_and_leaves_one() {
    #[distributed_lock(key = "order:42", ttl = "600s", retain = "200s", client = locks, guard = lock)]
    async fn attribute(locks: &LockClient) -> Result<u64, LockError> {
        Ok(token_of(lock).await.get())
    }

    let server = RedisServer::start();
    let client = connected(&server).await;
    let first = visit(&client).await;
    let mut monitor = server.monitor();
    let token = attribute(&client).await.unwrap();
    assert_eq!(token, first + 1);
    let token = retaining(&client).run(async |guard| token_of(guard).await.get());
    assert_eq!(token.await.unwrap(), first + 2);
    // An attempt does not wait.
    let guard = retaining(&client).try_acquire().await.unwrap();
    let guard = guard.expect("it is this client's");
    assert_eq!(token_of(&guard).await.get(), first + 3);
    drop(guard);
    // On a thread of its own, without a runtime.
    let blocking = client.clone();
    let blocking = std::thread::spawn(move || {
        let guard = retaining(&blocking).acquire_blocking().unwrap();
        let token = guard.fencing_token_blocking().unwrap().get();
        guard.release_blocking().unwrap();
        token
    });
    assert_eq!(blocking.join().unwrap(), first + 4);
    // A caller that does not retain the lease releases it, even if its nested calls ask to retain it.
    let last = client.lock(KEY).ttl(TTL).await.unwrap();
    assert_eq!(last.run(visit(&client)).await.unwrap(), first + 5);
    assert_eq!(monitor.take().len(), 0);
    last.release().await.unwrap();
    assert_eq!(monitor.take().len(), 1);
    assert!(!ask::<bool>(&mut server.connection(), &["EXISTS", LOCK]));
}

#[tokio::test]
async fn a_retained_lease_is_released_once_when_its_time_is_over() {
    let (server, mut connection) = server_and_connection();
    let client = patient(server.url()).retain(ms(50));
    let client = client.build().unwrap();
    let elsewhere = client.lock("elsewhere").await.unwrap();
    elsewhere.release().await.unwrap();
    eventually("end of the first", LONG, async || {
        !ask::<bool>(&mut connection, &["EXISTS", "lock:elsewhere"])
    })
    .await;
    let mut monitor = server.monitor();
    client.lock(KEY).await.unwrap().release().await.unwrap();
    let mut commands = Vec::new();
    eventually("end of the lease", LONG, async || {
        commands.extend(monitor.take());
        commands.len() >= 2
    })
    .await;
    tokio::time::sleep(ms(300)).await;
    commands.extend(monitor.take());
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert!(!ask::<bool>(&mut connection, &["EXISTS", LOCK]));
}

#[tokio::test]
async fn a_time_out_of_range_is_refused() {
    let (server, mut connection) = server_and_connection();
    let client = client(server.url());
    for retain in [Duration::from_micros(999), RETAIN + ms(1)] {
        let error = retaining(&client).retain(retain).await.unwrap_err();
        assert_eq!(error.kind(), lock_runtime::LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains("a third of the ttl"), "{error}");
    }
    // The client's default applies whatever the ttl.
    let builder = patient(server.url()).retain(ms(5_000));
    let client = builder.build().unwrap();
    let shorter = client.lock(KEY).ttl(ms(3_000));
    shorter.await.unwrap().release().await.unwrap();
    let builder = patient(server.url()).retain(ms(10_001));
    assert!(builder.build().is_err());
    // Zero turns retaining off.
    let client = patient(server.url()).retain(ms(5_000));
    let client = client.build().unwrap();
    let key = client.lock("other").retain(Duration::ZERO);
    key.await.unwrap().release().await.unwrap();
    assert!(!ask::<bool>(&mut connection, &["EXISTS", "lock:other"]));
}

/// The memory backend has no commands to save.
#[tokio::test]
async fn retain_has_no_effect_in_memory() {
    let client = LockClient::memory();
    let first = visit(&client).await;
    let second = client.lock(KEY).try_acquire().await.unwrap();
    let second = token_of(&second.expect("it is free")).await.get();
    assert!(second > first, "{second} after {first}");
}
