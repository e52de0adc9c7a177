//! "Is it still mine?" by comparing the stored value. The crate answers from a clock without a command,
//! by the server on request, and by a future that completes on a loss.

use super::{KEY, LOCK, RedisServer, SLACK, ask, client, delete, hold, ms, soon};

#[tokio::test]
async fn the_server_is_asked_by_a_renewal() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let guard = hold(&client).await;
    guard.renew().await.expect("it is ours");
    delete(&mut connection);
    let _: String = ask(&mut connection, &["SET", LOCK, "another-program"]);
    assert!(guard.is_valid(), "no answer has come yet");
    assert!(guard.renew().await.unwrap_err().is_lost());
    assert!(!guard.is_valid());
    soon(guard.lost()).await;
}

#[tokio::test]
async fn the_watchdog_finds_out_by_itself() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let guard = client.lock(KEY).ttl(ms(600)).acquire().await.unwrap();
    delete(&mut connection);
    let lost = tokio::time::timeout(ms(600) + SLACK, guard.lost());
    lost.await.expect("within a third of the ttl or so");
    assert!(guard.remaining().is_zero());
}

#[tokio::test]
async fn the_clock_says_so_before_the_server_lets_go() {
    let server = RedisServer::start();
    let (client, hour) = (client(server.url()), ms(3_600_000));
    let guard = client.lock(KEY).ttl(hour).acquire().await.unwrap();
    let ours = guard.remaining();
    let theirs: i64 = ask(&mut server.connection(), &["PTTL", LOCK]);
    // A hundredth of the ttl is 36 s, far more than passes between the two checks.
    let theirs = ms(u64::try_from(theirs).unwrap());
    assert!(
        ours + ms(20_000) < theirs && theirs <= hour,
        "{ours:?}, {theirs:?}"
    );
}
