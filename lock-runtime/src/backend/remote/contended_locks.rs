//! Remembers the locks that a client recently found held.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::key::LockName;

/// The number of places. If several locks share one, it remembers the last of them.
const PLACES: usize = 128;

/// The locks that others held when this client last asked. Such a lock is probably still held, so the first command for
/// it is the script.
///
/// A place contains the hash of a name, or zero. A collision costs one command, or a little of the server's time.
pub(crate) struct ContendedLocks([AtomicU64; PLACES]);

impl Default for ContendedLocks {
    fn default() -> ContendedLocks {
        ContendedLocks([const { AtomicU64::new(0) }; PLACES])
    }
}

impl ContendedLocks {
    pub(crate) fn contains(&self, lock: &LockName) -> bool {
        self.place(lock).load(Ordering::Relaxed) == lock.known_hash()
    }

    /// Remembers that another owner has the lock.
    pub(crate) fn insert(&self, lock: &LockName) {
        self.place(lock).store(lock.known_hash(), Ordering::Relaxed);
    }

    /// Remembers that the lock was free.
    pub(crate) fn remove(&self, lock: &LockName) {
        if self.contains(lock) {
            self.place(lock).store(0, Ordering::Relaxed);
        }
    }

    fn place(&self, lock: &LockName) -> &AtomicU64 {
        &self.0[lock.known_hash() as usize % PLACES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RecordNames;

    #[test]
    fn lock_is_remembered_until_it_is_free_or_another_has_its_place() {
        let name = |number: usize| RecordNames::of_lock(format!("lock:{number}")).unwrap().lock;
        let (locks, first) = (ContendedLocks::default(), name(0));
        assert!(!locks.contains(&first));
        locks.insert(&first);
        assert!(locks.contains(&first));
        locks.remove(&first);
        assert!(!locks.contains(&first));
        locks.insert(&first);
        let place = |lock: &LockName| lock.known_hash() as usize % PLACES;
        let mut others = (1..100_000).map(name);
        let other = others.find(|other| place(other) == place(&first)).unwrap();
        locks.remove(&other);
        assert!(locks.contains(&first));
        locks.insert(&other);
        assert!(locks.contains(&other) && !locks.contains(&first));
    }
}
