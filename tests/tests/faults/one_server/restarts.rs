//! Servers that stop and start again.

use std::future::pending;
use std::time::Duration;

use harness::RedisServer;

use super::{KEY, LOCK, LONG, ask, client, cycle, hold, ms, nothing_is_left, served, soon};

#[tokio::test]
async fn a_hold_survives_a_restart_that_loses_nothing() {
    let mut server = RedisServer::builder().durable().start();
    let client = client(server.url());
    let guard = client.lock(KEY).ttl(ms(8_000)).acquire().await.unwrap();
    let before: String = ask(&mut server.connection(), &["GET", LOCK]);
    server.restart();
    soon(guard.renew())
        .await
        .expect("the server has it as ours");
    let after: String = ask(&mut server.connection(), &["GET", LOCK]);
    assert_eq!(before, after);
    guard.release().await.unwrap();
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}

#[tokio::test]
async fn a_hold_is_lost_at_its_renewal_when_the_server_forgot_it() {
    let mut server = RedisServer::start();
    let client = client(server.url());
    let mut token = None;
    let ttl = ms(900);
    let body = async |guard: &lock_runtime::LockGuard| {
        token = Some(guard.fencing_token());
        server.restart_empty();
        pending::<()>().await;
    };
    let error = soon(client.lock(KEY).ttl(ttl).run(body)).await.unwrap_err();
    assert!(error.is_lost(), "{error}");
    let guard = soon(hold(&client)).await;
    assert!(Some(guard.fencing_token()) > token, "tokens still rise");
    guard.release().await.unwrap();
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}

#[tokio::test]
async fn a_waiter_outlasts_a_restart() {
    let mut server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let guard = soon(hold(&one)).await;
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(50)).await;
    server.restart_empty();
    // The server has forgotten the holder as well, so the waiter may have the lock, with a later token.
    let next = served(waiting).await;
    assert!(next.fencing_token() > guard.fencing_token());
    assert!(soon(guard.release()).await.unwrap_err().is_lost());
    next.renew().await.expect("the old holder frees nothing");
    next.release().await.unwrap();
}

#[tokio::test]
async fn a_server_that_loads_its_data_is_waited_for() {
    let mut server = RedisServer::builder()
        .config("loading-process-events-interval-bytes", "1024")
        // µs per key.
        .config("key-load-delay", "500")
        .start();
    let client = client(server.url());
    cycle(&client).await;
    let mut connection = server.connection();
    let fill = "for n = 1, 3000 do redis.call('SET', n, n) end";
    let _: () = ask(&mut connection, &["EVAL", fill, "0"]);
    let _: () = ask(&mut connection, &["SAVE"]);
    server.restart_loading();
    let error = client.lock(KEY).wait(Duration::ZERO).acquire().await;
    let error = error.expect_err("it still loads");
    assert!(error.is_unavailable(), "{error}");
    cycle(&client).await;
}

#[tokio::test]
async fn a_server_that_starts_later_is_found() {
    let mut server = RedisServer::start();
    server.kill9();
    let client = client(server.url());
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(100)).await;
    assert!(!waiting.is_finished());
    server.restart();
    served(waiting).await.release().await.unwrap();
}
