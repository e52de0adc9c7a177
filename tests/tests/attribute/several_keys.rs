//! `keys`: calls that hold several locks together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use lock_runtime::{
    FencingToken, LockClient, LockError, LockErrorKind, LockGuard, LockKey, distributed_lock,
};
use tokio::task::JoinSet;

use super::{AppError, assert_released, held};

type Keys = Result<Vec<String>, LockError>;

fn keys_of(guard: &LockGuard) -> Vec<String> {
    guard.keys().map(str::to_owned).collect()
}

/// An account whose balance is read and written apart, so that two transfers at once would lose money.
struct Account {
    balance: AtomicI64,
    is_in_use: AtomicBool,
}

impl Account {
    const fn new() -> Account {
        Account {
            balance: AtomicI64::new(0),
            is_in_use: AtomicBool::new(false),
        }
    }

    async fn add(&self, amount: i64) {
        assert!(!self.is_in_use.swap(true, Ordering::Relaxed));
        let balance = self.balance.load(Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.balance.store(balance + amount, Ordering::Relaxed);
        self.is_in_use.store(false, Ordering::Relaxed);
    }
}

/// A deadlock would end as `Busy` at once, since the clock runs on while all callers wait.
#[tokio::test(start_paused = true)]
async fn transfers_in_opposite_order_all_succeed() {
    #[distributed_lock(keys = ["account:<from>", "account:<to>"], client = locks)]
    async fn transfer(
        locks: LockClient,
        accounts: Arc<[Account; 3]>,
        from: usize,
        to: usize,
    ) -> Result<(), LockError> {
        accounts[from].add(-1).await;
        accounts[to].add(1).await;
        Ok(())
    }

    let locks = LockClient::memory();
    let accounts = Arc::new([const { Account::new() }; 3]);
    let mut transfers = JoinSet::new();
    for _ in 0..10 {
        for (from, to) in [
            (0, 1),
            (1, 0),
            (1, 2),
            (2, 1),
            (2, 0),
            (0, 2),
            (1, 1),
            (0, 2),
        ] {
            transfers.spawn(transfer(locks.clone(), accounts.clone(), from, to));
        }
    }
    while let Some(outcome) = transfers.join_next().await {
        outcome.expect("no transfer panics").unwrap();
    }
    let balances =
        [0, 1, 2].map(|account: usize| accounts[account].balance.load(Ordering::Relaxed));
    assert_eq!(balances, [-10, 0, 10]);
    assert!(
        [0, 1, 2]
            .iter()
            .all(|account| !held(&locks, &format!("account:{account}")))
    );
}

#[distributed_lock(keys = ["account:<from>", "account:<to>"], client = locks, guard = lock)]
async fn both(locks: &LockClient, from: u8, to: u8) -> Keys {
    for key in lock.keys() {
        assert!(held(locks, key), "{key}");
    }
    tokio::task::yield_now().await;
    assert!(lock.is_valid());
    Ok(keys_of(lock))
}

#[distributed_lock(keys = ["account:<from>", "account:<to>"], mode = "write", client = locks, guard = lock)]
fn both_blocking(locks: &LockClient, from: u8, to: u8) -> Keys {
    for key in lock.keys() {
        assert!(held(locks, key), "{key}");
    }
    Ok(keys_of(lock))
}

#[tokio::test]
async fn guard_has_all_keys_in_lock_order_and_each_once() {
    let locks = LockClient::memory();
    for (from, to, keys) in [
        (1, 2, &["account:1", "account:2"][..]),
        (2, 1, &["account:1", "account:2"]),
        (1, 1, &["account:1"]),
    ] {
        assert_eq!(both(&locks, from, to).await.unwrap(), keys);
        assert_eq!(both_blocking(&locks, from, to).unwrap(), keys);
        assert!(keys.iter().all(|key| !held(&locks, key)));
    }
}

#[tokio::test]
async fn token_is_above_those_before_and_below_those_after() {
    #[distributed_lock(key = "account:<id>", client = locks, guard = lock)]
    async fn one(locks: &LockClient, id: u8) -> Result<FencingToken, LockError> {
        Ok(lock.fencing_token())
    }

    #[distributed_lock(keys = ["account:1", "account:2"], client = locks, guard = lock)]
    async fn all(locks: &LockClient) -> Result<FencingToken, LockError> {
        Ok(lock.fencing_token())
    }

    let locks = LockClient::memory();
    let before = [one(&locks, 1).await.unwrap(), one(&locks, 2).await.unwrap()];
    let token = all(&locks).await.unwrap();
    let after = [one(&locks, 1).await.unwrap(), one(&locks, 2).await.unwrap()];
    assert!(before.iter().all(|before| *before < token));
    assert!(after.iter().all(|after| token < *after));
}

mod lists {
    use super::*;

    const FIXED: [&str; 2] = ["b", "a"];

    #[distributed_lock(keys = ["{<tenant>}:<id>", "{<tenant>}<<x>>", format!("report-{}", id % 100)], client = locks, guard = lock)]
    pub(super) async fn mixed(locks: &LockClient, tenant: &str, id: u32) -> Keys {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = ["order:<id>"], client = locks, guard = lock)]
    pub(super) fn single(locks: &LockClient, id: u32) -> Keys {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = [first, (second), LockKey::from(third), third.to_uppercase().as_str()], client = locks, guard = lock)]
    pub(super) async fn expressions(
        locks: &LockClient,
        first: String,
        second: LockKey,
        third: &str,
    ) -> Keys {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = ids.iter().map(|id| format!("order:{id}")), client = locks, guard = lock)]
    pub(super) async fn mapped(locks: &LockClient, ids: &[u32]) -> Keys {
        assert!(!ids.is_empty());
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = &names, client = locks, guard = lock)]
    pub(super) async fn borrowed(locks: &LockClient, names: Vec<String>) -> Keys {
        drop(names);
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = names, client = locks, guard = lock)]
    pub(super) fn moved(locks: &LockClient, names: Vec<LockKey>) -> Keys {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = FIXED, client = locks, guard = lock)]
    pub(super) fn fixed(locks: &LockClient) -> Keys {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = names.split(','), client = locks, guard = lock)]
    pub(super) async fn texts(locks: &LockClient, names: &str) -> Keys {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = keys.clone(), client = locks, guard = lock)]
    pub(super) async fn generic<I>(locks: &LockClient, keys: I) -> Keys
    where
        I: IntoIterator<Item: Into<LockKey>> + Clone,
    {
        Ok(keys_of(lock))
    }
}

#[tokio::test]
async fn keys_are_templates_expressions_or_one_expression() {
    let locks = &LockClient::memory();
    let names = || vec!["b".to_owned(), "a".to_owned(), "b".to_owned()];
    let mixed = lists::mixed(locks, "a:b", 142).await.unwrap();
    assert_eq!(mixed, ["report-42", "{a%3Ab}:142", "{a%3Ab}<x>"]);
    assert_eq!(lists::single(locks, 7).unwrap(), ["order:7"]);
    let expressions = lists::expressions(locks, "c".into(), "b".into(), "a").await;
    assert_eq!(expressions.unwrap(), ["A", "a", "b", "c"]);
    let mapped = lists::mapped(locks, &[2, 1, 2]).await.unwrap();
    assert_eq!(mapped, ["order:1", "order:2"]);
    assert_eq!(lists::borrowed(locks, names()).await.unwrap(), ["a", "b"]);
    let moved = lists::moved(locks, names().into_iter().map(LockKey::from).collect());
    assert_eq!(moved.unwrap(), ["a", "b"]);
    assert_eq!(lists::fixed(locks).unwrap(), ["a", "b"]);
    assert_eq!(lists::texts(locks, "b,a").await.unwrap(), ["a", "b"]);
    assert_eq!(lists::generic(locks, names()).await.unwrap(), ["a", "b"]);
    assert_eq!(lists::generic(locks, ["b", "a"]).await.unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn text_that_reads_like_a_template_is_refused_and_data_is_not() {
    #[distributed_lock(keys = ["ledger", key], client = locks)]
    async fn element(locks: &LockClient, key: &str) -> Result<(), LockError> {
        Ok(())
    }

    let locks = &LockClient::memory();
    for refused in [
        lists::texts(locks, "b,a:<id>").await.map(drop),
        element(locks, "a:<id>").await,
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidKey);
        assert!(error.to_string().contains("`<id>`"), "{error}");
    }
    let data = lists::borrowed(locks, vec!["a:<id>".to_owned()]).await;
    assert_eq!(data.unwrap(), ["a:<id>"]);
}

#[tokio::test]
async fn keys_that_cannot_be_locked_together_fail_in_the_compilers_words() {
    let locks = &LockClient::memory();
    let ids: Vec<_> = (0..33).collect();
    for (ids, kind, sentence) in [
        (
            &[][..],
            LockErrorKind::InvalidOptions,
            "`keys` needs at least one key",
        ),
        (
            &ids,
            LockErrorKind::InvalidKey,
            "33 keys are asked for at once, and 32 are allowed",
        ),
    ] {
        let error = lists::mapped(locks, ids).await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(sentence), "{error}");
    }
    assert_eq!(lists::mapped(locks, &ids[1..]).await.unwrap().len(), 32);
    let twice = ids[1..].repeat(2);
    assert_eq!(lists::mapped(locks, &twice).await.unwrap().len(), 32);
}

#[test]
fn empty_value_in_any_key_locks_none() {
    #[distributed_lock(keys = ["user:<one>", "user:<other>"], client = locks)]
    fn touch(locks: &LockClient, one: &str, other: &str, ran: &mut bool) -> Result<(), LockError> {
        *ran = true;
        Ok(())
    }

    let (locks, mut ran) = (LockClient::memory(), false);
    for (one, other, name) in [("", "eve", "`<one>`"), ("eve", "", "`<other>`")] {
        let error = touch(&locks, one, other, &mut ran).unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidKey);
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(!ran);
}

#[tokio::test]
async fn busy_key_is_named_and_the_others_stay_free() {
    #[distributed_lock(keys = ["a", "b", "c"], wait = "0s", client = locks)]
    async fn failing(locks: &LockClient) -> Result<(), LockError> {
        Ok(())
    }

    #[distributed_lock(keys = ["a", "b", "c"], wait = "0s", on_busy = "skip", client = locks)]
    fn skipping(locks: &LockClient) -> Result<Option<u8>, LockError> {
        Ok(Some(1))
    }

    #[distributed_lock(keys = ["a", "b", "c"], wait = "0s", client = locks, or_else = |_| 0)]
    async fn replaced(locks: &LockClient) -> u8 {
        1
    }

    let locks = LockClient::memory();
    let beside = locks.lock("b").acquire().await.unwrap();
    let error = failing(&locks).await.unwrap_err();
    assert!(error.is_busy());
    assert_eq!(error.key(), Some("b"));
    assert_eq!(skipping(&locks).unwrap(), None);
    assert_eq!(replaced(&locks).await, 0);
    assert_released(&locks, "a");
    assert_released(&locks, "c");
    beside.release().await.unwrap();
    failing(&locks).await.unwrap();
    assert_eq!(skipping(&locks).unwrap(), Some(1));
    assert_eq!(replaced(&locks).await, 1);
}

#[tokio::test(start_paused = true)]
async fn lease_of_all_keys_ends_with_its_ttl_unless_renewed() {
    #[distributed_lock(keys = ["a", "b"], ttl = "1s", client = locks)]
    async fn renewed(locks: &LockClient) -> Result<(), LockError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(())
    }

    #[distributed_lock(keys = ["a", "b"], ttl = "1s", renew = false, client = locks)]
    async fn lapsing(locks: &LockClient) -> Result<(), LockError> {
        std::future::pending().await
    }

    #[distributed_lock(keys = ["a", "b"], max_hold = "1s", client = locks)]
    async fn hanging(locks: &LockClient) -> Result<(), LockError> {
        std::future::pending().await
    }

    let locks = LockClient::memory();
    renewed(&locks).await.unwrap();
    assert!(lapsing(&locks).await.unwrap_err().is_lost());
    assert!(hanging(&locks).await.unwrap_err().is_lost());
    assert_released(&locks, "a");
    assert_released(&locks, "b");
}

mod nested {
    use super::*;

    #[distributed_lock(key = "account:<id>", wait = "0s", client = locks)]
    pub(super) async fn close(locks: &LockClient, id: u8, other: u8) -> Result<(), LockError> {
        transfer(locks, other, id).await?;
        assert!(held(locks, &format!("account:{id}")));
        assert!(!held(locks, &format!("account:{other}")));
        Ok(())
    }

    #[distributed_lock(keys = ["account:<from>", "account:<to>"], wait = "0s", client = locks, guard = lock)]
    pub(super) async fn transfer(locks: &LockClient, from: u8, to: u8) -> Result<(), LockError> {
        assert_eq!(lock.keys().count(), 2);
        book(locks, from)?;
        book(locks, to)?;
        Box::pin(again(locks, to, from)).await
    }

    #[distributed_lock(key = "account:<id>", wait = "0s", client = locks)]
    fn book(locks: &LockClient, id: u8) -> Result<(), LockError> {
        Ok(())
    }

    #[distributed_lock(keys = ["account:<from>", "account:<to>"], wait = "0s", client = locks)]
    async fn again(locks: &LockClient, from: u8, to: u8) -> Result<(), LockError> {
        assert!(refused(locks, from).unwrap_err().is_reentered());
        Ok(())
    }

    #[distributed_lock(keys = ["account:<id>", "ledger"], reentrant = false, client = locks)]
    fn refused(locks: &LockClient, id: u8) -> Result<(), LockError> {
        Ok(())
    }
}

#[tokio::test]
async fn keys_that_the_call_tree_holds_are_entered() {
    let locks = LockClient::memory();
    nested::transfer(&locks, 1, 2).await.unwrap();
    nested::close(&locks, 1, 2).await.unwrap();
    nested::close(&locks, 2, 1).await.unwrap();
    for key in ["account:1", "account:2", "ledger"] {
        assert!(!held(&locks, key), "{key}");
    }
}

/// Keys of everything that a template or an expression may name.
struct Bank {
    locks: LockClient,
    name: String,
}

impl Bank {
    fn key(&self, id: u8) -> String {
        format!("{}:{id}", self.name)
    }

    #[distributed_lock(keys = ["<self.name>:<from>", self.key(to)], client = self.locks, guard = lock)]
    async fn method(&self, from: u8, to: u8) -> Result<Vec<String>, AppError> {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = ["<self.name>:<id>", "<self.name>"], client = self.locks, guard = lock)]
    fn exclusive_borrow(&mut self, id: u8) -> Result<Vec<String>, AppError> {
        self.name.push('!');
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = (0..N).map(|id| self.key(id)), client = self.locks, guard = lock)]
    fn constant<const N: u8>(&self) -> Result<Vec<String>, AppError> {
        Ok(keys_of(lock))
    }

    #[distributed_lock(keys = ["<self.name>:<to>", "<self.name>:<from>"], client = self.locks, guard = lock)]
    fn future(
        &self,
        (from, to): (u8, u8),
    ) -> impl Future<Output = Result<Vec<String>, AppError>> + Send {
        async move { Ok(keys_of(lock)) }
    }
}

trait Transfers {
    fn bank(&self) -> &Bank;

    #[distributed_lock(keys = ["<self.bank().name>:1", self.bank().key(2)], client = self.bank().locks, guard = lock)]
    async fn default_body(&self) -> Result<Vec<String>, AppError> {
        Ok(keys_of(lock))
    }
}

impl Transfers for Bank {
    fn bank(&self) -> &Bank {
        self
    }
}

#[async_trait::async_trait]
trait Boxed {
    async fn boxed(&self, from: u8, to: u8) -> Result<Vec<String>, AppError>;
}

#[async_trait::async_trait]
impl Boxed for Bank {
    #[distributed_lock(keys = ["<self.name>:<from>", self.key(to)], client = self.locks, guard = lock)]
    async fn boxed(&self, from: u8, to: u8) -> Result<Vec<String>, AppError> {
        Ok(keys_of(lock))
    }
}

#[tokio::test]
async fn keys_come_from_whatever_is_in_scope() {
    let mut bank = Bank {
        locks: LockClient::memory(),
        name: "north".to_owned(),
    };
    let both = ["north:1", "north:2"];
    assert_eq!(bank.method(2, 1).await.unwrap(), both);
    assert_eq!(bank.constant::<2>().unwrap(), ["north:0", "north:1"]);
    assert_eq!(bank.future((2, 1)).await.unwrap(), both);
    assert_eq!(bank.default_body().await.unwrap(), both);
    assert_eq!(bank.boxed(2, 1).await.unwrap(), both);
    assert_eq!(bank.exclusive_borrow(1).unwrap(), ["north", "north:1"]);
    assert!(both.iter().all(|key| !held(&bank.locks, key)));
}

#[test]
fn keys_of_a_macro_are_read_like_others() {
    macro_rules! made {
        ($name:ident, [$($key:tt),*]) => {
            #[distributed_lock(keys = [$($key),*], client = locks, guard = lock)]
            fn $name(locks: &LockClient, id: u8) -> Keys {
                Ok(keys_of(lock))
            }
        };
        ($name:ident, $first:literal, $id:ident) => {
            #[distributed_lock(keys = [$first, "b:<id>", "c:<id>"], client = locks, guard = lock)]
            fn $name(locks: &LockClient, $id: u8) -> Keys {
                Ok(keys_of(lock))
            }
        };
        ($name:ident, $keys:expr) => {
            #[distributed_lock(keys = $keys, client = locks, guard = lock)]
            fn $name(locks: &LockClient, id: u8) -> Keys {
                Ok(keys_of(lock))
            }
        };
    }
    made!(tokens, ["a:<id>", "b:<id>"]);
    made!(literal, "a:<id>", id);
    made!(list, ["a:<id>", "b"]);

    let locks = LockClient::memory();
    assert_eq!(tokens(&locks, 7).unwrap(), ["a:7", "b:7"]);
    assert_eq!(literal(&locks, 7).unwrap(), ["a:7", "b:7", "c:7"]);
    assert_eq!(list(&locks, 7).unwrap(), ["a:7", "b"]);
}
