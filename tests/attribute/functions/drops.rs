//! Arguments are dropped under the lock, however the body ends, and in the order of any function.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use lock_runtime::{LockClient, distributed_lock};

use super::check::{AppError, at_once, entered, held, inside, locks, pausing};

type Answer<T = ()> = Result<T, AppError>;

/// Records, when it is dropped, whether the lock was held.
struct Tx<'a> {
    key: &'static str,
    drops: &'a RefCell<Vec<bool>>,
}

impl Drop for Tx<'_> {
    fn drop(&mut self) {
        self.drops.borrow_mut().push(held(self.key));
    }
}

/// An argument that a function may use only in part.
struct Order<'a> {
    id: u32,
    _tx: Tx<'a>,
}

impl Order<'_> {
    fn number(&self) -> u32 {
        self.id
    }

    fn lease(&self) -> Duration {
        Duration::from_secs(60)
    }
}

impl fmt::Display for Tx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

/// One argument that the body uses, one with a field that the body uses, one that is alive only because it has a name,
/// and one that only the key uses.
#[distributed_lock(key = "drop:<key_only.id>", guard = lock)]
async fn asynchronous(
    used: Tx<'_>,
    part: Order<'_>,
    _tx: Tx<'_>,
    key_only: Order<'_>,
    own: bool,
) -> Answer<u32> {
    let _ = (lock.key(), used.key);
    pausing().await;
    if own {
        Err(AppError::Own)?;
    }
    Ok(part.id)
}

#[distributed_lock(key = "drop blocking:<key_only.id>")]
fn synchronous(
    used: Tx<'_>,
    part: Order<'_>,
    _tx: Tx<'_>,
    key_only: Order<'_>,
    own: bool,
) -> Answer<u32> {
    let _ = used.key;
    inside();
    if own {
        Err(AppError::Own)?;
    }
    Ok(part.id)
}

/// An argument that only a format string names, and one with two versions.
#[distributed_lock(key = format!("{key}"), ttl = other.lease())]
fn formatted(key: Tx<'_>, #[cfg(not(test))] other: (), #[cfg(test)] other: Order<'_>) -> Answer {
    entered(())
}

/// Arguments that only keys name.
#[distributed_lock(keys = ["drop several", "one:<one.id>", other.id.to_string()])]
fn several(one: Order<'_>, other: Order<'_>) -> Answer {
    entered(())
}

/// Arguments that only the numbers of permits name.
#[distributed_lock(key = "drop limited", permits = limit.number(), take = take.number())]
fn limited(limit: Order<'_>, take: Order<'_>) -> Answer {
    entered(())
}

/// Makes a call whose arguments record their drops, and asserts that each of `count` was dropped under the lock, in
/// each of the four trials.
macro_rules! assert_all_held {
    ($key:literal, $count:expr, |$tx:ident, $order:ident| $call:expr) => {{
        let drops = RefCell::default();
        let $tx = || Tx {
            key: $key,
            drops: &drops,
        };
        let $order = || Order { id: 7, _tx: $tx() };
        let _ = $call;
        assert_eq!(drops.take(), vec![true; 4 * $count], "{}", $key);
    }};
}

#[tokio::test]
async fn arguments_are_dropped_before_the_release() {
    for own in [false, true] {
        assert_all_held!("drop:7", 4, |tx, order| {
            let call = async || asynchronous(tx(), order(), tx(), order(), own).await;
            locks("drop:7", call).await
        });
        assert_all_held!("drop blocking:7", 4, |tx, order| {
            let call = async || synchronous(tx(), order(), tx(), order(), own);
            locks(at_once("drop blocking:7"), call).await
        });
    }
}

#[tokio::test]
async fn arguments_of_options_are_dropped_before_the_release() {
    assert_all_held!("drop formatted", 2, |tx, order| {
        locks(at_once("drop formatted"), async || formatted(tx(), order())).await
    });
    assert_all_held!("drop several", 2, |_tx, order| {
        locks(at_once("drop several"), async || several(order(), order())).await
    });
    assert_all_held!("drop limited", 2, |_tx, order| {
        locks(at_once("drop limited"), async || limited(order(), order())).await
    });
}

/// Records its name when it is dropped.
struct Noted<'a>(&'static str, &'a Log);

type Log = RefCell<Vec<&'static str>>;

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
    }
}

impl Noted<'_> {
    fn plain(self, one: Noted<'_>, two: Noted<'_>, log: &Log) {
        let _ = (&two, &self, &one);
        let _local = Noted("local", log);
    }

    #[distributed_lock(key = "order", client = LockClient::memory())]
    fn blocking(self, one: Noted<'_>, two: Noted<'_>, log: &Log) -> Answer {
        let _ = (&two, &self, &one);
        let _local = Noted("local", log);
        Ok(())
    }

    #[distributed_lock(key = "order", client = LockClient::memory())]
    async fn asynchronous(self, one: Noted<'_>, two: Noted<'_>, log: &Log) -> Answer {
        let _ = (&two, &self, &one);
        let _local = Noted("local", log);
        tokio::task::yield_now().await;
        Ok(())
    }
}

#[tokio::test]
async fn arguments_are_dropped_in_the_order_of_any_function() {
    let log = Log::default();
    let noted = |name| Noted(name, &log);
    noted("self").plain(noted("one"), noted("two"), &log);
    let plain = log.take();
    assert_eq!(plain, ["local", "two", "one", "self"]);
    let blocking = noted("self").blocking(noted("one"), noted("two"), &log);
    blocking.unwrap();
    assert_eq!(log.take(), plain);
    let asynchronous = noted("self").asynchronous(noted("one"), noted("two"), &log);
    asynchronous.await.unwrap();
    assert_eq!(log.take(), plain);
}
