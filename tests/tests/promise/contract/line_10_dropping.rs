//! Calls and guards may be dropped anywhere.

use std::time::{Duration, Instant};

use harness::{RedisServer, eventually};
use tokio::time::timeout;

use super::{KEY, LOCK, LONG, QUEUE, ask, client, hold, ms};

/// The time that a busy machine may need to settle a cancelled call.
const SETTLED: Duration = Duration::from_secs(5);

#[tokio::test]
async fn line_10_an_acquire_dropped_at_any_time_leaves_no_key_and_no_entry() {
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    let mut connection = server.connection();
    let mut nothing_is_left = async || {
        eventually("end of everything", SETTLED, async || {
            ask::<i64>(&mut connection, &["EXISTS", LOCK, QUEUE]) == 0
        })
        .await;
    };
    drop(hold(&one).await);
    nothing_is_left().await;
    for round in 0..60_u64 {
        // From before the first byte is sent to long after the answer.
        let moment = Duration::from_micros(round * 37);
        drop(timeout(moment, other.lock(KEY).acquire()).await);
        nothing_is_left().await;

        let guard = hold(&one).await;
        drop(timeout(moment, other.lock(KEY).wait(LONG).acquire()).await);
        drop(timeout(moment, one.lock(KEY).wait(LONG).acquire()).await);
        drop(guard);
        nothing_is_left().await;
    }
}

#[tokio::test]
async fn line_10_a_grant_that_crosses_a_drop_is_passed_on() {
    let server = RedisServer::start();
    let (one, other, third) = (
        client(server.url()),
        client(server.url()),
        client(server.url()),
    );
    let mut slow = 0;
    for round in 0..20_u64 {
        let guard = hold(&one).await;
        let leaving = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
        tokio::time::sleep(ms(5)).await;
        let staying = tokio::spawn(third.lock(KEY).wait(LONG).acquire());
        tokio::time::sleep(ms(5)).await;
        let started = Instant::now();
        drop(guard);
        tokio::time::sleep(Duration::from_micros(round * 53)).await;
        leaving.abort();
        // With the guard, if the call has returned one.
        drop(leaving);
        let guard = staying.await.unwrap().unwrap();
        // A grant without a confirmation ends after 1.5 s.
        slow += u32::from(started.elapsed() > ms(1_200));
        guard.release().await.unwrap();
    }
    // A busy machine may explain it once.
    assert!(slow <= 2, "{slow} grants were left to end by themselves");
}

#[tokio::test]
async fn line_10_a_body_that_is_cancelled_frees_its_lock() {
    let server = RedisServer::start();
    let (one, other) = (client(server.url()), client(server.url()));
    for _ in 0..5 {
        let body = one
            .lock(KEY)
            .run(async |_| std::future::pending::<()>().await);
        assert!(timeout(ms(20), body).await.is_err(), "the body goes on");
        let next = timeout(SETTLED, hold(&other)).await;
        next.expect("it was released").release().await.unwrap();
    }
}
