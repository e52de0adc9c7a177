//! The keys of the locks that one lease holds together.

use std::fmt;

use super::lock_key::LockKey;

/// The keys of the locks that one lease holds together, in the order in which they were acquired. One for
/// now.
#[derive(Clone)]
pub(crate) struct KeySet(LockKey);

impl KeySet {
    pub(crate) fn first(&self) -> &LockKey {
        &self.0
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.iter().any(|held| held.as_str() == key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LockKey> {
        std::iter::once(&self.0)
    }
}

impl From<LockKey> for KeySet {
    fn from(key: LockKey) -> KeySet {
        KeySet(key)
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
