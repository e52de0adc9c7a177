//! Opposite orders of nested locks.

use harness::RedisServer;
use lock_runtime::{LockGuard, distributed_lock};

use super::meter::{record, sum};
use super::{LockClient, LockError};
use crate::journal::{only, told, told_of};

#[distributed_lock(key = "ordered-account:<from>", client = locks)]
async fn transfer(locks: &LockClient, from: &str) -> Result<(), LockError> {
    audit(locks, "monday").await
}

#[distributed_lock(key = "ordered-ledger:<day>", client = locks)]
async fn audit(locks: &LockClient, day: &str) -> Result<(), LockError> {
    Ok(())
}

const SETTLE: u32 = line!() + 1;
#[distributed_lock(key = "ordered-ledger:<day>", client = locks)]
async fn settle(locks: &LockClient, day: &str, id: &str) -> Result<(), LockError> {
    debit(locks, id).await
}

const DEBIT: u32 = line!() + 1;
#[distributed_lock(key = "ordered-account:<id>", client = locks)]
async fn debit(locks: &LockClient, id: &str) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn opposite_orders_are_reported_and_counted_once_with_functions_and_places() {
    crate::record();
    record();
    let server = RedisServer::start();
    let locks = super::client(server.url());
    transfer(&locks, "hushed-1").await.unwrap();
    assert!(told("lock_order", "ordered-account:<id>").is_empty());
    for id in ["hushed-2", "hushed-3"] {
        settle(&locks, "tuesday", id).await.unwrap();
        transfer(&locks, id).await.unwrap();
    }
    let line = only("lock_order", "ordered-account:<id>");
    let ring = "ordered-ledger:<> → ordered-account:<> → ordered-ledger:<>";
    assert_eq!(line.field("ring"), ring);
    let (calls, file) = (line.field("calls"), file!());
    let closing = format!(
        "debit ({file}:{DEBIT}) asks for `ordered-account:<id>` while settle ({file}:{SETTLE}) holds `ordered-ledger:<day>`; \
         audit ("
    );
    assert!(calls.starts_with(&closing), "{calls}");
    assert!(line.field("advice").contains("keys = [...]"));
    assert!(!crate::journal::mentions("hushed-"), "a key is logged");
    let rings = "distributed_lock_order_rings_total{template=ordered-account:<id>}";
    assert_eq!(sum(rings), 1.0);
}

/// Acquires `inner` while the call tree holds `outer`.
async fn nest(locks: &LockClient, outer: &str, inner: &str) {
    let body = async |_: &LockGuard| locks.lock(inner).run(async |_| ()).await;
    locks.lock(outer).run(body).await.unwrap().unwrap();
}

#[tokio::test]
async fn keys_without_a_template_are_reported_only_by_clients_that_log_keys() {
    crate::record();
    for log_keys in [false, true] {
        let locks = LockClient::builder().url("memory://").log_keys(log_keys);
        let locks = locks.build().unwrap();
        let (one, other) = (
            format!("unnamed-1-{log_keys}"),
            format!("unnamed-2-{log_keys}"),
        );
        nest(&locks, &one, &other).await;
        nest(&locks, &other, &one).await;
        let ring = format!("{other} → {one} → {other}");
        let told = told_of("lock_order", "ring", &ring);
        assert_eq!(told.len(), usize::from(log_keys));
        assert_eq!(crate::journal::mentions(&one), log_keys);
        let without_keys = told_of("lock_order", "ring", "- → - → -");
        assert!(!without_keys.is_empty(), "the first client reports it");
    }
}

#[tokio::test]
async fn bound_is_reported_once() {
    crate::record();
    let locks = LockClient::memory();
    let bound = "512 keys of locks without a name";
    let bound = || told_of("lock_order_full", "bound", bound);
    let before = bound().len();
    for number in 0..600 {
        nest(&locks, "full", &format!("full:{number}")).await;
    }
    assert_eq!(bound().len(), before + 1);
    assert!(bound()[0].field("advice").contains("Acquire::name"));
}
