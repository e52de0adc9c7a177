//! A server that forgets its scripts, or cannot run them for a while.

use std::time::{Duration, Instant};

use harness::RedisServer;

use super::{KEY, LONG, SLACK, ask, client, cycle, ms, nothing_is_left, served, soon};

#[tokio::test]
async fn scripts_are_sent_again_when_they_were_flushed() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let (one, other) = (client(server.url()), client(server.url()));
    let mut flush = || -> () { ask(&mut connection, &["SCRIPT", "FLUSH"]) };
    for _ in 0..20 {
        flush();
        let guard = one.lock(KEY).wait(Duration::ZERO).acquire().await.unwrap();
        flush();
        guard.renew().await.unwrap();
        flush();
        let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
        tokio::time::sleep(ms(5)).await;
        flush();
        guard.release().await.unwrap();
        flush();
        served(waiting).await.release().await.unwrap();
    }
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}

#[tokio::test]
async fn a_lease_is_renewed_through_a_loop_of_flushes() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let client = client(server.url());
    let guard = client.lock(KEY).ttl(ms(1_500)).acquire().await.unwrap();
    let started = Instant::now();
    while started.elapsed() < ms(2_000) {
        let _: () = ask(&mut connection, &["SCRIPT", "FLUSH"]);
        tokio::time::sleep(ms(1)).await;
    }
    assert!(guard.is_valid());
    soon(guard.release()).await.unwrap();
    nothing_is_left(&mut connection, ms(5_000)).await;
}

#[tokio::test]
async fn a_server_that_is_busy_with_a_script_is_asked_again() {
    let server = RedisServer::builder()
        .config("busy-reply-threshold", "50")
        .start();
    let client = client(server.url());
    cycle(&client).await;
    let mut looping = server.connection();
    let busy = std::thread::spawn(move || {
        // The test kills the script, so its command ends with an error.
        redis::cmd("EVAL")
            .arg("while true do end")
            .arg(0)
            .exec(&mut looping)
    });
    let mut connection = server.connection();
    harness::eventually("BUSY", LONG, async || {
        let ping = redis::cmd("PING").exec(&mut connection);
        ping.is_err_and(|error| error.code() == Some("BUSY"))
    })
    .await;

    let started = Instant::now();
    let error = client.lock(KEY).wait(ms(200)).acquire().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(started.elapsed() < ms(1_200) + SLACK);

    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(50)).await;
    assert!(!waiting.is_finished());
    let _: () = ask(&mut connection, &["SCRIPT", "KILL"]);
    assert!(busy.join().unwrap().is_err());
    served(waiting).await.release().await.unwrap();
    nothing_is_left(&mut connection, ms(5_000)).await;
}
