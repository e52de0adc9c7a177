//! Each kind of error once.

use std::time::Duration;

use harness::{LONG, RedisServer, eventually};
use lock_runtime::{LockClient, LockErrorKind, LockGuard};

use super::sentences::assert_reads;
use super::{KEY, LOCK, ask, client, ms, refusal};

#[tokio::test]
async fn busy_names_the_holder_and_the_wait() {
    let server = RedisServer::start();
    let (holder, other) = (client(server.url()), client(server.url()));
    let guard = holder.lock(KEY).acquire().await.unwrap();
    let error = refusal(&other, ms(80)).await;
    assert_eq!(error.kind(), LockErrorKind::Busy);
    assert!(error.is_busy() && !error.is_lost() && !error.is_unavailable());
    assert_reads(&error);
    let pid = std::process::id();
    assert_eq!(error.holder(), Some(&*format!("api-7 (pid {pid})")));
    let text = error.to_string();
    let begin = format!("lock `order:42` is busy: held by api-7 (pid {pid}), waited ");
    assert!(text.starts_with(&begin), "{text}");
    assert!(error.waited().unwrap() >= ms(80));
    guard.release().await.unwrap();

    let _: () = ask(&server, &["SET", LOCK, "theirs"]);
    let error = refusal(&other, Duration::ZERO).await;
    let eternal = "a client that is not lock-runtime, whose record never expires";
    assert_eq!(error.holder(), Some(eternal));
    assert_reads(&error);
    let _: () = ask(&server, &["SET", LOCK, "theirs", "EX", "3600"]);
    let error = refusal(&other, Duration::ZERO).await;
    assert_eq!(error.holder(), Some("a client that is not lock-runtime"));
}

#[tokio::test]
async fn retry_after_is_none_where_no_end_is_known() {
    let mut server = RedisServer::start();
    let other = client(server.url());
    let _: () = ask(&server, &["SET", LOCK, "theirs"]);
    let error = refusal(&other, Duration::ZERO).await;
    assert_eq!(error.retry_after(), None, "it has no expiry: {error}");
    let _: () = ask(&server, &["SET", LOCK, "theirs", "EX", "3600"]);
    let error = refusal(&other, Duration::ZERO).await;
    let left = error.retry_after().expect("it has an expiry");
    assert!(left <= Duration::from_secs(3600) && left > Duration::from_secs(1800));
    let _: i64 = ask(&server, &["DEL", LOCK]);

    let refused = other.lock("").acquire().await.unwrap_err();
    assert_eq!(refused.retry_after(), None);
    server.kill9();
    let away = refusal(&other, Duration::ZERO).await;
    assert!(
        away.is_unavailable() && away.retry_after().is_none(),
        "{away}"
    );
}

/// Such a caller asks no server. It knew nothing of the lease before.
#[tokio::test]
async fn retry_after_is_what_is_left_of_a_lease_of_the_same_client() {
    let server = RedisServer::start();
    let client = client(server.url());
    let ttl = Duration::from_secs(8);
    let lock = client.lock(KEY).ttl(ttl);
    let guard = lock.clone().acquire().await.unwrap();
    for _ in 0..2 {
        let error = refusal(&client, ms(30)).await;
        let left = error.retry_after().expect("the lease has an end");
        assert!(left <= ttl && left > ttl / 2, "{left:?}");
    }
    // The next one has the lock by a local turn, with a lease of its own.
    let next = tokio::spawn(lock.wait(ms(10_000)).acquire());
    eventually("waiter", LONG, async || client.held()[0].waiting == 1).await;
    guard.release().await.unwrap();
    let next = next.await.unwrap().unwrap();
    let error = refusal(&client, ms(30)).await;
    let left = error.retry_after().expect("the lease has an end");
    assert!(left <= ttl && left > ttl / 2, "{left:?}");
    next.release().await.unwrap();
}

#[tokio::test]
async fn lost_says_how() {
    let server = RedisServer::start();
    let client = client(server.url());

    let guard = client.lock(KEY).acquire().await.unwrap();
    let _: i64 = ask(&server, &["DEL", LOCK]);
    let error = guard.release().await.unwrap_err();
    assert!(error.is_lost());
    assert_reads(&error);
    assert_eq!(
        error.to_string(),
        "lock `order:42` was lost: the server no longer has it as ours"
    );

    let lease = client.lock(KEY).ttl(ms(50)).renew(false);
    let guard = lease.acquire().await.unwrap();
    guard.lost().await;
    let error = guard.release().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "lock `order:42` was lost: its lease ran out before it could be renewed"
    );

    let lease = client.lock(KEY).wait(super::LONG).max_hold(ms(50));
    let guard = lease.acquire().await.unwrap();
    guard.lost().await;
    let error = guard.release().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "lock `order:42` was lost: its max_hold was reached"
    );
}

#[tokio::test]
async fn reentered_says_why() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let strict = client.lock(KEY).reentrant(false);
        let refused = strict.acquire().await.unwrap_err();
        let _sibling = client.lock(KEY).acquire().await.unwrap();
        let beside = client.lock(KEY).acquire_blocking().unwrap_err();
        [refused, beside]
    };
    for error in client.lock(KEY).run(body).await.unwrap() {
        assert_eq!(error.kind(), LockErrorKind::Reentered);
        assert!(error.is_reentered());
        assert_reads(&error);
    }
}

#[tokio::test]
async fn invalid_keys_and_options_say_what_is_allowed() {
    let client = LockClient::memory();
    for key in ["", "order}", "{}", &"x".repeat(513)] {
        let error = client.lock(key).acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidKey);
        assert!(!error.to_string().contains(&"x".repeat(200)), "it is cut");
    }
    let forged = format!("a\nERROR: all is lost{}", "}");
    let error = client.lock(forged.as_str()).acquire().await.unwrap_err();
    assert!(!error.to_string().contains('\n'), "{error}");

    let error = client.lock(KEY).ttl(ms(1)).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
    assert_reads(&error);
    let error = LockClient::builder().url("ftp://host").build().unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
    assert_reads(&error);
}

#[tokio::test]
async fn a_client_that_was_shut_down_says_so() {
    let client = LockClient::memory();
    client.shutdown().await;
    let error = refusal(&client, Duration::ZERO).await;
    assert_eq!(error.kind(), LockErrorKind::Shutdown);
    assert_reads(&error);
}

#[tokio::test]
async fn a_foreign_label_cannot_forge_a_line() {
    let server = RedisServer::start();
    let client = client(server.url());
    let owner = "a".repeat(22);
    let value = format!("{owner} 0000000000000016 x\nERROR: forged \u{1b}[31m");
    let _: () = ask(&server, &["SET", LOCK, &value]);
    let error = refusal(&client, Duration::ZERO).await;
    let text = error.to_string();
    assert!(!text.contains(['\n', '\u{1b}']), "{text}");
    assert!(!text.contains(&owner), "{text}");
}
