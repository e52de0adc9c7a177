//! The locks that a client watches: who asks about them, and who is told.
//!
//! All watches of one lock share a [`WatchedLock`], which knows the last state and has a [`WatchReader`] for each of them.
//! A remote client has one task for each watched lock, which asks its servers; [`question_time`] decides when. A memory
//! client's store tells of each change itself. A client without watches has an empty map, and reads one number.

pub(crate) mod question_time;
mod watch_reader;
mod watched_lock;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use self::watch_reader::{Unseen, WatchReader};
pub(crate) use self::watched_lock::{WatchedLock, wake_readers};
use crate::background::sync::Mutex;
use crate::key::{LockKey, LockName, RecordNames};

/// The watched locks of a client.
#[derive(Debug, Default)]
pub(crate) struct WatchedLocks {
    locks: Mutex<Watched>,
    /// The number of locks, to be read without the mutex.
    number: AtomicUsize,
}

#[derive(Debug, Default)]
struct Watched {
    by_key: HashMap<LockKey, Arc<WatchedLock>>,
    is_closed: bool,
}

impl WatchedLocks {
    /// Adds a reader of a lock. Returns the lock as well if it was not watched before.
    pub(crate) fn read(
        &self,
        key: &LockKey,
        names: &RecordNames,
        every: Duration,
        now: Instant,
    ) -> (Arc<WatchReader>, Option<Arc<WatchedLock>>) {
        let mut watched = self.locks.lock();
        if watched.is_closed {
            return (WatchReader::closed(), None);
        }
        let known = watched.by_key.get(key);
        if let Some(reader) = known.and_then(|lock| lock.join(every, now)) {
            return (reader, None);
        }
        let lock = WatchedLock::new(key, names);
        let reader = lock.first_reader(every);
        watched.by_key.insert(key.clone(), lock.clone());
        self.number.store(watched.by_key.len(), Ordering::Release);
        (reader, Some(lock))
    }

    /// Forgets a lock that nobody watches any longer.
    pub(crate) fn forget(&self, lock: &Arc<WatchedLock>) {
        let mut watched = self.locks.lock();
        let is_it = |other: &Arc<WatchedLock>| Arc::ptr_eq(other, lock);
        if watched.by_key.get(&lock.key).is_some_and(is_it) {
            watched.by_key.remove(&lock.key);
            self.number.store(watched.by_key.len(), Ordering::Release);
        }
    }

    /// Returns the locks that are watched, and forgets those that no longer are.
    pub(crate) fn all(&self) -> Vec<Arc<WatchedLock>> {
        if self.number.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let mut watched = self.locks.lock();
        watched.by_key.retain(|_, lock| lock.is_watched());
        self.number.store(watched.by_key.len(), Ordering::Release);
        watched.by_key.values().cloned().collect()
    }

    /// Asks now about the locks that `concerns` selects: their holders may have changed.
    pub(crate) fn ask_now(&self, concerns: impl Fn(&LockName) -> bool) {
        for lock in self.all() {
            if concerns(&lock.names.lock) {
                lock.ask_now();
            }
        }
    }

    /// Ends all watches.
    pub(crate) fn close(&self) {
        let mut watched = self.locks.lock();
        watched.is_closed = true;
        let locks = std::mem::take(&mut watched.by_key);
        self.number.store(0, Ordering::Release);
        drop(watched);
        for lock in locks.into_values() {
            lock.close();
        }
    }
}
