//! The locks that one call acquires together.

use std::fmt;

use super::key_set::KeySet;
use super::lock_key::LockKey;
use super::name_set::NameSet;
use super::record_names::RecordNames;
use crate::control::is_removed;

/// A lock to be acquired: its key, and the names of its records.
#[derive(Clone)]
pub(crate) struct Lock {
    pub(crate) key: LockKey,
    pub(crate) names: RecordNames,
}

/// The locks that one call acquires together, each once, in the order in which every call acquires them: calls that wait
/// for each other's locks in different orders would wait for ever.
#[derive(Clone)]
pub(crate) struct LockSet {
    first: Lock,
    /// Nearly every call has none.
    others: Vec<Lock>,
}

impl LockSet {
    pub(crate) fn one(key: LockKey, names: RecordNames) -> LockSet {
        LockSet {
            first: Lock { key, names },
            others: Vec::new(),
        }
    }

    /// The locks in their order, by the bytes of the lock records' names. Two keys of one lock are one lock. `None`
    /// without any lock.
    pub(crate) fn of(mut locks: Vec<Lock>) -> Option<LockSet> {
        let name = |lock: &Lock| lock.names.lock.clone();
        if !is_removed!(order_of_keys) {
            locks.sort_by(|one, other| one.names.lock.as_bytes().cmp(other.names.lock.as_bytes()));
        }
        locks.dedup_by_key(|lock| name(lock));
        let mut locks = locks.into_iter();
        Some(LockSet {
            first: locks.next()?,
            others: locks.collect(),
        })
    }

    pub(crate) fn first(&self) -> &Lock {
        &self.first
    }

    pub(crate) fn len(&self) -> usize {
        1 + self.others.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lock> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(crate) fn names(&self) -> NameSet {
        let others = self.others.iter().map(|lock| lock.names.clone());
        NameSet::new(self.first.names.clone(), others)
    }

    pub(crate) fn keys(&self) -> KeySet {
        let others = self.others.iter().map(|lock| lock.key.clone());
        KeySet::new(self.first.key.clone(), others)
    }
}

impl fmt::Debug for LockSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|lock| &lock.key))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(key: &str) -> Lock {
        let key = LockKey::from(key);
        let names = RecordNames::new("lock:", &key).unwrap();
        Lock { key, names }
    }

    fn keys(keys: &[&str]) -> Vec<String> {
        let locks = LockSet::of(keys.iter().map(|key| lock(key)).collect()).unwrap();
        let keys = locks.keys();
        keys.iter().map(|key| key.as_str().to_owned()).collect()
    }

    #[test]
    fn locks_are_in_one_order_whatever_the_order_of_the_call() {
        let sorted = ["a", "a:1", "b", "é"];
        assert_eq!(keys(&["b", "a:1", "é", "a"]), sorted);
        assert_eq!(keys(&["a", "é", "a:1", "b"]), sorted);
    }

    #[test]
    fn lock_that_is_named_twice_is_acquired_once() {
        assert_eq!(keys(&["b", "a", "b", "b"]), ["a", "b"]);
        assert_eq!(keys(&["a", "a"]), ["a"]);
        assert!(LockSet::of(Vec::new()).is_none());
    }

    #[test]
    fn key_is_found_among_those_that_are_held_together() {
        let locks = LockSet::of(["b", "a"].map(lock).into()).unwrap();
        assert_eq!(locks.len(), 2);
        assert!(locks.keys().contains("a") && locks.keys().contains("b"));
        assert!(!locks.keys().contains("c"));
        assert_eq!(locks.first().key.as_str(), "a");
    }
}
