//! Arguments are dropped under the lock, in whichever way the body ends.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use lock_runtime::{LockClient, distributed_lock};

use super::{AppError, held};

/// Notes, when it is dropped, whether the lock was held.
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

/// Makes a few arguments and tells how they were dropped.
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

/// One argument that the body uses, one that it uses a field of, one that only its name keeps, and
/// one that only the key uses.
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
        assert_eq!(*probe.held_at_drop.lock().unwrap(), []);
    }
    probe.assert_all_held(4);
}
