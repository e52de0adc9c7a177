//! A hash with the owner and a count in Redis. A release answers one of three things: not yours,
//! released, still held. A command that is repeated, because its answer was lost, counts twice.

use redis::Connection;

use super::{KEY, LOCK, LockGuard, Proxy, RedisServer, ask, client, delete, hold, soon, value};

#[tokio::test]
async fn the_three_outcomes_of_a_release_are_distinct() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let outer = hold(&client).await;
    let body = async {
        let inner = client.lock(KEY).acquire().await.unwrap();
        assert_eq!(inner.hold_count(), 2);
        inner.release().await.expect("it was not lost so far");
        assert!(value(&mut connection).is_some());
        assert_eq!(outer.hold_count(), 1, "still held");
    };
    outer.run(body).await.unwrap();
    outer.release().await.expect("released");
    assert_eq!(value(&mut connection), None);

    let lost = hold(&client).await;
    delete(&mut connection);
    assert!(lost.release().await.unwrap_err().is_lost(), "not yours");
}

/// The count after the answer to the first of two equal commands was lost.
#[test]
fn theirs_counts_a_command_twice_that_is_sent_again() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let enter = |connection: &mut Connection| -> i64 {
        ask(connection, &["HINCRBY", "reentrant", "owner", "1"])
    };
    enter(&mut connection);
    // No answer came, so the command is sent once more:
    assert_eq!(enter(&mut connection), 2, "one release will not free it");
}

#[tokio::test]
async fn ours_is_counted_here_and_one_release_frees_it() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = client(proxy.url());
    let mut connection = server.connection();
    hold(&client).await.release().await.unwrap();
    proxy.cut_next_reply(LOCK);
    let guard: LockGuard = soon(hold(&client)).await;
    assert_eq!(proxy.cuts(), 1, "it was sent twice");
    guard.release().await.unwrap();
    assert_eq!(value(&mut connection), None);
}
