//! Calls that take several keys together, and calls that nest the same locks: the texts of the errors.

use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock};

use super::{closes_a_ring, strict};

const BOOK: u32 = line!() + 1;
#[distributed_lock(keys = ["ledger:<day>", "account:<id>"], client = locks)]
async fn book(locks: &LockClient, day: &str, id: u64) -> Result<(), LockError> {
    Ok(())
}

const SETTLE: u32 = line!() + 1;
#[distributed_lock(key = "ledger:<day>", client = locks)]
async fn settle(locks: &LockClient, day: &str, id: u64) -> Result<(), LockError> {
    debit(locks, id).await
}

const DEBIT: u32 = line!() + 1;
#[distributed_lock(key = "account:<id>", client = locks)]
async fn debit(locks: &LockClient, id: u64) -> Result<(), LockError> {
    Ok(())
}

const ADVICE: &str = "take these locks at once in the functions that nest them, too: keys = [...]";

/// The two calls of the ring, as the error lists them.
fn calls() -> [String; 2] {
    let file = file!();
    [
        format!(
            "debit ({file}:{DEBIT}) asks for `account:<id>` while settle ({file}:{SETTLE}) holds `ledger:<day>`"
        ),
        format!("book ({file}:{BOOK}) locks `account:<>` and then `ledger:<>` in one call"),
    ]
}

#[tokio::test]
async fn nesting_against_the_order_of_names_is_refused_after_a_call_for_both() {
    let locks = strict();
    book(&locks, "monday", 7).await.unwrap();
    let error = settle(&locks, "tuesday", 8).await.unwrap_err();
    let [nested, together] = calls();
    assert_eq!(
        error.to_string(),
        format!("lock `account:8` is taken out of order: {nested}; {together}; {ADVICE}")
    );
    // The other call still succeeds.
    book(&locks, "monday", 7).await.unwrap();
}

#[tokio::test]
async fn call_that_takes_both_is_refused_if_it_comes_second() {
    let locks = strict();
    settle(&locks, "tuesday", 8).await.unwrap();
    let [nested, together] = calls();
    for _ in 0..2 {
        let error = book(&locks, "monday", 7).await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::OutOfOrder);
        assert_eq!(error.key(), Some("ledger:monday"));
        assert_eq!(
            error.to_string(),
            format!("lock `ledger:monday` is taken out of order: {together}; {nested}; {ADVICE}")
        );
    }
    settle(&locks, "tuesday", 8).await.unwrap();
}

#[distributed_lock(keys = ["account:<id>", "ledger:<day>"], client = locks)]
fn book_blocking(locks: &LockClient, id: u64, day: &str) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn blocking_call_for_several_keys_counts_for_others() {
    let locks = strict();
    book_blocking(&locks, 7, "monday").unwrap();
    assert!(closes_a_ring(settle(&locks, "monday", 7).await));
}
