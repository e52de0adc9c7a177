//! The cost of local turns, and their tokens.

use harness::{KEY, LONG, RedisServer, client, client_without_turns, hold};
use lock_runtime::LockClient;

use super::line::{Line, Visits};

/// A connected client that allows this many turns in a row; the server knows its scripts.
async fn with_turns(server: &RedisServer, turns: u32) -> LockClient {
    let asking = client_without_turns(server.url());
    let guard = hold(&asking).await;
    let next = tokio::spawn(asking.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    guard.release().await.unwrap();
    next.await.unwrap().unwrap().release().await.unwrap();
    let client = LockClient::builder().url(server.url()).local_turns(turns);
    let client = client.build().unwrap();
    hold(&client).await.release().await.unwrap();
    client
}

#[tokio::test]
async fn a_grant_serves_as_many_callers_as_local_turns_allow() {
    let server = RedisServer::start();
    // Turns in a row, callers, grants: each grant is one command, and the last release is one more.
    for (turns, callers, grants) in [(16, 1, 1), (16, 16, 1), (16, 17, 2), (4, 9, 3), (1, 3, 3)] {
        let client = with_turns(&server, turns).await;
        let mut monitor = server.monitor();
        let visits = Visits::default();
        let first = hold(&client).await;
        let line = Line::of(callers - 1, &client, &visits).await;
        visits.note("first", first.fencing_token().get());
        first.release().await.unwrap();
        line.served().await;

        let case = format!("{turns} turns, {callers} callers");
        let commands = monitor.take();
        assert_eq!(commands.len(), grants + 1, "{case}: {commands:?}");
        let tokens = visits.tokens();
        let (mut in_a_row, mut longest) = (1, 1);
        for pair in tokens.windows(2) {
            assert!(pair[0] < pair[1], "{case}: {tokens:?}");
            in_a_row = if pair[1] - pair[0] == 1 {
                in_a_row + 1
            } else {
                1
            };
            longest = longest.max(in_a_row);
        }
        assert_eq!(longest, callers.min(turns as usize), "{case}: {tokens:?}");
    }
}

#[tokio::test]
async fn callers_are_served_in_the_order_of_their_arrival() {
    let server = RedisServer::start();
    let client = client(server.url());
    let visits = Visits::default();
    let first = hold(&client).await;
    let line = Line::of(40, &client, &visits).await;
    first.release().await.unwrap();
    line.served().await;
    let expected: Vec<String> = (0..40).map(|number: i32| number.to_string()).collect();
    assert_eq!(visits.names(), expected);
}

#[tokio::test]
async fn a_guard_that_is_dropped_passes_its_lease_too() {
    let server = RedisServer::start();
    let client = with_turns(&server, 16).await;
    let mut monitor = server.monitor();
    let first = hold(&client).await;
    let token = first.fencing_token().get();
    let next = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    drop(first);
    let next = next.await.unwrap().unwrap();
    assert_eq!(next.fencing_token().get(), token + 1);
    assert_eq!(monitor.take().len(), 1, "to acquire it");
    next.release().await.unwrap();
}
