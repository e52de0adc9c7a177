//! Steps that many cases share.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use harness::eventually;
pub(crate) use harness::{KEY, LONG, SLACK, ms};

/// The ttl of a lease that no test waits out. Heavy disk writes have suspended processes for more than a second, which
/// lost leases of two seconds over every kind of connection.
pub(crate) const STEADY: Duration = ms(6_000);
use lock_runtime::{Acquire, LockClient, LockGuard};

use super::store::Store;

/// Acquires the lock, which must be free.
#[track_caller]
pub(crate) fn hold(client: &LockClient) -> impl Future<Output = LockGuard> {
    // A short wait, since a caller that does not wait gets its token with the lock.
    let acquire = client.lock(KEY).wait(ms(1)).acquire();
    async move { acquire.await.expect("the lock is free") }
}

/// Acquires a share or a lock that has room for it.
#[track_caller]
pub(crate) fn at_once(acquire: Acquire) -> impl Future<Output = LockGuard> {
    let acquire = acquire.wait(Duration::ZERO).acquire();
    async move { acquire.await.expect("there is room") }
}

/// Six callers at once, each with a client of its own, visit ten times each. A mixture of visits is chosen by their
/// numbers.
pub(crate) async fn crowd(store: &Store, visit: impl AsyncFn(LockClient, u32)) {
    let caller = async |number: u32| {
        let client = store.client();
        for round in 0..10 {
            visit(client.clone(), number + round).await;
        }
    };
    let first = async || tokio::join!(caller(0), caller(1), caller(2));
    let second = async || tokio::join!(caller(3), caller(4), caller(5));
    tokio::join!(first(), second());
}

/// Returns whether one attempt is refused. Otherwise it releases what it acquired.
pub(crate) async fn is_refused(acquire: Acquire) -> bool {
    match acquire.try_acquire().await.expect("the store answers") {
        None => true,
        Some(guard) => {
            guard.release().await.expect("a moment's hold is not lost");
            false
        }
    }
}

/// Waits until attempts are refused, as they are behind a waiter that has queued.
pub(crate) async fn becomes_refused(acquire: Acquire) {
    let refused = async || is_refused(acquire.clone()).await;
    eventually("waiter in the queue", LONG, refused).await;
}

/// Waits until attempts succeed.
pub(crate) async fn becomes_granted(acquire: Acquire) {
    let granted = async || !is_refused(acquire.clone()).await;
    eventually("room", LONG, granted).await;
}

/// Whether the lock is held, also by a body that calls this function.
pub(crate) async fn is_held(client: &LockClient) -> bool {
    // A spawned task belongs to no call tree.
    let look = tokio::spawn(is_refused(client.lock(KEY)));
    look.await.expect("it does not panic")
}

/// Waits until the lock is free; fails after `limit`.
pub(crate) async fn becomes_free(client: &LockClient, limit: Duration) {
    eventually("free lock", limit, async || !is_held(client).await).await;
}

/// Waits for a time to pass, not for an event.
pub(crate) async fn until(moment: Instant) {
    tokio::time::sleep_until(moment.into()).await;
}

/// Polls `future` up to `times` times, with pauses for other tasks, and then drops it. Returns whether it ended first.
pub(crate) async fn poll_and_drop<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future: Pin<Box<F>> = Box::pin(future);
    for _ in 0..times {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        tokio::time::sleep(ms(1)).await;
    }
    None
}

/// Records whether it was dropped.
#[derive(Clone, Default)]
pub(crate) struct Flag(Arc<AtomicBool>);

impl Flag {
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Raises the flag when it is dropped.
    pub(crate) fn on_drop(&self) -> impl Drop + Send + use<> {
        struct Raise(Flag);
        impl Drop for Raise {
            fn drop(&mut self) {
                self.0.raise();
            }
        }
        Raise(self.clone())
    }
}

/// Runs `work` on a thread without a runtime.
pub(crate) async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || done.send(work()));
    result.await.expect("the thread does not panic")
}
