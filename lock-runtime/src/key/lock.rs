//! The locks of one call: one, or several that are acquired together.

use std::fmt;
use std::sync::Arc;

use super::lock_key::LockKey;
use super::record_names::RecordNames;
use crate::control::is_removed;

/// A lock to be acquired: its key, and the names of its records.
#[derive(Clone)]
pub(crate) struct Lock {
    pub(crate) key: LockKey,
    pub(crate) names: RecordNames,
}

impl Lock {
    /// Sorts the locks that one call acquires together by the bytes of their names, each once: calls that took locks in
    /// different orders would deadlock. Two keys with the same name are one lock. `None` without any.
    pub(crate) fn in_order(mut locks: Vec<Lock>) -> Option<OneOrMore<Lock>> {
        let name = |lock: &Lock| lock.names.lock.clone();
        if !is_removed!(order_of_keys) {
            locks.sort_by(|one, other| one.names.lock.as_bytes().cmp(other.names.lock.as_bytes()));
        }
        locks.dedup_by_key(|lock| name(lock));
        OneOrMore::of(locks.into_iter())
    }
}

/// A value for each lock that one lease holds, in the order of acquisition; never empty.
#[derive(Clone)]
pub(crate) struct OneOrMore<T> {
    first: T,
    /// `None` for one lock, which nearly every lease has. A thin pointer, since every lease has it.
    others: Option<Arc<Vec<T>>>,
}

impl<T> OneOrMore<T> {
    /// Creates a list of the values in this order; `None` if there are none.
    fn of(mut values: impl ExactSizeIterator<Item = T>) -> Option<OneOrMore<T>> {
        let first = values.next()?;
        let others = (values.len() > 0).then(|| Arc::new(values.collect()));
        Some(OneOrMore { first, others })
    }

    pub(crate) fn first(&self) -> &T {
        &self.first
    }

    pub(crate) fn is_one(&self) -> bool {
        self.others.is_none()
    }

    pub(crate) fn len(&self) -> usize {
        1 + self.others.as_ref().map_or(0, |others| others.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(self.others.iter().flat_map(|others| others.iter()))
    }

    /// Maps the value of each lock.
    fn map<U>(&self, value: impl Fn(&T) -> U) -> OneOrMore<U> {
        OneOrMore {
            first: value(&self.first),
            others: self
                .others
                .as_ref()
                .map(|others| Arc::new(others.iter().map(value).collect())),
        }
    }
}

impl<T> From<T> for OneOrMore<T> {
    fn from(first: T) -> OneOrMore<T> {
        OneOrMore {
            first,
            others: None,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for OneOrMore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl OneOrMore<Lock> {
    pub(crate) fn names(&self) -> OneOrMore<RecordNames> {
        self.map(|lock| lock.names.clone())
    }

    pub(crate) fn keys(&self) -> OneOrMore<LockKey> {
        self.map(|lock| lock.key.clone())
    }
}

impl OneOrMore<LockKey> {
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.iter().any(|held| held.as_str() == key)
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
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
        let locks = Lock::in_order(keys.iter().map(|key| lock(key)).collect()).unwrap();
        let keys = locks.keys();
        keys.iter().map(|key| key.as_str().to_owned()).collect()
    }

    #[test]
    fn locks_are_in_one_order_for_any_order_of_the_call() {
        let sorted = ["a", "a:1", "b", "é"];
        assert_eq!(keys(&["b", "a:1", "é", "a"]), sorted);
        assert_eq!(keys(&["a", "é", "a:1", "b"]), sorted);
    }

    #[test]
    fn lock_that_is_named_twice_is_acquired_once() {
        assert_eq!(keys(&["b", "a", "b", "b"]), ["a", "b"]);
        assert_eq!(keys(&["a", "a"]), ["a"]);
        assert!(Lock::in_order(Vec::new()).is_none());
    }

    #[test]
    fn key_is_found_among_several_keys_of_a_hold() {
        let locks = Lock::in_order(["b", "a"].map(lock).into()).unwrap();
        assert_eq!(locks.len(), 2);
        assert!(locks.keys().contains("a") && locks.keys().contains("b"));
        assert!(!locks.keys().contains("c"));
        assert_eq!(locks.first().key.as_str(), "a");
    }
}
