//! Fencing tokens rise.

use harness::RedisServer;

use super::{KEY, LONG, ask, client, hold, soon};

#[tokio::test]
async fn line_7_also_across_restarts_without_persistence() {
    let mut server = RedisServer::start();
    let clients = [client(server.url()), client(server.url())];
    let mut last = None;
    for round in 0..4 {
        for client in &clients {
            let guard = hold(client).await;
            let token = Some(guard.fencing_token());
            assert!(token > last, "{token:?} came after {last:?}");
            last = token;
            soon(guard.release()).await.unwrap();
        }
        if round % 2 == 0 {
            server.restart_empty();
        } else {
            let _: () = ask(&mut server.connection(), &["FLUSHALL"]);
        }
    }
}

#[tokio::test]
async fn line_7_also_from_hand_to_hand_in_one_client() {
    let server = RedisServer::start();
    let client = client(server.url());
    let guard = hold(&client).await;
    let mut last = guard.fencing_token();
    let mut waiting = Vec::new();
    for _ in 0..40 {
        waiting.push(tokio::spawn(client.lock(KEY).wait(LONG).acquire()));
        tokio::task::yield_now().await;
    }
    guard.release().await.unwrap();
    for waiter in waiting {
        let guard = soon(waiter).await.unwrap().unwrap();
        assert!(guard.fencing_token() > last);
        last = guard.fencing_token();
        drop(guard);
    }
}
