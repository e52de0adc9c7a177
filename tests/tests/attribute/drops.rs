//! Arguments are dropped under the lock, however the body ends.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use lock_runtime::{LockClient, distributed_lock};

use super::{AppError, held};

/// Records, when it is dropped, whether the lock was held.
struct Tx {
    locks: LockClient,
    held_at_drop: Arc<Mutex<Vec<bool>>>,
}

impl Drop for Tx {
    fn drop(&mut self) {
        let held = held(&self.locks, "drop");
        self.held_at_drop.lock().unwrap().push(held);
    }
}

struct Order {
    id: u64,
    tx: Tx,
}

/// Makes a few arguments and returns how they were dropped.
struct Probe {
    locks: LockClient,
    held_at_drop: Arc<Mutex<Vec<bool>>>,
}

impl Probe {
    fn new() -> Probe {
        Probe {
            locks: LockClient::memory(),
            held_at_drop: Arc::default(),
        }
    }

    fn tx(&self) -> Tx {
        Tx {
            locks: self.locks.clone(),
            held_at_drop: self.held_at_drop.clone(),
        }
    }

    fn order(&self) -> Order {
        Order {
            id: 7,
            tx: self.tx(),
        }
    }

    fn assert_all_held(&self, drops: usize) {
        assert_eq!(*self.held_at_drop.lock().unwrap(), vec![true; drops]);
    }
}

#[derive(PartialEq)]
enum End {
    Value,
    Question,
    Panic,
    Never,
}

/// One argument that the body uses, one with a field that it uses, one that only its name keeps alive,
/// and one that only the key uses.
#[distributed_lock(key = "drop", guard = lock, client = key_only.tx.locks)]
async fn asynchronous(
    used: Tx,
    part: Order,
    _tx: Tx,
    key_only: Order,
    end: End,
) -> Result<u64, AppError> {
    let _ = lock.key();
    drop(used.locks.clone());
    match end {
        End::Value => (),
        End::Question => Err(AppError::Own)?,
        End::Panic => panic!("in the body"),
        End::Never => pending().await,
    }
    Ok(part.id)
}

#[distributed_lock(key = "drop", client = key_only.tx.locks)]
fn synchronous(used: Tx, part: Order, _tx: Tx, key_only: Order, end: End) -> Result<u64, AppError> {
    drop(used.locks.clone());
    match end {
        End::Value | End::Never => (),
        End::Question => Err(AppError::Own)?,
        End::Panic => panic!("in the body"),
    }
    Ok(part.id)
}

/// An argument that only a format string names, and one with two versions.
#[distributed_lock(key = format!("{key}"), client = other.locks)]
fn formatted(
    key: Named,
    #[cfg(not(debug_assertions))] other: &Tx,
    #[cfg(debug_assertions)] other: Tx,
) -> Result<(), AppError> {
    Ok(())
}

/// Arguments that only keys name.
#[distributed_lock(keys = ["drop", "one:<one.id>", other.id.to_string()], client = locks)]
fn several(locks: &LockClient, one: Order, other: Order) -> Result<(), AppError> {
    Ok(())
}

/// Arguments that only the numbers of permits name.
#[distributed_lock(key = "drop", permits = limit.number(), take = take.number(), client = locks)]
fn limited(locks: &LockClient, limit: Order, take: Order) -> Result<(), AppError> {
    Ok(())
}

impl Order {
    fn number(&self) -> u32 {
        self.id as u32
    }
}

/// A `Tx` that is displayed as its key.
struct Named(#[expect(dead_code, reason = "it is dropped")] Tx);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("drop")
    }
}

fn call(probe: &Probe, end: End) -> impl Future<Output = Result<u64, AppError>> + use<> {
    asynchronous(probe.tx(), probe.order(), probe.tx(), probe.order(), end)
}

fn call_blocking(probe: &Probe, end: End) -> Result<u64, AppError> {
    synchronous(probe.tx(), probe.order(), probe.tx(), probe.order(), end)
}

#[tokio::test]
async fn before_the_release_of_an_async_body() {
    for end in [End::Value, End::Question] {
        let probe = Probe::new();
        let _ = call(&probe, end).await;
        probe.assert_all_held(4);
    }
}

#[test]
fn before_the_release_of_a_sync_body() {
    for end in [End::Value, End::Question] {
        let probe = Probe::new();
        let _ = call_blocking(&probe, end);
        probe.assert_all_held(4);
    }
}

#[tokio::test]
async fn before_the_release_after_a_panic() {
    let probe = Probe::new();
    let panicking = tokio::spawn(call(&probe, End::Panic));
    assert!(panicking.await.unwrap_err().is_panic());
    probe.assert_all_held(4);

    let probe = Probe::new();
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = call_blocking(&probe, End::Panic);
    }));
    assert!(unwound.is_err());
    probe.assert_all_held(4);
}

#[tokio::test]
async fn before_the_release_of_a_cancelled_call() {
    let probe = Probe::new();
    {
        let mut call = pin!(call(&probe, End::Never));
        let mut context = Context::from_waker(Waker::noop());
        while !held(&probe.locks, "drop") {
            assert!(matches!(call.as_mut().poll(&mut context), Poll::Pending));
        }
        assert_eq!(*probe.held_at_drop.lock().unwrap(), Vec::<bool>::new());
    }
    probe.assert_all_held(4);
}

#[test]
fn before_the_release_wherever_the_name_occurs() {
    let probe = Probe::new();
    #[cfg(debug_assertions)]
    formatted(Named(probe.tx()), probe.tx()).unwrap();
    #[cfg(not(debug_assertions))]
    formatted(Named(probe.tx()), &probe.tx()).unwrap();
    probe.assert_all_held(2);

    let probe = Probe::new();
    limited(&probe.locks, probe.order(), probe.order()).unwrap();
    probe.assert_all_held(2);

    let probe = Probe::new();
    several(&probe.locks, probe.order(), probe.order()).unwrap();
    probe.assert_all_held(2);
}

/// Records its name when it is dropped.
struct Noted<'a>(&'static str, &'a Mutex<Vec<&'static str>>);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

type Log = Mutex<Vec<&'static str>>;

impl Noted<'_> {
    fn plain(self, one: Noted<'_>, two: Noted<'_>, log: &Log) {
        let _ = (&two, &self, &one);
        let _local = Noted("local", log);
    }

    #[distributed_lock(key = "order", client = locks)]
    fn blocking(
        self,
        one: Noted<'_>,
        two: Noted<'_>,
        log: &Log,
        locks: &LockClient,
    ) -> Result<(), AppError> {
        let _ = (&two, &self, &one);
        let _local = Noted("local", log);
        Ok(())
    }

    #[distributed_lock(key = "order", client = locks)]
    async fn asynchronous(
        self,
        one: Noted<'_>,
        two: Noted<'_>,
        log: &Log,
        locks: &LockClient,
    ) -> Result<(), AppError> {
        let _ = (&two, &self, &one);
        let _local = Noted("local", log);
        tokio::task::yield_now().await;
        Ok(())
    }
}

#[tokio::test]
async fn in_the_order_of_any_function() {
    let (locks, log) = (LockClient::memory(), Log::default());
    let take = || std::mem::take(&mut *log.lock().unwrap());
    let noted = |name| Noted(name, &log);
    noted("self").plain(noted("one"), noted("two"), &log);
    let plain = take();
    assert_eq!(plain, ["local", "two", "one", "self"]);

    noted("self")
        .blocking(noted("one"), noted("two"), &log, &locks)
        .unwrap();
    assert_eq!(take(), plain);

    noted("self")
        .asynchronous(noted("one"), noted("two"), &log, &locks)
        .await
        .unwrap();
    assert_eq!(take(), plain);
}
