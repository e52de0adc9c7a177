//! Servers that stop and start again.

use harness::{KEY, LONG, RedisServer, client, hold, ms, served, soon};

#[tokio::test]
async fn a_waiter_outlasts_a_restart() {
    let mut server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let guard = soon(hold(&one)).await;
    let token = guard.fencing_token().await.unwrap();
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(50)).await;
    server.restart_empty();
    // The server has forgotten the holder as well, so the waiter may have the lock, with a later token.
    let next = served(waiting).await;
    assert!(next.fencing_token().await.unwrap() > token);
    assert!(soon(guard.release()).await.unwrap_err().is_lost());
    next.renew().await.expect("the old holder frees nothing");
    next.release().await.unwrap();
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
