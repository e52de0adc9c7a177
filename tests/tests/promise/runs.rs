//! Runs that cannot be recorded, and what recording them sends.
//!
//! The history is advisory: whatever the server does with it, no call waits for it or fails.

use std::time::Duration;

use harness::{KEY, LONG, RIGHTS, RedisServer, ask, eventually, ms, patient};
use lock_runtime::inspect::{Run, RunOutcome};
use lock_runtime::{Acquire, LockClient};

const HISTORY: &str = "{lock:order:42}:h";

fn job(client: &LockClient) -> Acquire {
    client.lock(KEY).wait(LONG).runs(3)
}

fn client(url: impl Into<String>) -> LockClient {
    patient(url).build().unwrap()
}

/// The runs, once there are as many.
async fn runs_of(client: &LockClient, count: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    eventually("recorded runs", LONG, async || {
        runs = client.runs(KEY).await.unwrap();
        let is_over = |run: &Run| run.ended.is_some();
        runs.len() == count && runs.iter().all(is_over)
    })
    .await;
    runs
}

/// Waits until the first run has begun.
async fn begun(client: &LockClient) -> Vec<Run> {
    let mut runs = Vec::new();
    eventually("beginning", LONG, async || {
        runs = client.runs(KEY).await.unwrap();
        !runs.is_empty()
    })
    .await;
    runs
}

/// Without the right to write it, with a record of another type in its place, and on a server that has become full.
#[tokio::test]
async fn server_that_refuses_the_record_fails_no_call() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    let lacking: Vec<&str> = RIGHTS.iter().copied().filter(|it| *it != "+xadd").collect();
    let denied = client(server.user("service", "s3cret", &lacking));
    // Each connection tries the scripts out once, not again after each refusal.
    let mut monitor = server.monitor();
    eventually("run of four commands", LONG, async || {
        monitor.take();
        job(&denied).run(async |_| ()).await.unwrap();
        monitor.names() == ["SET", "EVAL", "EVAL", "EVALSHA"]
    })
    .await;

    let client = client(server.admin_url());
    assert_eq!(client.runs(KEY).await.unwrap(), []);
    let _: i64 = ask(connection, &["RPUSH", HISTORY, "of another program"]);
    job(&client).run(async |_| ()).await.unwrap();
    assert_eq!(client.runs(KEY).await.unwrap(), []);
    let _: i64 = ask(connection, &["DEL", HISTORY]);

    let guard = job(&client).acquire().await.unwrap();
    begun(&client).await;
    server.config_set("maxmemory", "1");
    guard.release().await.unwrap();
    server.config_set("maxmemory", "0");
    assert!(!client.inspect(KEY).await.unwrap().is_held());
    let runs = begun(&client).await;
    assert_eq!(runs[0].outcome, RunOutcome::Died, "its end is missing");
}

#[tokio::test]
async fn end_that_was_lost_with_its_connection_is_sent_again() {
    let server = RedisServer::start();
    let client = client(server.admin_url());
    let guard = job(&client).acquire().await.unwrap();
    begun(&client).await;
    let took = ms(50);
    tokio::time::sleep(took).await;
    // At once, before the client has connected again.
    for kind in ["normal", "pubsub"] {
        let kill = ["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"];
        let _: i64 = ask(&mut server.connection(), &kill);
    }
    guard.release().await.unwrap();
    let runs = runs_of(&client, 1).await;
    assert_eq!(runs[0].outcome, RunOutcome::Done);
    assert!(runs[0].took().unwrap() >= took - ms(1), "{runs:?}");
}

/// The lock was taken away, and the holder learns it from the answer to its release.
#[tokio::test]
async fn release_that_finds_the_lock_gone_corrects_the_end() {
    let server = RedisServer::start();
    let client = client(server.admin_url());
    let guard = job(&client).acquire().await.unwrap();
    begun(&client).await;
    let _: i64 = ask(&mut server.connection(), &["DEL", "lock:order:42"]);
    assert!(guard.release().await.unwrap_err().is_lost());
    eventually("corrected end", LONG, async || {
        client.runs(KEY).await.unwrap()[0].outcome == RunOutcome::Lost
    })
    .await;
}

#[tokio::test]
async fn history_expires_thirty_days_after_its_last_entry() {
    let server = RedisServer::start();
    let client = client(server.admin_url());
    let connection = &mut server.connection();
    let month = Duration::from_secs(30 * 24 * 3600).as_millis() as i64;
    let guard = job(&client).acquire().await.unwrap();
    eventually("beginning", LONG, async || {
        ask::<i64>(connection, &["XLEN", HISTORY]) == 1
    })
    .await;
    let left: i64 = ask(connection, &["PTTL", HISTORY]);
    assert!(left <= month && left > month - 60_000, "{left}");
    let _: i64 = ask(connection, &["PEXPIRE", HISTORY, "60000"]);
    guard.release().await.unwrap();
    runs_of(&client, 1).await;
    let left: i64 = ask(connection, &["PTTL", HISTORY]);
    assert!(left <= month && left > month - 60_000, "{left}");
}

#[tokio::test]
async fn call_that_takes_a_retained_lease_sends_only_its_record() {
    let server = RedisServer::start();
    let client = client(server.admin_url());
    let lock = job(&client)
        .ttl(Duration::from_secs(60))
        .retain(Duration::from_secs(20));
    let call = async || lock.clone().run(async |_| ()).await.unwrap();
    call().await;
    runs_of(&client, 1).await;
    let mut monitor = server.monitor();
    call().await;
    runs_of(&client, 2).await;
    let mut sent = monitor.names();
    // What asks for the runs, any number of times.
    let is_of_reading = |name: &String| {
        [
            "MULTI",
            "GETRANGE",
            "ZRANGEBYSCORE",
            "TIME",
            "XRANGE",
            "EXEC",
        ]
        .contains(&&**name)
    };
    sent.retain(|name| !is_of_reading(name));
    assert_eq!(sent, ["EVALSHA", "EVALSHA"]);
    client.shutdown().await;
}

/// A deployment that changes the number of runs, or a program that writes entries of its own.
#[tokio::test]
async fn entries_of_other_programs_are_left_out() {
    let server = RedisServer::start();
    let client = client(server.admin_url());
    let connection = &mut server.connection();
    let _: String = ask(connection, &["XADD", HISTORY, "*", "x", "y"]);
    let _: String = ask(
        connection,
        &[
            "XADD", HISTORY, "*", "owner", "short", "run", "1", "ended", "done",
        ],
    );
    job(&client).run(async |_| ()).await.unwrap();
    let runs = runs_of(&client, 1).await;
    assert_eq!(runs[0].outcome, RunOutcome::Done);
}
