//! The keys of the locks that one lease holds together.

use std::fmt;
use std::sync::Arc;

use super::lock_key::LockKey;

/// The keys of the locks that one lease holds together, in the order in which they are acquired; never empty.
#[derive(Clone)]
pub(crate) struct KeySet {
    first: LockKey,
    /// `None` for one key, which nearly every lease has. A thin pointer, since every lease has it.
    others: Option<Arc<Vec<LockKey>>>,
}

impl KeySet {
    pub(super) fn new(first: LockKey, others: impl ExactSizeIterator<Item = LockKey>) -> KeySet {
        let others = (others.len() > 0).then(|| Arc::new(others.collect()));
        KeySet { first, others }
    }

    pub(crate) fn first(&self) -> &LockKey {
        &self.first
    }

    pub(crate) fn is_one(&self) -> bool {
        self.others.is_none()
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.iter().any(|held| held.as_str() == key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LockKey> {
        std::iter::once(&self.first).chain(self.others.iter().flat_map(|others| others.iter()))
    }
}

impl From<LockKey> for KeySet {
    fn from(first: LockKey) -> KeySet {
        let others = None;
        KeySet { first, others }
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
