//! Each kind of error once.

use std::time::Duration;

use harness::{LONG, RedisServer, patient};
use lock_runtime::{LockClient, LockErrorKind, LockGuard};

use super::{KEY, LOCK, ask, assert_reads, client, ms, refusal};

#[tokio::test]
async fn busy_names_the_holder_the_wait_and_when_to_try_again() {
    let server = RedisServer::start();
    let (holder, other) = (client(server.url()), client(server.url()));
    let guard = holder.lock(KEY).acquire().await.unwrap();
    let error = refusal(&other, ms(80)).await;
    assert_eq!(error.kind(), LockErrorKind::Busy);
    assert!(error.is_busy() && !error.is_lost() && !error.is_unavailable());
    assert_reads(&error);
    let pid = std::process::id();
    assert_eq!(error.holder(), Some(&*format!("api-7@here (pid {pid})")));
    let text = error.to_string();
    let begin = format!("lock `order:42` is busy: held by api-7@here (pid {pid}), waited ");
    assert!(text.starts_with(&begin), "{text}");
    assert!(error.waited().unwrap() >= ms(80));
    guard.release().await.unwrap();

    let _: () = ask(&server, &["SET", LOCK, "theirs"]);
    let error = refusal(&other, Duration::ZERO).await;
    let eternal = "a client that is not lock-runtime, whose record never expires";
    assert_eq!(error.holder(), Some(eternal));
    assert_eq!(error.retry_after(), None, "it has no expiry: {error}");
    assert_reads(&error);
    let _: () = ask(&server, &["SET", LOCK, "theirs", "EX", "3600"]);
    let error = refusal(&other, Duration::ZERO).await;
    assert_eq!(error.holder(), Some("a client that is not lock-runtime"));
    let left = error.retry_after().expect("it has an expiry");
    assert!(left <= Duration::from_secs(3600) && left > Duration::from_secs(1800));
}

#[tokio::test]
async fn error_explains_a_loss() {
    let server = RedisServer::start();
    let client = client(server.url());
    let lock = || client.lock(KEY).wait(LONG);
    for (lock, how) in [
        (lock(), "the server has no record of it, or another owner's"),
        (
            lock().ttl(ms(50)).renew(false),
            "its lease ran out before it could be renewed",
        ),
        (lock().max_hold(ms(500)), "its max_hold was reached"),
    ] {
        let guard = lock.acquire().await.unwrap();
        if how.starts_with("the server") {
            assert_eq!(ask::<i64>(&server, &["DEL", LOCK]), 1)
        } else {
            guard.lost().await
        }
        let error = guard.release().await.unwrap_err();
        assert!(error.is_lost());
        assert_reads(&error);
        let text = format!("lock `order:42` was lost: {how}");
        assert_eq!(error.to_string(), text);
    }
}

/// A holder sees what kept its lease from being renewed, and not only that it ran out.
#[tokio::test]
async fn loss_names_the_failure_of_the_renewals() {
    let refused = "the server refused to renew it: NOPERM";
    for (change, causes) in [
        (
            &["ACL", "SETUSER", "app", "-evalsha", "-eval"][..],
            [refused, refused],
        ),
        (
            &["REPLICAOF", "127.0.0.1", "1"],
            ["is a replica", "READONLY"],
        ),
    ] {
        let server = RedisServer::start();
        let url = server.user("app", "s3cret", &["~*", "&*", "+@all"]);
        let client = patient(url).build().unwrap();
        let guard = client.lock(KEY).ttl(ms(1_000)).acquire().await.unwrap();
        let _: () = ask(&server, change);
        guard.lost().await;
        let error = guard.release().await.unwrap_err();
        assert!(error.is_lost(), "{error}");
        assert_reads(&error);
        let text = error.to_string();
        let begin = "lock `order:42` was lost: its lease ran out before it could be renewed: ";
        let is_named = causes.iter().any(|cause| text.contains(cause));
        assert!(text.starts_with(begin) && is_named, "{text}");
    }
}

#[tokio::test]
async fn errors_of_other_kinds_have_a_reason() {
    let client = LockClient::memory();
    let body = async |_: &LockGuard| {
        let strict = client.lock(KEY).reentrant(false);
        let refused = strict.acquire().await.unwrap_err();
        let _sibling = client.lock(KEY).acquire().await.unwrap();
        let beside = client.lock(KEY).acquire_blocking().unwrap_err();
        [refused, beside]
    };
    let [refused, beside] = client.lock(KEY).run(body).await.unwrap();
    assert!(refused.is_reentered());
    let key = client.lock("order}").acquire().await.unwrap_err();
    let ttl = client.lock(KEY).ttl(ms(1)).acquire().await.unwrap_err();
    let url = patient("ftp://host").build().unwrap_err();
    client.shutdown().await;
    let shut = refusal(&client, Duration::ZERO).await;
    for (error, kind) in [
        (refused, LockErrorKind::Reentered),
        (beside, LockErrorKind::Reentered),
        (key, LockErrorKind::InvalidKey),
        (ttl, LockErrorKind::InvalidOptions),
        (url, LockErrorKind::InvalidOptions),
        (shut, LockErrorKind::Shutdown),
    ] {
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(error.retry_after(), None);
        assert_reads(&error);
    }
}
