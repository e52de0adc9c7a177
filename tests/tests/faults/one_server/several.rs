//! Several locks that one call acquires together: all or none, whatever happens in between.

use harness::{Proxy, RedisServer, eventually};
use lock_runtime::{LockClient, LockErrorKind, LockGuard};
use redis::Connection;
use tokio::task::JoinHandle;

use super::{LONG, ask, behind_a_proxy, client, ms, served, soon};

const KEYS: [&str; 3] = ["order:41", "order:42", "order:43"];
const LOCKS: [&str; 3] = ["lock:order:41", "lock:order:42", "lock:order:43"];
const LAST_QUEUE: &str = "{lock:order:43}:w";

/// The proxy recognizes a command of the locks by the first lock's name.
const COMMAND: &str = LOCKS[0];

fn holder(connection: &mut Connection, lock: &str) -> Option<String> {
    let value: Option<String> = ask(connection, &["GET", lock]);
    value.map(|value| value.chars().take(22).collect())
}

fn queued(connection: &mut Connection, queue: &str) -> i64 {
    ask(connection, &["ZCARD", queue])
}

async fn nothing_is_left(connection: &mut Connection) {
    eventually("end of everything", LONG, async || {
        let names: Vec<String> = ask(connection, &["KEYS", "*"]);
        names.iter().all(|name| name.ends_with(":f"))
    })
    .await;
}

/// A caller for all locks that waits for the last one, which the guard holds.
async fn waiting_for_the_last(
    server: &RedisServer,
    client: &LockClient,
) -> (
    LockGuard,
    JoinHandle<Result<LockGuard, lock_runtime::LockError>>,
) {
    let other = super::client(server.url());
    let last = other.lock(KEYS[2]).acquire().await.unwrap();
    let waiting = tokio::spawn(client.lock_all(KEYS).wait(LONG).acquire());
    let mut connection = server.connection();
    eventually("place in the queue", LONG, async || {
        queued(&mut connection, LAST_QUEUE) == 2
    })
    .await;
    (last, waiting)
}

#[tokio::test]
async fn lock_that_is_lost_while_the_next_is_awaited_has_all_begun_anew() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let (last, waiting) = waiting_for_the_last(&server, &client).await;
    let first = holder(&mut connection, LOCKS[0]).unwrap();
    assert_eq!(holder(&mut connection, LOCKS[1]), Some(first.clone()));

    let _: () = ask(&mut connection, &["SET", LOCKS[0], "theirs"]);
    eventually("place in the first queue alone", LONG, async || {
        let first = queued(&mut connection, "{lock:order:41}:w");
        first == 2 && queued(&mut connection, LAST_QUEUE) == 0
    })
    .await;
    assert_eq!(holder(&mut connection, LOCKS[1]), None, "it is given back");

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
async fn lock_that_is_deleted_while_the_next_is_awaited_is_taken_again() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let (last, waiting) = waiting_for_the_last(&server, &client).await;
    let owner = holder(&mut connection, LOCKS[0]);
    let _: i64 = ask(&mut connection, &["DEL", LOCKS[0]]);
    eventually("first lock", LONG, async || {
        holder(&mut connection, LOCKS[0]) == owner
    })
    .await;
    last.release().await.unwrap();
    served(waiting).await.release().await.unwrap();
    nothing_is_left(&mut connection).await;
}

#[tokio::test]
async fn wait_bounds_what_is_begun_anew() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let other = super::client(server.url());
    let _last = other.lock(KEYS[2]).acquire().await.unwrap();
    let waiting = tokio::spawn(client.lock_all(KEYS).wait(ms(1_500)).acquire());
    eventually("place in the queue", LONG, async || {
        queued(&mut connection, LAST_QUEUE) == 2
    })
    .await;
    let _: () = ask(&mut connection, &["SET", LOCKS[0], "theirs"]);
    let error = soon(waiting).await.unwrap().unwrap_err();
    assert!(error.is_busy(), "{error}");
    assert_eq!(error.key(), Some(KEYS[0]), "{error}");
    eventually("second lock given back", LONG, async || {
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

#[tokio::test]
async fn body_that_loses_one_lock_is_dropped_and_the_others_are_freed() {
    for (number, deleted) in [(0, false), (1, true), (2, false)] {
        let server = RedisServer::start();
        let client = client(server.url());
        let mut connection = server.connection();
        let steal = async |_: &LockGuard| {
            if deleted {
                let _: i64 = ask(&mut connection, &["DEL", LOCKS[number]]);
            } else {
                let _: () = ask(&mut connection, &["SET", LOCKS[number], "theirs"]);
            }
            std::future::pending::<()>().await;
        };
        let all = client.lock_all(KEYS).ttl(ms(900));
        let error = soon(all.run(steal)).await.unwrap_err();
        assert!(error.is_lost(), "{error}");
        let mut connection = server.connection();
        for (of, lock) in LOCKS.iter().enumerate() {
            if of == number && !deleted {
                assert_eq!(holder(&mut connection, lock).unwrap(), "theirs");
                continue;
            }
            eventually("other locks freed", LONG, async || {
                holder(&mut connection, lock).is_none()
            })
            .await;
        }
    }
}

/// A record of another type is lost as well, and must not keep the other locks for the rest of their ttl.
#[tokio::test]
async fn lock_whose_record_became_another_type_does_not_keep_the_others() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let all = client.lock_all(KEYS).ttl(LONG * 10);
    let guard = all.acquire().await.unwrap();
    let _: i64 = ask(&mut connection, &["DEL", LOCKS[1]]);
    let _: i64 = ask(&mut connection, &["LPUSH", LOCKS[1], "theirs"]);
    assert!(guard.release().await.unwrap_err().is_lost());
    for lock in [LOCKS[0], LOCKS[2]] {
        assert_eq!(holder(&mut connection, lock), None);
    }
}

/// A waiter for the last lock has the first ones for a whole ttl, so its end is repeated like that of a holder.
#[tokio::test]
async fn waiter_whose_end_is_refused_gives_back_what_it_has_later() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    let other = super::client(server.url());
    let last = other.lock(KEYS[2]).acquire().await.unwrap();
    let all = client.lock_all(KEYS).ttl(LONG * 10).wait(LONG);
    let waiting = tokio::spawn(all.acquire());
    eventually("place in the queue", LONG, async || {
        queued(&mut connection, LAST_QUEUE) == 2
    })
    .await;
    let _: () = ask(&mut connection, &["ACL", "SETUSER", "default", "-evalsha"]);
    let error = soon(waiting).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    assert!(holder(&mut connection, LOCKS[0]).is_some());
    let _: () = ask(&mut connection, &["ACL", "SETUSER", "default", "+evalsha"]);
    eventually("first locks given back", LONG, async || {
        holder(&mut connection, LOCKS[0]).is_none() && holder(&mut connection, LOCKS[1]).is_none()
    })
    .await;
    last.release().await.unwrap();
    nothing_is_left(&mut connection).await;
}

#[tokio::test]
async fn release_of_locks_of_which_one_is_lost_frees_the_others() {
    let server = RedisServer::start();
    let client = client(server.url());
    let mut connection = server.connection();
    for lost in LOCKS {
        let guard = client.lock_all(KEYS).acquire().await.unwrap();
        let _: i64 = ask(&mut connection, &["DEL", lost]);
        assert!(guard.release().await.unwrap_err().is_lost(), "{lost}");
        nothing_is_left(&mut connection).await;
    }
}

/// What is cut: a command on its way, or its answer.
fn cut(proxy: &Proxy, round: usize) {
    if round.is_multiple_of(2) {
        proxy.cut_next_reply(COMMAND);
    } else {
        proxy.cut_next_request(COMMAND);
    }
}

#[tokio::test]
async fn acquire_and_release_that_are_cut_are_sent_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    for round in 0..6 {
        cut(&proxy, round);
        let guard = soon(client.lock_all(KEYS).wait(LONG).acquire());
        let guard = guard.await.unwrap();
        assert_eq!(proxy.cuts(), 2 * round + 1, "the fault happened");
        let token = format!("{:016}", guard.fencing_token().get());
        for lock in LOCKS {
            let value: String = ask(&mut connection, &["GET", lock]);
            assert_eq!(value[23..39], token);
        }
        cut(&proxy, round);
        guard.release().await.expect("it was held until here");
        assert_eq!(proxy.cuts(), 2 * round + 2, "the fault happened");
        nothing_is_left(&mut connection).await;
    }
}

#[tokio::test]
async fn attempt_that_is_cut_leaves_nothing_behind() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    for round in 0..4 {
        cut(&proxy, round);
        let attempt = client.lock_all(KEYS).try_acquire().await;
        assert!(attempt.unwrap_err().is_unavailable());
        nothing_is_left(&mut connection).await;
    }
}

#[tokio::test]
async fn renewal_that_is_cut_is_sent_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    // A lease that a stalled machine does not lose.
    let guard = client.lock_all(KEYS).ttl(ms(6_000)).acquire().await;
    let guard = guard.unwrap();
    let mut connection = server.connection();
    let mut rest = || LOCKS.map(|lock| ask::<i64>(&mut connection, &["PTTL", lock]));
    for round in 0..4 {
        cut(&proxy, round);
        eventually("cut renewal", LONG, async || proxy.cuts() == round + 1).await;
        let mut before = rest();
        // By a renewal that was not cut.
        eventually("renewal of all", LONG, async || {
            let now = rest();
            let before = std::mem::replace(&mut before, now);
            now.iter().zip(before).all(|(now, before)| *now > before)
        })
        .await;
    }
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn waiter_whose_polls_are_cut_keeps_what_it_has_and_its_place() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    let (last, waiting) = waiting_for_the_last(&server, &client).await;
    let owner = holder(&mut connection, LOCKS[0]);
    let mut place = || -> Vec<(String, f64)> {
        ask(
            &mut connection,
            &["ZRANGE", LAST_QUEUE, "0", "+inf", "BYSCORE", "WITHSCORES"],
        )
    };
    let before = place();
    for round in 0..4 {
        cut(&proxy, round);
        eventually("cut poll", LONG, async || proxy.cuts() == round + 1).await;
    }
    assert_eq!(place(), before);
    last.release().await.unwrap();
    let guard = served(waiting).await;
    for lock in LOCKS {
        assert_eq!(holder(&mut connection, lock), owner);
    }
    guard.release().await.unwrap();
    nothing_is_left(&mut connection).await;
}

#[tokio::test]
async fn caller_that_gives_up_while_the_connection_is_cut_leaves_nothing_behind() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    for round in 0..4 {
        let (last, waiting) = waiting_for_the_last(&server, &client).await;
        cut(&proxy, round);
        waiting.abort();
        eventually("given back", LONG, async || {
            holder(&mut connection, LOCKS[0]).is_none()
                && holder(&mut connection, LOCKS[1]).is_none()
                && queued(&mut connection, LAST_QUEUE) == 0
        })
        .await;
        last.release().await.unwrap();
        nothing_is_left(&mut connection).await;
    }
}
