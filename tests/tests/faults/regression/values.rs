//! Foreign locks with values of any size.

use harness::RedisServer;
use lock_runtime::LockErrorKind;

use harness::{KEY, LOCK, LONG, ask, behind_a_proxy, hold, ms};

/// Each poll read the whole value, until the server closed the connection for its output. All other
/// locks on the connection suffered.
#[tokio::test]
async fn a_large_foreign_value_costs_no_connection() {
    const LARGE: usize = 4 << 20;
    let (server, proxy, client) = behind_a_proxy().await;
    server.config_set("client-output-buffer-limit", "pubsub 1mb 1mb 0");
    let neighbour = client.lock("neighbour").acquire().await.unwrap();
    let value = "x".repeat(LARGE);
    ask::<()>(&mut server.connection(), &["SET", LOCK, &value]);
    for wait in [ms(0), ms(300)] {
        let error = client.lock(KEY).wait(wait).acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Busy, "{error}");
    }
    neighbour.renew().await.unwrap();
    assert_eq!(proxy.accepted(), 1, "the connection is good");
}

/// A record looks like the crate's own, and its label has any length.
#[tokio::test]
async fn the_holder_in_an_error_is_bounded() {
    let server = RedisServer::start();
    let client = harness::client(server.url());
    let guard = hold(&client).await;
    let mut connection = server.connection();
    ask::<i64>(&mut connection, &["APPEND", LOCK, &"x".repeat(1 << 20)]);
    let lock = harness::client(server.url()).lock(KEY);
    let error = lock.wait(LONG / 100).acquire().await.unwrap_err();
    assert!(error.is_busy(), "{error}");
    let text = error.to_string();
    assert!(text.len() < 1_000, "{} bytes", text.len());
    guard.release().await.unwrap();
}
