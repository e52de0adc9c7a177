//! Clients log keys only if they ask for it.

use harness::{KEY, RedisServer, patient};
use lock_runtime::{LockClientBuilder, distributed_lock};

use super::{LONG, LockClient, LockError, delete, eventually, ms};
use crate::journal::{told, told_of};
use crate::log;

fn logging(url: impl Into<String>) -> LockClient {
    let builder: LockClientBuilder = patient(url).log_keys(true);
    builder.build().unwrap()
}

/// The spans and events of a lock that is acquired, cannot be renewed, and is lost.
const OF_A_LOSS: [&str; 4] = ["lock_acquire", "lock_acquired", "lock_hold", "lock_lost"];

#[distributed_lock(key = "logged:<id>", ttl = "3s", wait = "0s", client = locks)]
async fn logged(locks: &LockClient, id: &str, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    std::future::pending().await
}

async fn is_lost(locks: &LockClient, server: &RedisServer, id: &str) {
    let delete = async || delete(server, &format!("logged:{id}"));
    let outcome = logged(locks, id, delete).await;
    assert!(outcome.unwrap_err().is_lost());
}

#[tokio::test]
async fn key_is_in_spans_and_events_only_if_the_client_logs_keys() {
    crate::record();
    let server = RedisServer::start();
    let silent = super::client(server.url());
    is_lost(&silent, &server, "secret-17").await;
    for name in OF_A_LOSS {
        let lines = told(name, "logged:<id>");
        assert!(!lines.is_empty(), "no {name}");
        assert!(!lines.iter().any(|line| line.has("key")), "{lines:?}");
    }
    assert!(!log::text().contains("secret-17"), "a key is logged");

    let open = logging(server.url());
    is_lost(&open, &server, "public-17").await;
    for name in OF_A_LOSS {
        let lines = told_of(name, "key", "logged:public-17");
        assert_eq!(lines.len(), 1, "{name}: {lines:?}");
        assert_eq!(lines[0].field("template"), "logged:<id>");
    }
}

/// Every span and event of a lock has its key, however the hold ends.
#[tokio::test]
async fn refusals_and_failures_have_the_key() {
    crate::record();
    let server = RedisServer::start();
    let (locks, other) = (logging(server.url()), logging(server.url()));
    let read = locks.lock("logged-2").read().ttl(ms(4_000));
    let guard = read.acquire().await.unwrap();
    let busy = other.lock("logged-2").write().wait(ms(0)).acquire().await;
    let busy = busy.unwrap_err();
    let refused = told_of("lock_not_acquired", "key", "logged-2");
    assert_eq!(refused.len(), 1);
    let holder = refused[0].field("holder");
    assert!(holder.starts_with("1 reader, since "), "{holder}");
    assert_eq!(Some(holder), busy.holder());
    let calls = told_of("lock_acquire", "key", "logged-2");
    let modes = calls.iter().map(|call| call.field("mode"));
    assert_eq!(modes.collect::<Vec<_>>(), ["read", "write"]);
    // Frozen, it answers neither a renewal nor the release.
    server.pause();
    eventually("failed renewal", LONG, async || {
        !told_of("renewal_failed", "key", "logged-2").is_empty()
    })
    .await;
    eventually("loss", LONG, async || !guard.is_valid()).await;
    assert!(guard.release().await.unwrap_err().is_lost());
    let lost = told_of("lock_lost", "key", "logged-2");
    assert_eq!(lost.len(), 1, "{lost:?}");
    server.resume();
}

#[distributed_lock(key = "finished:<id>", on_lost = "finish", client = locks)]
async fn finished(locks: &LockClient, id: u8, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    Ok(())
}

#[tokio::test]
async fn body_that_finishes_without_its_lock_is_named() {
    crate::record();
    let server = RedisServer::start();
    let locks = logging(server.url());
    let body = async || delete(&server, "finished:1");
    finished(&locks, 1, body).await.unwrap();
    let finished = told_of("finished_without_lock", "key", "finished:1");
    assert_eq!(finished.len(), 1, "{finished:?}");
    assert_eq!(finished[0].field("template"), "finished:<id>");
    assert_eq!(finished[0].field("function"), "finished");
}

/// In the form that messages have; a unit test compares the text.
#[tokio::test]
async fn key_is_escaped() {
    crate::record();
    let locks = logging("memory://");
    let key = "logged\nlock_lost \u{1b}[31m";
    let guard = locks.lock(key).acquire().await.unwrap();
    guard.release().await.unwrap();
    let shown = "logged\\nlock_lost \\u{1b}[31m";
    assert_eq!(told_of("lock_acquired", "key", shown).len(), 1);
    // A key cannot begin a line of the log.
    let text = log::text();
    assert!(!text.lines().any(|line| line.starts_with("lock_lost")));
    assert!(!text.contains('\u{1b}'));
}

#[tokio::test]
async fn several_locks_are_the_first_and_the_number_of_the_others() {
    crate::record();
    let locks = logging("memory://");
    let keys = ["several-1", "several-2", "several-3"];
    let guard = locks.lock_all(keys).acquire().await.unwrap();
    guard.release().await.unwrap();
    assert_eq!(told_of("lock_hold", "key", "several-1 +2").len(), 1);
}

#[tokio::test]
async fn name_takes_the_place_of_the_template() {
    crate::record();
    let server = RedisServer::start();
    let locks = patient(server.url()).label("api-7@here");
    let locks = locks.build().unwrap();
    let other = super::client(server.url());
    let guard = locks.lock(KEY).name("by-hand").acquire().await.unwrap();
    let busy = other.lock(KEY).name("by-hand").try_acquire().await.unwrap();
    assert!(busy.is_none());
    let error = other.lock(KEY).wait(ms(0)).acquire().await.unwrap_err();
    let holder = format!("api-7@here (pid {}) by-hand", std::process::id());
    assert_eq!(error.holder(), Some(&*holder));
    guard.release().await.unwrap();
    let both = locks.lock_all(["a", "b"]).name("both-by-hand");
    both.acquire().await.unwrap().release().await.unwrap();

    for (name, outcomes) in [
        ("by-hand", &["acquired", "busy"][..]),
        ("both-by-hand", &["acquired"]),
    ] {
        let calls = told("lock_acquire", name);
        let told: Vec<_> = calls.iter().map(|call| call.field("outcome")).collect();
        assert_eq!(told, outcomes);
        assert!(calls.iter().all(|call| call.field("function").is_empty()));
        let series = format!("{{template={name},outcome=acquired}}");
        let series = format!("distributed_lock_acquisitions_total{series}");
        assert_eq!(super::meter::sum(&series), 1.0);
    }
}
