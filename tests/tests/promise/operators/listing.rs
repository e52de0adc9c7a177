//! Listings of many locks, and among many other keys.

use std::collections::BTreeSet;

use harness::{RedisServer, ask, keys_of, ms, patient, server_and_connection};
use redis::Connection;

use super::client;

/// Writes this many locks, as if other clients held them.
fn write_locks(connection: &mut Connection, count: usize) {
    let script = "for i = 1, ARGV[1] do
        local owner = string.format('%022d', i)
        redis.call('SET', 'lock:order:' .. i, owner .. ' 0000000000000016 host', 'PX', 600000)
        redis.call('SET', '{lock:order:' .. i .. '}:f', '0000000000000016')
        redis.call('SET', 'other:' .. i, 'x')
    end";
    let _: () = ask(connection, &["EVAL", script, "0", &count.to_string()]);
}

/// The next connection may lead to another server, where the cursor means nothing.
#[tokio::test]
async fn listing_restarts_when_its_connection_is_replaced() {
    let (server, mut connection) = server_and_connection();
    let operator = client(&server);
    write_locks(&mut connection, 300);
    let mut locks = operator.locks().page_size(20);
    let (mut keys, mut pages, mut listed) = (BTreeSet::new(), 0, 0);
    loop {
        let page = match locks.next_page().await {
            Ok(Some(page)) => page,
            Ok(None) => break,
            // The command was on the connection that broke.
            Err(error) if error.is_unavailable() => continue,
            Err(error) => panic!("{error}"),
        };
        listed += page.len();
        keys.extend(page.into_iter().map(|lock| lock.key.as_str().to_owned()));
        pages += 1;
        if pages == 5 {
            let _: i64 = ask(&mut connection, &["CLIENT", "KILL", "SKIPME", "yes"]);
        }
    }
    assert_eq!(keys.len(), 300);
    assert!(listed > 300, "it restarted");
}

#[tokio::test]
async fn page_that_is_dropped_comes_again() {
    let server = RedisServer::start();
    let operator = client(&server);
    write_locks(&mut server.connection(), 200);
    let mut locks = operator.locks().page_size(10);
    let mut keys = BTreeSet::new();
    loop {
        server.pause();
        let dropped = tokio::time::timeout(ms(5), locks.next_page()).await;
        server.resume();
        assert!(
            dropped.is_err() || keys.len() == 200,
            "the server did not answer"
        );
        match locks.next_page().await.unwrap() {
            None => break,
            Some(page) => keys.extend(page.into_iter().map(|lock| lock.key.as_str().to_owned())),
        }
    }
    assert_eq!(keys.len(), 200);
}

/// Characters with a meaning in patterns are literal in the prefix.
#[tokio::test]
async fn prefix_is_not_a_pattern() {
    let server = RedisServer::start();
    let of = |prefix: &str| {
        let builder = patient(server.url()).prefix(prefix);
        builder.build().unwrap()
    };
    let (strange, plain) = (of("l[o]*k:"), of("lock:"));
    let _one = strange.lock("a").await.unwrap();
    let _other = plain.lock("b").await.unwrap();
    let without = of("");
    assert_eq!(
        keys_of(strange.locks()).await,
        BTreeSet::from(["a".to_owned()])
    );
    assert_eq!(
        keys_of(plain.locks()).await,
        BTreeSet::from(["b".to_owned()])
    );
    let all = keys_of(without.locks()).await;
    assert_eq!(
        all,
        BTreeSet::from(["l[o]*k:a".to_owned(), "lock:b".to_owned()])
    );
}

/// A server closes a connection with too much unsent output, which would put this client's held locks in doubt.
#[tokio::test]
async fn huge_foreign_values_are_read_in_part() {
    let (server, mut connection) = server_and_connection();
    let operator = client(&server);
    let guard = operator.lock("held").await.unwrap();
    let id = |connection: &mut Connection| -> String {
        let list: String = ask(connection, &["CLIENT", "LIST", "TYPE", "pubsub"]);
        list.split(' ').next().unwrap_or_default().to_owned()
    };
    let before = id(&mut connection);
    let huge = "x".repeat(8 << 20);
    for key in ["lock:a", "lock:b"] {
        let _: () = ask(&mut connection, &["SET", key, &huge]);
    }
    assert_eq!(keys_of(operator.locks()).await.len(), 3);
    assert!(operator.inspect("a").await.unwrap().is_held());
    assert_eq!(id(&mut connection), before, "the same connection");
    guard.release().await.unwrap();
}
