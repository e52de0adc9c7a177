//! Keeps the store in a mutex, and carries out its decisions.

use std::sync::{Arc, MutexGuard};

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::store::Store;
use crate::backend::memory::store::decision::{Decision, Effects};
use crate::backend::memory::store::store_request::LockOwner;
use crate::background::panics::catch_panics;
use crate::background::sync::Mutex;
use crate::lease::Lease;

#[derive(Debug, Default)]
pub(crate) struct SharedStore(Mutex<Store>);

impl SharedStore {
    /// Lets the store decide, and carries out the effects after the mutex is free: they call wakers and subscribers,
    /// which may block or ask for locks.
    pub(crate) fn decide<T>(&self, decide: impl FnOnce(&mut Store) -> Decision<T>) -> T {
        let Decision { answer, effects } = decide(&mut self.lock());
        let Effects {
            expired,
            released,
            wake,
        } = effects;
        // Dropping them ends their timers.
        drop(released);
        for waiter in wake {
            catch_panics(|| waiter.notify_one());
        }
        // Last, since no waiter should wait for a subscriber.
        for watch in expired {
            watch.expire();
        }
        answer
    }

    /// Stores the watch of a lease until the lease ends.
    pub(crate) fn register(&self, owner: LockOwner<'_>, watch: LeaseWatch) {
        let expired = self.lock().register(owner, watch);
        if let Some(watch) = expired {
            watch.expire();
        }
    }

    /// Returns every lease that has not ended. A lease of several locks appears once for each of them.
    pub(crate) fn leases(&self) -> Vec<Arc<Lease>> {
        self.lock()
            .watches()
            .filter_map(LeaseWatch::lease)
            .collect()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock()
    }
}
