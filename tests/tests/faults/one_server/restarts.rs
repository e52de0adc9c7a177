//! A server that starts after its clients.

use harness::{KEY, LONG, RedisServer, client, ms, served};

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
