//! The locks that one call acquires together.

use std::fmt;

use super::key_set::KeySet;
use super::lock_key::LockKey;
use super::record_names::RecordNames;

/// A lock to be acquired: its key, and the names of its records.
#[derive(Clone)]
pub(crate) struct Lock {
    pub(crate) key: LockKey,
    pub(crate) names: RecordNames,
}

/// The locks that one call acquires together, in the order in which every call acquires them. One for now.
#[derive(Clone)]
pub(crate) struct LockSet(Lock);

impl LockSet {
    pub(crate) fn one(key: LockKey, names: RecordNames) -> LockSet {
        LockSet(Lock { key, names })
    }

    pub(crate) fn first(&self) -> &Lock {
        &self.0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lock> {
        std::iter::once(&self.0)
    }

    pub(crate) fn keys(&self) -> KeySet {
        KeySet::from(self.first().key.clone())
    }
}

impl fmt::Debug for LockSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|lock| &lock.key))
            .finish()
    }
}
