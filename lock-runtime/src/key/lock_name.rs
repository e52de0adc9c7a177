//! The name of a lock's record, hashed once.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

/// The name of a lock's record, with its hash, since a call looks it up six times.
///
/// The hash is std's, with keys of this process, since names may come from strangers.
#[derive(Clone, Debug)]
pub(crate) struct LockName {
    text: Arc<str>,
    hash: u64,
}

impl LockName {
    pub(super) fn new(text: &str) -> LockName {
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        LockName {
            text: text.into(),
            hash: KEYS.hash_one(text),
        }
    }

    pub(crate) fn known_hash(&self) -> u64 {
        self.hash
    }
}

impl Deref for LockName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq for LockName {
    fn eq(&self, other: &LockName) -> bool {
        self.text == other.text
    }
}

impl Eq for LockName {}

impl Hash for LockName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// A map with lock names as keys, which does not hash them again.
pub(crate) type ByLock<T> = HashMap<LockName, T, BuildHasherDefault<KnownHash>>;

/// Returns the hash that a [`LockName`] contains.
#[derive(Default)]
pub(crate) struct KnownHash(u64);

impl Hasher for KnownHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a name brings its hash as a number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_text() {
        let mut locks = ByLock::default();
        for number in 0..100 {
            let name = LockName::new(&number.to_string());
            assert_eq!(locks.insert(name, number), None);
        }
        for number in 0..100 {
            let name = LockName::new(&number.to_string());
            assert_eq!(locks.get(&name), Some(&number));
        }
        assert_eq!(locks.remove(&LockName::new("another")), None);
    }
}
