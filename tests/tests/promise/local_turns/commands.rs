//! The cost of local turns, and their tokens.

use harness::{
    KEY, LONG, Listener, READ, RawLock, RedisServer, client_without_turns, hold, hold_fenced,
    patient, soon, token_of,
};
use lock_runtime::LockClient;

use super::line::{Line, Visits};

/// A connected client that allows this many turns in a row; the server knows its scripts.
async fn with_turns(server: &RedisServer, turns: u32) -> LockClient {
    let asking = client_without_turns(server.url());
    let guard = hold_fenced(&asking).await;
    let next = tokio::spawn(asking.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    guard.release().await.unwrap();
    next.await.unwrap().unwrap().release().await.unwrap();
    let client = patient(server.url()).local_turns(turns);
    let client = client.build().unwrap();
    hold(&client).await.release().await.unwrap();
    client
}

#[tokio::test]
async fn a_grant_serves_as_many_callers_as_local_turns_allow() {
    let server = RedisServer::start();
    // Turns in a row, callers, grants: each grant is one command, and the last release is one more. A client that is
    // alone continues without limit, with a new range of tokens for each grant.
    let cases = [
        (16, 1, 1),
        (16, 16, 1),
        (16, 17, 2),
        (16, 49, 4),
        (4, 9, 3),
        (1, 3, 3),
    ];
    for (turns, callers, grants) in cases {
        let client = with_turns(&server, turns).await;
        let mut monitor = server.monitor();
        let visits = Visits::default();
        let first = hold_fenced(&client).await;
        let line = Line::of(callers - 1, &client, &visits).await;
        visits.note("first", token_of(&first).await.get());
        first.release().await.unwrap();
        line.served().await;

        let case = format!("{turns} turns, {callers} callers");
        let commands = monitor.take();
        assert_eq!(commands.len(), grants + 1, "{case}: {commands:?}");
        let tokens = visits.tokens();
        assert_eq!(tokens.len(), callers, "{case}: {tokens:?}");
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

/// A grant without a token is handed over as it is. The first caller that requests a token causes a command, and from
/// then on each turn has its own token.
#[tokio::test]
async fn a_grant_without_a_token_serves_its_callers_too() {
    let server = RedisServer::start();
    let client = with_turns(&server, 16).await;
    let mut monitor = server.monitor();
    let first = hold(&client).await;
    let visits = Visits::default();
    let mut next = Vec::new();
    for _ in 0..3 {
        next.push(tokio::spawn(client.lock(KEY).wait(LONG).acquire()));
        tokio::task::yield_now().await;
    }
    let line = Line::of(3, &client, &visits).await;
    first.release().await.unwrap();
    for next in next {
        soon(next).await.unwrap().unwrap().release().await.unwrap();
    }
    line.served().await;
    let tokens = visits.tokens();
    assert_eq!(tokens, [tokens[0], tokens[0] + 1, tokens[0] + 2]);
    // The lock is taken, a script that the server does not know tells the time and mints a token, and the lock is released.
    let names = monitor.names();
    assert_eq!(names[..4], ["SET", "EVALSHA", "EVAL", "EVALSHA"]);
    assert_eq!(names.len(), 5, "{names:?}");
}

#[tokio::test]
async fn a_dropped_guard_hands_its_lease_over_even_after_a_panic() {
    let server = RedisServer::start();
    let client = with_turns(&server, 16).await;
    let mut monitor = server.monitor();
    let first = hold_fenced(&client).await;
    let token = token_of(&first).await.get();
    let second = client.lock(KEY).wait(LONG);
    let panics = tokio::spawn(second.run::<()>(async |_| panic!("on purpose")));
    tokio::task::yield_now().await;
    let third = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    drop(first);
    assert!(panics.await.unwrap_err().is_panic());
    let third = third.await.unwrap().unwrap();
    assert_eq!(token_of(&third).await.get(), token + 2);
    assert_eq!(monitor.take().len(), 1, "to acquire it");
    third.release().await.unwrap();
}

/// The readers are waiters that confirm nothing: one command must admit all of them.
#[tokio::test]
async fn a_writer_admits_all_readers_before_the_next_writer_of_its_client() {
    let server = RedisServer::start();
    let client = with_turns(&server, 1).await;
    let mut readers = RawLock::new(&server, KEY);
    let _alive = ['B', 'C', 'D'].map(|reader| Listener::of(&server, reader));
    let write = || client.lock(KEY).write().wait(LONG).acquire();
    let writer = write().await.unwrap();
    let next = tokio::spawn(write());
    tokio::task::yield_now().await;
    for reader in ['B', 'C', 'D'] {
        readers.share(reader, READ, 60_000).unwrap();
    }
    writer.release().await.unwrap();
    assert_eq!(readers.owners(), 3, "{:?}", readers.shares());

    for reader in ['B', 'C', 'D'] {
        readers.end_share(reader, READ).unwrap();
    }
    let next = soon(next).await.unwrap().unwrap();
    next.release().await.unwrap();
}
