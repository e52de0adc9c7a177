//! The memory backend: grants that no caller fetches, and the effect of `max_hold` on a lease.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use harness::{KEY, LONG, ms, wait_until};
use lock_runtime::LockClient;

/// Records whether a future has asked to be polled again.
#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A call without a runtime uses the background's. If it was dropped before it had seen its grant, the lock stayed
/// taken for ever.
#[test]
fn an_acquire_dropped_outside_of_a_runtime_leaves_nothing_held() {
    let client = LockClient::memory();
    let guard = client.lock(KEY).acquire_blocking().unwrap();
    {
        let mut acquire = pin!(client.lock(KEY).acquire());
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(bell.clone());
        let polled = acquire.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "the lock is held");
        drop(guard);
        wait_until("grant", LONG, || bell.0.load(Ordering::SeqCst));
    }
    wait_until("return of the lock", LONG, || {
        let attempt = client.lock(KEY).try_acquire_blocking();
        attempt.unwrap().is_some()
    });
}

/// A lock was handed to a waiter whose runtime was busy until the lease had expired. The waiter got a lease that was
/// already lost.
#[tokio::test(start_paused = true)]
async fn a_lease_that_ended_on_its_way_to_a_waiter_is_replaced() {
    let client = LockClient::memory();
    let guard = client.lock(KEY).acquire().await.unwrap();
    let short = client.lock(KEY).ttl(ms(50)).renew(false);
    let waiting = tokio::spawn(short.wait(LONG).acquire());
    tokio::time::sleep(ms(1)).await;
    // The clock advances before the waiter is polled.
    drop(guard);
    tokio::time::advance(ms(150)).await;
    let guard = waiting.await.unwrap().unwrap();
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}
