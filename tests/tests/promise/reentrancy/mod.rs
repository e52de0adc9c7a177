//! Call trees: which calls enter a held lock, which ones queue, and which one releases it.

mod carried;
mod driven;
mod frames;
mod lost;
mod modes;
mod nesting;
mod several;
mod siblings;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness::{KEY, LONG, ms, soon};
use lock_runtime::{Acquire, LockClient};

/// One call for the lock.
fn at_once(client: &LockClient) -> Acquire {
    client.lock(KEY).wait(Duration::ZERO)
}

/// Whether the lock is held, as seen from outside every call tree.
async fn is_held(client: &LockClient) -> bool {
    let attempt = client.lock(KEY).try_acquire();
    let look = tokio::spawn(async { attempt.await.expect("the store answers").is_none() });
    look.await.expect("it does not panic")
}

/// Counts the bodies inside, and remembers the maximum.
#[derive(Clone, Default)]
struct Crowd {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Crowd {
    /// Enters, stays for a few turns of the runtime, and leaves.
    async fn visit(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}
