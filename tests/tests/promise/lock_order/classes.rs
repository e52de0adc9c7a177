//! Which locks belong to the same class.

use lock_runtime::{LockClient, LockError, LockGuard, LockKey, distributed_lock};

use super::{closes_a_ring, nest, strict};

#[distributed_lock(key = "account:<from>", client = locks)]
async fn pay(locks: &LockClient, from: u64, to: u64) -> Result<(), LockError> {
    receive(locks, to).await
}

#[distributed_lock(key = "account:<to>", client = locks)]
async fn receive(locks: &LockClient, to: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn two_keys_of_one_template_are_refused_in_the_second_direction() {
    let locks = strict();
    for (from, to) in [(1, 2), (2, 3), (3, 1), (1, 2)] {
        pay(&locks, from, to).await.unwrap();
    }
    let error = pay(&locks, 2, 1).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("lock both keys at once: keys = [...]"),
        "{text}"
    );
    assert!(text.contains("while pay (") && text.contains(")"), "{text}");
    // A caller that locks both at once nests nothing.
    let both = locks.lock_all(["account:2", "account:1"]);
    both.run(async |_| ()).await.unwrap();
}

#[distributed_lock(keys = ["account:<from>", "ledger:<day>", audit_key()], client = locks)]
async fn together(locks: &LockClient, from: u64, day: &str) -> Result<(), LockError> {
    locks.lock("end").run(async |_| ()).await
}

#[distributed_lock(key = "ledger:<day>", client = locks)]
async fn ledger(locks: &LockClient, day: &str) -> Result<(), LockError> {
    pay(locks, 7, 7).await
}

fn audit_key() -> LockKey {
    LockKey::from("audit")
}

#[tokio::test]
async fn each_of_several_keys_has_the_class_of_its_template() {
    for outer in ["account", "ledger", "audit"] {
        let locks = strict();
        together(&locks, 7, "monday").await.unwrap();
        let inside = locks.lock("end").run(async |_| match outer {
            "account" => receive(&locks, 8).await,
            "ledger" => {
                locks
                    .lock("x")
                    .run(async |_| ledger(&locks, "tuesday").await)
                    .await?
            }
            _ => locks.lock("audit").run(async |_| ()).await,
        });
        assert!(closes_a_ring(inside.await.unwrap()), "{outer}");
    }
}

#[tokio::test]
async fn name_is_the_class_of_locks_that_are_taken_by_hand() {
    let named = async |locks: &LockClient, outer: [&'static str; 2], inner: [&'static str; 2]| {
        let [outer, inner] = [outer, inner].map(|[name, key]| locks.lock(key).name(name));
        outer.run(async |_| inner.run(async |_| ()).await).await?
    };
    let locks = strict();
    named(&locks, ["order", "order:1"], ["stock", "stock:1"])
        .await
        .unwrap();
    let opposite = named(&locks, ["stock", "stock:2"], ["order", "order:2"]).await;
    let text = opposite.as_ref().unwrap_err().to_string();
    assert!(
        text.contains("asks for `order` while ") && text.contains(file!()),
        "{text}"
    );
    assert!(closes_a_ring(opposite));
    // Without a name, each key is a class of its own.
    let locks = strict();
    nest(&locks, "order:1", "stock:1").await.unwrap();
    nest(&locks, "stock:2", "order:2").await.unwrap();
    assert!(closes_a_ring(nest(&locks, "stock:1", "order:1").await));
}

#[distributed_lock(key = format!("row:{id}"), client = locks)]
async fn row(locks: &LockClient, id: u64, inner: &str) -> Result<(), LockError> {
    locks.lock(inner).run(async |_| ()).await
}

#[tokio::test]
async fn key_of_an_expression_is_its_own_class() {
    let locks = strict();
    row(&locks, 1, "row:2").await.unwrap();
    row(&locks, 2, "row:3").await.unwrap();
    let error = row(&locks, 3, "row:1").await.unwrap_err();
    assert!(error.to_string().contains("holds `row:3`"), "{error}");
    assert!(closes_a_ring(Err(error)));
}

#[derive(LockKey)]
#[lock_key("account:<0>")]
struct AccountKey(u64);

#[distributed_lock(key = AccountKey(id), client = locks)]
async fn declared(locks: &LockClient, id: u64, inner: &str) -> Result<(), LockError> {
    locks.lock(inner).run(async |_| ()).await
}

/// The class of a declared key is its template's, as in the attribute and by hand.
#[tokio::test]
async fn declared_key_is_of_the_class_of_its_template() {
    for by_hand in [false, true] {
        let locks = strict();
        declared(&locks, 1, "ledger").await.unwrap();
        let inside = async |_: &LockGuard| {
            if by_hand {
                locks.lock(AccountKey(2)).run(async |_| ()).await
            } else {
                receive(&locks, 2).await
            }
        };
        let opposite = locks.lock("ledger").run(inside).await.unwrap();
        let text = opposite.as_ref().unwrap_err().to_string();
        assert!(text.contains("asks for `account:<"), "{text}");
        assert!(closes_a_ring(opposite), "by hand: {by_hand}");
    }
}
