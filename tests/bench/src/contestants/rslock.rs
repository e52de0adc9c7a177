//! The crate `rslock`, on one server, or on several as Redlock.

use std::time::Duration;

use rslock::{LockGuard, LockManager};

use super::{Contestant, TTL};

#[derive(Clone, Debug)]
pub(crate) struct Rslock(LockManager);

impl Rslock {
    /// With its defaults: three tries, up to 200 ms apart, repeated until one succeeds.
    pub(crate) fn new(url: &str) -> Rslock {
        Rslock(LockManager::new(urls(url)))
    }

    /// With the shortest retries: it waits for a random whole number of milliseconds below this.
    /// Ten are better with more than a hundred waiters, and worse with a few.
    pub(crate) fn tuned(url: &str) -> Rslock {
        let mut manager = LockManager::new(urls(url));
        manager.set_retry(u32::MAX, Duration::from_millis(2));
        Rslock(manager)
    }
}

/// The URLs of the nodes of a quorum.
fn urls(url: &str) -> Vec<String> {
    match url.strip_prefix("redlock://") {
        Some(hosts) => hosts
            .split(',')
            .map(|host| format!("redis://{host}"))
            .collect(),
        None => vec![url.to_owned()],
    }
}

impl Contestant for Rslock {
    type Held = LockGuard;

    async fn acquire(&self, key: &str) -> LockGuard {
        let acquire = self.0.acquire(key, TTL);
        acquire.await.expect("the lock can be acquired")
    }

    async fn release(&self, held: LockGuard) {
        held.release().await;
    }
}
