//! Which rings are found, and how the error describes them.

use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard, distributed_lock};

use super::{closes_a_ring, nest, strict};

const TRANSFER: u32 = line!() + 1;
#[distributed_lock(key = "account:<from>", client = locks)]
async fn transfer(locks: &LockClient, from: u64, day: &str) -> Result<(), LockError> {
    audit(locks, day).await
}

const AUDIT: u32 = line!() + 1;
#[distributed_lock(key = "ledger:<day>", client = locks)]
async fn audit(locks: &LockClient, day: &str) -> Result<(), LockError> {
    Ok(())
}

const SETTLE: u32 = line!() + 1;
#[distributed_lock(key = "ledger:<date>", client = locks)]
async fn settle(locks: &LockClient, date: &str, id: u64) -> Result<(), LockError> {
    debit(locks, id).await
}

const DEBIT: u32 = line!() + 1;
#[distributed_lock(key = "account:<id>", client = locks)]
async fn debit(locks: &LockClient, id: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn two_functions_in_opposite_orders_are_named_with_their_places() {
    let locks = strict();
    transfer(&locks, 7, "monday").await.unwrap();
    let error = settle(&locks, "tuesday", 8).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::OutOfOrder);
    assert_eq!(error.key(), Some("account:8"));
    let file = file!();
    assert_eq!(
        error.to_string(),
        format!(
            "lock `account:8` is taken out of order: debit ({file}:{DEBIT}) asks for `account:<id>` while settle \
             ({file}:{SETTLE}) holds `ledger:<date>`; audit ({file}:{AUDIT}) asks for `ledger:<day>` while transfer \
             ({file}:{TRANSFER}) holds `account:<from>`; take these locks in one order everywhere, or at once in all of these functions: keys = [...]"
        )
    );
    // The first order stays, and the opposite order is refused each time.
    transfer(&locks, 1, "monday").await.unwrap();
    assert!(closes_a_ring(settle(&locks, "monday", 1).await));
    // A lock that no call tree holds meanwhile has no order.
    debit(&locks, 8).await.unwrap();
}

#[tokio::test]
async fn order_of_blocking_calls_counts_for_others() {
    let locks = strict();
    let inner = |_: &LockGuard| locks.lock("b").run_blocking(|_| ());
    locks.lock("a").run_blocking(inner).unwrap().unwrap();
    assert!(closes_a_ring(nest(&locks, "b", "a").await));
}

#[tokio::test]
async fn clones_are_one_client_and_clients_are_separate() {
    let (locks, others) = (strict(), strict());
    nest(&locks, "a", "b").await.unwrap();
    nest(&others, "b", "a").await.unwrap();
    assert!(closes_a_ring(nest(&locks.clone(), "b", "a").await));
    // A lock of another client has no order with these.
    let inside = locks
        .lock("a")
        .run(async |_| others.lock("a").run(async |_| ()).await);
    inside.await.unwrap().unwrap();
}

#[tokio::test]
async fn lock_that_was_downgraded_is_held_for_reading() {
    let locks = strict();
    let (a, b) = (|| locks.lock("a"), || locks.lock("b"));
    let inside = b().run(async |_| a().read().run(async |_| ()).await);
    inside.await.unwrap().unwrap();
    let writing = a().write().acquire().await.unwrap();
    let reading = writing.downgrade().await.unwrap();
    reading.run(b().run(async |_| ())).await.unwrap().unwrap();
}

#[tokio::test]
async fn call_that_would_wait_long_enough_to_be_stuck_is_refused_at_once() {
    let locks = strict();
    nest(&locks, "a", "b").await.unwrap();
    let inner = || locks.lock("a").wait(std::time::Duration::from_millis(1));
    let outer = locks
        .lock("b")
        .run(async |_| inner().run(async |_| ()).await);
    assert!(closes_a_ring(outer.await.unwrap()));
}
