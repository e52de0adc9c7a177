//! Keeps the store in a mutex, and carries out its decisions.

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::store::Store;
use crate::backend::memory::store::decision::{Decision, Effects};
use crate::backend::memory::store::store_request::LockOwner;
use crate::backend::watching::{WatchReader, WatchedLocks, wake_readers};
use crate::background::clock::Clock;
use crate::background::panics::catch_panics;
use crate::background::sync::Mutex;
use crate::key::{LockKey, RecordNames};
use crate::lease::Lease;

#[derive(Debug, Default)]
pub(crate) struct SharedStore {
    store: Mutex<Store>,
    watched: WatchedLocks,
}

impl SharedStore {
    /// Lets the store decide, and carries out the effects after the mutex is free: they call wakers and subscribers,
    /// which may block or ask for locks.
    pub(crate) fn decide<T>(&self, decide: impl FnOnce(&mut Store) -> Decision<T>) -> T {
        let mut store = self.lock();
        let Decision { answer, effects } = decide(&mut store);
        let told = self.tell_watches(&store);
        drop(store);
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
        wake_readers(told);
        // Last, since no waiter should wait for a subscriber.
        for watch in expired {
            watch.expire();
        }
        answer
    }

    /// Tells the watches of locks what a decision has changed, in the order of the decisions. Returns the readers to wake.
    fn tell_watches(&self, store: &Store) -> Vec<Arc<WatchReader>> {
        let mut told = Vec::new();
        for lock in self.watched.all() {
            told.extend(lock.tell(store.show(&lock.key, Clock::Tokio.now())));
        }
        told
    }

    /// Begins to watch a lock. The next decision tells the first state.
    pub(crate) fn watch(&self, key: &LockKey, names: &RecordNames) -> Arc<WatchReader> {
        // Nobody asks every so often.
        let (reader, _) = self.watched.read(key, names, Duration::MAX, Instant::now());
        reader
    }

    pub(crate) fn stop_watching(&self) {
        self.watched.close();
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
        self.store.lock()
    }
}
