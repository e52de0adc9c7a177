//! Where a lock's records live.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use super::key_problem::{KeyProblem, MAX_KEY_LEN};
use super::lock_key::LockKey;

const FENCE: &str = ":f";
const QUEUE: &str = ":w";

/// The names of the three records of one lock, all in the same cluster slot. A clone costs no memory.
///
/// A name with a hash tag hashes by the tag, so a suffix does not move it. Any other name hashes as
/// a whole, and becomes the tag of its neighbours: `{lock:order:42}:f`.
///
/// Names of fences and queues therefore always have a tag. A lock can be taken for one only if its
/// own name has a tag too, which is why the suffixes are reserved there alone: `user:<name>` must
/// work for a user called `f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordNames {
    pub(crate) lock: LockName,
    /// Whether the lock's name has a hash tag.
    tagged: bool,
}

/// The name of a lock's record, with its hash: a call looks it up six times.
///
/// The hash is std's, with keys of this process, since names may be chosen by strangers.
#[derive(Clone, Debug)]
pub(crate) struct LockName {
    text: Arc<str>,
    hash: u64,
}

/// Keeps what is kept by the names of locks, and does not hash them again.
pub(crate) type ByLock<T> = HashMap<LockName, T, BuildHasherDefault<KnownHash>>;

impl LockName {
    fn new(text: &str) -> LockName {
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        LockName {
            text: text.into(),
            hash: KEYS.hash_one(text),
        }
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

/// The hash that a [`LockName`] brings.
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

impl RecordNames {
    /// Checks the key and names its records.
    pub(crate) fn new(prefix: &str, key: &LockKey) -> Result<RecordNames, KeyProblem> {
        if let Some(problem) = key.problem() {
            return Err(problem.clone());
        }
        let length = key.as_str().len();
        if length == 0 {
            return Err(KeyProblem::Empty);
        }
        if length > MAX_KEY_LEN {
            return Err(KeyProblem::TooLong { bytes: length });
        }
        RecordNames::of_lock([prefix, key.as_str()].concat())
    }

    /// The records of the lock that Redis knows by this name.
    pub(crate) fn of_lock(name: String) -> Result<RecordNames, KeyProblem> {
        let tagged = is_tagged(&name)?;
        if tagged {
            refuse_reserved(&name)?;
        }
        Ok(RecordNames {
            lock: LockName::new(&name),
            tagged,
        })
    }

    pub(crate) fn fence(&self) -> Beside<'_> {
        Beside(self, FENCE)
    }

    pub(crate) fn queue(&self) -> Beside<'_> {
        Beside(self, QUEUE)
    }
}

/// The name of a record beside a lock. It is written where it is sent, and kept nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside<'a>(&'a RecordNames, &'static str);

impl<'a> Beside<'a> {
    /// What it consists of, for those who write it for every command.
    pub(crate) fn parts(self) -> [&'a str; 4] {
        let Beside(RecordNames { lock, tagged }, suffix) = self;
        match tagged {
            true => ["", lock, "", suffix],
            false => ["{", lock, "}", suffix],
        }
    }
}

impl fmt::Display for Beside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts()
            .into_iter()
            .try_for_each(|part| f.write_str(part))
    }
}

/// Whether a name has a hash tag, by the rule of Redis: the first `{`, the first `}` after it, and
/// something in between.
fn is_tagged(name: &str) -> Result<bool, KeyProblem> {
    let tag = name.find('{').and_then(|open| name[open + 1..].find('}'));
    match tag {
        Some(0) => Err(KeyProblem::EmptyTag),
        Some(_) => Ok(true),
        // Wrapped in braces, the tag would end at this brace, in another slot.
        None if name.contains('}') => Err(KeyProblem::CloseWithoutTag),
        None => Ok(false),
    }
}

/// Whether a key by itself is refused for the name of a record beside a lock.
pub(crate) fn is_reserved(key: &str) -> bool {
    is_tagged(key) == Ok(true) && refuse_reserved(key).is_err()
}

fn refuse_reserved(name: &str) -> Result<(), KeyProblem> {
    match [FENCE, QUEUE]
        .into_iter()
        .find(|suffix| name.ends_with(suffix))
    {
        Some(suffix) => Err(KeyProblem::ReservedSuffix(suffix)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
