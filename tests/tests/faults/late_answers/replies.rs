//! Replies that arrive after the client has stopped waiting for them.

use std::time::{Duration, Instant};

use harness::{
    KEY, LOCK, LONG, Mode, RedisServer, SLACK, ask, behind_a_proxy, client, eventually, hold, ms,
    nothing_is_left, served, soon,
};

#[tokio::test]
async fn an_attempt_that_is_answered_too_late_leaves_no_orphan() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let client = client(server.url());
    drop(soon(hold(&client)).await);
    nothing_is_left(&mut connection, ms(5_000)).await;

    // Writes are paused for longer than the command timeout; the acquire is carried out afterwards.
    let started = Instant::now();
    let _: () = ask(&mut connection, &["CLIENT", "PAUSE", "10000", "WRITE"]);
    let attempt = client.lock(KEY).wait(Duration::ZERO).acquire().await;
    assert!(attempt.unwrap_err().is_unavailable());
    assert!(started.elapsed() < ms(1_000) + SLACK);
    let _: () = ask(&mut connection, &["CLIENT", "UNPAUSE"]);
    // Within half a second of the late reply.
    nothing_is_left(&mut connection, ms(500) + SLACK).await;
}

#[tokio::test]
async fn a_waiter_gets_the_lock_that_was_granted_by_an_unanswered_command() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    // Longer than the command timeout, so that the first answer is given up.
    proxy.replies(Mode::Delay(ms(1_200)));
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    eventually("unanswered hold", LONG, async || {
        ask::<i64>(&mut connection, &["EXISTS", LOCK]) == 1
    })
    .await;
    let first: String = ask(&mut connection, &["GET", LOCK]);
    tokio::time::sleep(ms(1_100)).await;
    proxy.heal();
    let guard = served(waiting).await;
    let now: String = ask(&mut connection, &["GET", LOCK]);
    assert_eq!(first, now, "it is the same owner with the same token");
    guard.release().await.unwrap();
    nothing_is_left(&mut connection, ms(5_000)).await;
}
