//! Several locks that one call acquires together: all or none, whatever fails in between.

use harness::{LONG, ask, client, eventually, failed, ms, served, server_and_connection, soon};
use lock_runtime::LockErrorKind;
use redis::Connection;

use super::{nothing_is_left, waiting_for};

const KEYS: [&str; 3] = ["order:41", "order:42", "order:43"];
const LOCKS: [&str; 3] = ["lock:order:41", "lock:order:42", "lock:order:43"];
const LAST_QUEUE: &str = "{lock:order:43}:w";

fn holder(connection: &mut Connection, lock: &str) -> Option<String> {
    let value: Option<String> = ask(connection, &["GET", lock]);
    value.map(|value| value.chars().take(22).collect())
}

fn queued(connection: &mut Connection, queue: &str) -> i64 {
    ask(connection, &["ZCARD", queue])
}

#[tokio::test]
async fn lock_that_is_lost_while_the_next_is_awaited_restarts_the_acquisition() {
    let (server, mut connection) = server_and_connection();
    let all = client(server.url()).lock_all(KEYS).wait(LONG);
    let (last, waiting) = waiting_for(&server, KEYS[2], all).await;
    let first = holder(&mut connection, LOCKS[0]).unwrap();
    assert_eq!(holder(&mut connection, LOCKS[1]), Some(first.clone()));

    let _: () = ask(&mut connection, &["SET", LOCKS[0], "theirs"]);
    eventually("place in the first queue only", LONG, async || {
        let first = queued(&mut connection, "{lock:order:41}:w");
        first == 2 && queued(&mut connection, LAST_QUEUE) == 0
    })
    .await;
    assert_eq!(holder(&mut connection, LOCKS[1]), None, "it is released");

    let _: i64 = ask(&mut connection, &["DEL", LOCKS[0]]);
    last.release().await.unwrap();
    let guard = served(waiting).await;
    let now = holder(&mut connection, LOCKS[0]).unwrap();
    assert_ne!(now, first, "another owner");
    assert!(
        LOCKS
            .iter()
            .all(|lock| holder(&mut connection, lock).as_ref() == Some(&now))
    );
    guard.release().await.unwrap();
    nothing_is_left(&mut connection).await;
}

#[tokio::test]
async fn wait_bounds_a_restarted_acquisition() {
    let (server, mut connection) = server_and_connection();
    let all = client(server.url()).lock_all(KEYS).wait(ms(1_500));
    let (_last, waiting) = waiting_for(&server, KEYS[2], all).await;
    let _: () = ask(&mut connection, &["SET", LOCKS[0], "theirs"]);
    let error = soon(waiting).await.unwrap().unwrap_err();
    assert!(error.is_busy(), "{error}");
    assert_eq!(error.key(), Some(KEYS[0]), "{error}");
    eventually("second lock released", LONG, async || {
        holder(&mut connection, LOCKS[1]).is_none()
    })
    .await;
    for queue in ["{lock:order:41}:w", LAST_QUEUE] {
        eventually("queues left", LONG, async || {
            queued(&mut connection, queue) == 0
        })
        .await;
    }
}

/// A waiter for the last lock holds the first ones for a whole ttl, so its end is repeated like a holder's.
#[tokio::test]
async fn waiter_whose_end_is_refused_releases_its_locks_later() {
    let (server, mut connection) = server_and_connection();
    let all = client(server.url()).lock_all(KEYS);
    let all = all.ttl(LONG * 10).wait(LONG);
    let (last, waiting) = waiting_for(&server, KEYS[2], all).await;
    let _: () = ask(&mut connection, &["ACL", "SETUSER", "default", "-evalsha"]);
    failed(soon(waiting).await.unwrap(), LockErrorKind::Rejected);
    assert!(holder(&mut connection, LOCKS[0]).is_some());
    let _: () = ask(&mut connection, &["ACL", "SETUSER", "default", "+evalsha"]);
    eventually("first locks released", LONG, async || {
        holder(&mut connection, LOCKS[0]).is_none() && holder(&mut connection, LOCKS[1]).is_none()
    })
    .await;
    last.release().await.unwrap();
    nothing_is_left(&mut connection).await;
}
