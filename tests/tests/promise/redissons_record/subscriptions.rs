//! A client is subscribed to the releases of a lock while one of its callers waits for it.

use std::time::{Duration, Instant};

use harness::{LONG, Mode, Proxy, ask, eventually, failed, figure, ms, ran_since, served, soon};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};
use redis::Connection;
use tokio::task::JoinHandle;

use super::{CHANNEL, JAVA, KEY, client, client_at, start};

/// Waiters poll no more often than this.
const SHORTEST_POLL: Duration = Duration::from_millis(150);

/// The server's counter of subscriptions.
const SUBSCRIBED: &str = "cmdstat_subscribe:calls";

fn subscribers(connection: &mut Connection) -> i64 {
    let (_, number): (String, i64) = ask(connection, &["PUBSUB", "NUMSUB", CHANNEL]);
    number
}

async fn has_subscribers(connection: &mut Connection, number: i64) {
    let subscribed = async || subscribers(connection) == number;
    eventually("change of subscriptions", LONG, subscribed).await;
}

fn waiting(client: &LockClient) -> JoinHandle<Result<LockGuard, LockError>> {
    tokio::spawn(client.lock(KEY).wait(LONG).acquire())
}

#[tokio::test]
async fn client_is_subscribed_until_its_last_caller_stops_waiting() {
    let (server, mut admin) = start();
    let (one, other) = (client(&server), client(&server));
    let guard = one.lock(KEY).acquire().await.unwrap();
    assert_eq!(subscribers(&mut admin), 0);
    let first = waiting(&other);
    has_subscribers(&mut admin, 1).await;
    let second = waiting(&other);
    let third = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    guard.release().await.unwrap();
    let guard = soon(first).await.unwrap().unwrap();
    assert_eq!(subscribers(&mut admin), 1, "two callers wait");
    third.abort();
    assert!(third.await.unwrap_err().is_cancelled());
    assert_eq!(subscribers(&mut admin), 1, "one caller waits");
    guard.release().await.unwrap();
    let guard = soon(second).await.unwrap().unwrap();
    has_subscribers(&mut admin, 0).await;
    guard.release().await.unwrap();
}

#[tokio::test]
async fn caller_that_gives_up_or_is_dropped_leaves_no_subscription() {
    let (server, mut admin) = start();
    ask::<i64>(&mut admin, &["HSET", KEY, JAVA, "1"]);
    let client = client(&server);
    let call = client.lock(KEY).wait(ms(0)).try_acquire();
    assert!(call.await.unwrap().is_none());
    assert_eq!(figure(&mut admin, SUBSCRIBED), 0, "it does not wait");

    let patient = waiting(&client);
    has_subscribers(&mut admin, 1).await;
    let error = client.lock(KEY).wait(ms(50)).await.unwrap_err();
    assert!(error.is_busy(), "{error}");
    assert_eq!(subscribers(&mut admin), 1);
    patient.abort();
    has_subscribers(&mut admin, 0).await;

    let error = client.lock(KEY).wait(ms(50)).await.unwrap_err();
    assert!(error.is_busy(), "{error}");
    has_subscribers(&mut admin, 0).await;
    let (blocking, key) = (client.clone(), KEY);
    let blocked = move || blocking.lock(key).wait(ms(50)).acquire_blocking();
    let outcome = tokio::task::spawn_blocking(blocked).await.unwrap();
    assert!(outcome.unwrap_err().is_busy());
    has_subscribers(&mut admin, 0).await;
}

/// Each message makes the waiter ask at once, more often than it polls.
#[tokio::test]
async fn each_message_makes_the_waiter_ask_again() {
    const MESSAGES: u32 = 60;
    let (server, mut admin) = start();
    ask::<i64>(&mut admin, &["HSET", KEY, JAVA, "1"]);
    let waiting = waiting(&client(&server));
    has_subscribers(&mut admin, 1).await;
    let attempts = |admin: &mut Connection| figure(admin, "cmdstat_evalsha:calls");
    let started = Instant::now();
    for _ in 0..MESSAGES {
        let before = attempts(&mut admin);
        assert_eq!(ask::<i64>(&mut admin, &["PUBLISH", CHANNEL, "0"]), 1);
        eventually("attempt", LONG, async || attempts(&mut admin) > before).await;
    }
    let took = started.elapsed();
    assert!(
        ran_since(started) < SHORTEST_POLL * MESSAGES,
        "they were polls: {took:?}"
    );
    ask::<i64>(&mut admin, &["DEL", KEY]);
    served(waiting).await.release().await.unwrap();
}

/// The lock becomes free after the server has reported it as held, and before the client is subscribed: the message
/// finds no subscriber. The caller asks once more after subscribing, instead of waiting for a poll.
#[tokio::test]
async fn release_before_the_subscription_is_not_missed() {
    const ROUNDS: u32 = 30;
    let (server, mut admin) = start();
    let proxy = Proxy::start(server.port());
    let client = client_at(proxy.url());
    client.lock(KEY).await.unwrap().release().await.unwrap();
    let mut waited = Duration::ZERO;
    for round in 0..ROUNDS {
        let before = figure(&mut admin, SUBSCRIBED);
        ask::<i64>(&mut admin, &["HSET", KEY, JAVA, "1"]);
        let mut monitor = server.monitor();
        proxy.replies(Mode::Hold);
        let waiting = waiting(&client);
        eventually("attempt", LONG, async || {
            monitor.names().contains(&"EVALSHA".to_owned())
        })
        .await;
        ask::<i64>(&mut admin, &["DEL", KEY]);
        assert_eq!(ask::<i64>(&mut admin, &["PUBLISH", CHANNEL, "0"]), 0);
        let freed = Instant::now();
        proxy.heal();
        let guard = soon(waiting).await.unwrap().unwrap();
        waited += ran_since(freed);
        assert_eq!(figure(&mut admin, SUBSCRIBED), before + 1, "round {round}");
        guard.release().await.unwrap();
    }
    assert!(waited < SHORTEST_POLL * ROUNDS, "they polled: {waited:?}");
}

/// A user without the right to listen gets an error, instead of a slow lock.
#[tokio::test]
async fn subscription_that_is_refused_is_rejected() {
    let (server, mut admin) = start();
    let deaf = client_at(server.user("deaf", "x", &["~*", "resetchannels", "+@all"]));
    deaf.lock(KEY).await.unwrap().release().await.unwrap();
    ask::<i64>(&mut admin, &["HSET", KEY, JAVA, "1"]);
    let refused = deaf.lock(KEY).wait(LONG).await;
    let error = failed(refused, LockErrorKind::Rejected);
    assert!(error.to_string().contains("NOPERM"), "{error}");
}
