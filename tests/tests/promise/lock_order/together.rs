//! Calls that take several keys together, and calls that nest the same locks.

use std::time::Duration;

use lock_runtime::{Acquire, LockClient, LockError, LockErrorKind, LockGuard, distributed_lock};

use super::{closes_a_ring, nest, strict};

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

#[distributed_lock(key = "account:<id>", client = locks)]
async fn audit(locks: &LockClient, id: u64, day: &str) -> Result<(), LockError> {
    locks
        .lock(format!("ledger:{day}"))
        .name("ledger:<>")
        .run(async |_| ())
        .await
}

const ADVICE: &str = "take these locks at once in the functions that nest them, too: keys = [...]";

/// The two calls of the ring, as the error has them.
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
    // The other one goes on.
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

#[tokio::test]
async fn nesting_in_the_order_of_names_is_not_a_ring() {
    let locks = strict();
    book(&locks, "monday", 7).await.unwrap();
    audit(&locks, 7, "monday").await.unwrap();
    book(&locks, "monday", 7).await.unwrap();
}

/// Takes these locks together.
async fn take(locks: &LockClient, keys: &[&str]) -> Result<(), LockError> {
    let call = locks.lock_all(keys.iter().copied());
    call.run(async |_| ()).await
}

#[distributed_lock(keys = ["<one>:account", "<other>:ledger"], client = locks)]
async fn of_two_tenants(locks: &LockClient, one: u64, other: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn calls_for_several_locks_are_not_a_ring_in_any_order() {
    let locks = strict();
    // Keys without a template are compared once they were nested.
    for key in ["a", "b", "c"] {
        nest(&locks, "x", key).await.unwrap();
    }
    for keys in [&["a", "b"][..], &["b", "c"], &["c", "a"], &["c", "b", "a"]] {
        take(&locks, keys).await.unwrap();
    }
    // Templates that begin with a value come in both orders.
    of_two_tenants(&locks, 1, 2).await.unwrap();
    of_two_tenants(&locks, 2, 1).await.unwrap();
    // Two keys of one template.
    for keys in [["account:1", "account:2"], ["account:2", "account:1"]] {
        let call = locks.lock_all(keys).name("account:<>");
        call.run(async |_| ()).await.unwrap();
    }
}

/// Locks one account, and another one inside.
async fn pay(locks: &LockClient, from: &str, to: &str) -> Result<(), LockError> {
    let account = |id: &str| locks.lock(format!("account:{id}")).name("account:<>");
    let body = async |_: &LockGuard| account(to).run(async |_| ()).await;
    account(from).run(body).await?
}

#[distributed_lock(keys = ["account:<from>", "account:<via>", "account:<to>"], client = locks)]
async fn transfer(locks: &LockClient, from: u64, via: u64, to: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn two_keys_of_one_template_taken_together_have_the_order_of_their_names() {
    for (from, to, closes) in [("2", "1", true), ("3", "1", true), ("1", "3", false)] {
        let locks = strict();
        transfer(&locks, 3, 2, 1).await.unwrap();
        let outcome = pay(&locks, from, to).await;
        let text = format!("{outcome:?}");
        assert_eq!(closes_a_ring(outcome), closes, "{from} {to}");
        if closes {
            let both = "locks `account:<>` and then `account:<>` in one call; ";
            assert!(text.contains(&format!("{both}{ADVICE}")), "{text}");
        }
        // The other one comes first.
        let locks = strict();
        pay(&locks, from, to).await.unwrap();
        assert_eq!(closes_a_ring(transfer(&locks, 1, 2, 3).await), closes);
        // Other keys of that template.
        transfer(&locks, 7, 8, 9).await.unwrap();
    }
}

#[distributed_lock(keys = ["<one>:account", "<other>:account", "<third>:ledger"], client = locks)]
async fn of_three_tenants(
    locks: &LockClient,
    one: u64,
    other: u64,
    third: u64,
) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "<from>:account", client = locks)]
async fn give(locks: &LockClient, from: u64, to: u64) -> Result<(), LockError> {
    get(locks, to).await
}

#[distributed_lock(key = "<to>:account", client = locks)]
async fn get(locks: &LockClient, to: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn lock_of_another_template_may_come_between_two_keys_of_one() {
    let locks = strict();
    of_three_tenants(&locks, 1, 3, 2).await.unwrap();
    assert!(closes_a_ring(give(&locks, 3, 1).await));
    give(&locks, 1, 3).await.unwrap();
}

#[tokio::test]
async fn call_for_several_keys_that_does_not_wait_for_them_holds_none_meanwhile() {
    type Patience = fn(Acquire) -> Acquire;
    let (waits, tries): (Patience, Patience) = (|call| call, |call| call.wait(Duration::ZERO));
    for (patience, closes) in [(waits, true), (tries, false)] {
        let locks = strict();
        for key in ["a", "b"] {
            nest(&locks, "x", key).await.unwrap();
        }
        let both = patience(locks.lock_all(["a", "b"]));
        both.run(async |_| ()).await.unwrap();
        assert_eq!(closes_a_ring(nest(&locks, "b", "a").await), closes);
    }
}

#[tokio::test]
async fn locks_that_the_tree_holds_are_not_waited_for_together_with_others() {
    let locks = strict();
    let inside = async |_: &LockGuard| take(&locks, &["a", "b", "c"]).await;
    locks.lock("b").run(inside).await.unwrap().unwrap();
    // It has waited for `a` and for `c` with `a`, while it held `b`.
    nest(&locks, "b", "a").await.unwrap();
    assert!(closes_a_ring(nest(&locks, "c", "a").await));
}

#[distributed_lock(keys = ["account:<id>", "ledger:<day>"], client = locks)]
fn book_blocking(locks: &LockClient, id: u64, day: &str) -> Result<(), LockError> {
    Ok(())
}

#[test]
fn blocking_call_for_several_keys_counts_for_others() {
    let locks = strict();
    book_blocking(&locks, 7, "monday").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let outcome = runtime.unwrap().block_on(settle(&locks, "monday", 7));
    assert!(closes_a_ring(outcome));
}

#[distributed_lock(keys = ["account:<from>", "account:<to>", "account:<from>:limits"], client = locks)]
async fn transfer_within_limits(locks: &LockClient, from: u64, to: u64) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "account:<id>", client = locks)]
async fn raise(locks: &LockClient, id: u64) -> Result<(), LockError> {
    limits(locks, id).await
}

#[distributed_lock(key = "account:<id>:limits", client = locks)]
async fn limits(locks: &LockClient, id: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn templates_whose_order_depends_on_values_are_not_a_ring() {
    let locks = strict();
    // `account:3`, `account:3:limits`, `account:7`.
    transfer_within_limits(&locks, 3, 7).await.unwrap();
    for id in [3, 7, 9] {
        raise(&locks, id).await.unwrap();
    }
    transfer_within_limits(&locks, 3, 7).await.unwrap();
    transfer_within_limits(&locks, 7, 3).await.unwrap();
}

#[distributed_lock(keys = ["user:<from>:wallet", "user:<to>:inbox"], client = locks)]
async fn send(locks: &LockClient, from: u64, to: u64) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "user:<id>:inbox", client = locks)]
async fn open(locks: &LockClient, id: u64) -> Result<(), LockError> {
    wallet(locks, id).await
}

#[distributed_lock(key = "user:<id>:wallet", client = locks)]
async fn wallet(locks: &LockClient, id: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn locks_of_two_users_do_not_form_a_ring_with_locks_of_one() {
    let locks = strict();
    send(&locks, 3, 7).await.unwrap();
    open(&locks, 3).await.unwrap();
    send(&locks, 7, 3).await.unwrap();
}

#[tokio::test]
async fn each_pair_of_many_keys_of_one_template_is_compared() {
    let ids: Vec<String> = (1..=32).map(|id| format!("{id:02}")).collect();
    let (first, last) = (&ids[0], &ids[31]);
    let take_all = async |locks: &LockClient| {
        let keys = ids.iter().map(|id| format!("account:{id}"));
        let call = locks.lock_all(keys).name("account:<>");
        call.run(async |_| ()).await
    };
    for (from, to) in [(&ids[1], first), (last, &ids[30]), (last, first)] {
        let locks = strict();
        take_all(&locks).await.unwrap();
        pay(&locks, first, last).await.unwrap();
        assert!(closes_a_ring(pay(&locks, from, to).await), "{from} {to}");
        // The other one comes first.
        let locks = strict();
        pay(&locks, from, to).await.unwrap();
        for _ in 0..2 {
            assert!(closes_a_ring(take_all(&locks).await), "{from} {to}");
        }
    }
}
