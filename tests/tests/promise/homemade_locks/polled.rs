//! A script sent by its digest, repeated at an interval for a bounded number of tries. Most such locks
//! do nothing about a server that forgot the script.

use std::time::Instant;

use super::{KEY, LockErrorKind, RedisServer, SLACK, ask, client, hold, ms, soon};

#[tokio::test]
async fn tries_end_when_the_wait_is_over() {
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let guard = hold(&one).await;
    let started = Instant::now();
    let error = other.lock(KEY).wait(ms(300)).acquire().await.unwrap_err();
    let elapsed = started.elapsed();
    assert_eq!(error.kind(), LockErrorKind::Busy);
    assert!(
        elapsed >= ms(300) && elapsed < ms(300) + SLACK,
        "{elapsed:?}"
    );
    guard.release().await.unwrap();
}

#[tokio::test]
async fn an_uncontended_acquire_is_one_command_and_so_is_its_release() {
    let server = RedisServer::start();
    let client = client(server.url());
    // Connects, and loads the scripts into the server.
    hold(&client).await.release().await.unwrap();
    let mut monitor = server.monitor();
    let guard = hold(&client).await;
    let names = |commands: Vec<harness::Command>| -> Vec<String> {
        commands.into_iter().map(|command| command.name).collect()
    };
    assert_eq!(names(monitor.take()), ["EVALSHA"]);
    guard.release().await.unwrap();
    let names = names(monitor.take());
    let release = harness::release_command(&mut server.connection());
    assert_eq!(names, [release]);
}

#[tokio::test]
async fn a_server_that_forgot_the_scripts_learns_them_again() {
    let server = RedisServer::start();
    let (client, mut connection) = (client(server.url()), server.connection());
    let mut flush = || ask::<String>(&mut connection, &["SCRIPT", "FLUSH"]);
    for _ in 0..3 {
        flush();
        let guard = soon(hold(&client)).await;
        flush();
        guard.renew().await.unwrap();
        flush();
        guard.release().await.unwrap();
    }
}
