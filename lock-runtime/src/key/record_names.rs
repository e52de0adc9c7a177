//! The names of a lock's records.
//!
//! # Invariants
//!
//! - No two locks share a record: names that would are refused.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use super::key_problem::{KeyProblem, MAX_KEY_LEN};
use super::lock_key::LockKey;
use super::stack_text::StackText;

/// A kind of record. Every lock may have one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// The holder of the lock.
    Lock,
    /// The last fencing token.
    Fence,
    /// The waiters.
    Queue,
    /// The owners that share the lock.
    Shares,
    /// The runs of the lock's calls, for callers that record them.
    Runs,
    /// For a lock in Redisson's record: the waiters of a fair lock, which only Redisson writes.
    FairQueue,
}

impl RecordKind {
    pub(crate) const ALL: [RecordKind; 5] = [
        RecordKind::Lock,
        RecordKind::Fence,
        RecordKind::Queue,
        RecordKind::Shares,
        RecordKind::Runs,
    ];

    /// Returns the end of the record's name; none for the lock itself.
    const fn suffix(self) -> Option<&'static str> {
        match self {
            RecordKind::Lock | RecordKind::FairQueue => None,
            RecordKind::Fence => Some(":f"),
            RecordKind::Queue => Some(":w"),
            RecordKind::Shares => Some(":r"),
            RecordKind::Runs => Some(":h"),
        }
    }
}

/// A record that all locks of a prefix have in common. Its name is the prefix as a hash tag, and a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommonRecord {
    /// The time from which a quorum node votes.
    Marker,
    /// The audit: what operators did.
    Audit,
}

impl CommonRecord {
    pub(crate) const ALL: [CommonRecord; 2] = [CommonRecord::Marker, CommonRecord::Audit];

    const fn suffix(self) -> &'static str {
        match self {
            CommonRecord::Marker => ":n",
            CommonRecord::Audit => ":audit",
        }
    }

    /// Returns the name of the record for the locks of this prefix.
    pub(crate) fn name(self, prefix: &str) -> String {
        format!("{{{prefix}}}{}", self.suffix())
    }
}

/// The start of the names of Redisson's queues of fair locks.
const FAIR_QUEUE: &str = "redisson_lock_queue:";

/// The name of a lock's record, with its hash, since a call looks it up six times.
///
/// The hash is std's, with keys of this process, since names may come from strangers.
#[derive(Clone, Debug)]
pub(crate) struct LockName {
    text: Arc<str>,
    hash: u64,
}

impl LockName {
    fn new(text: &str) -> LockName {
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

/// The names of the records of one lock, all in the same cluster slot. A clone costs no memory.
///
/// A name with a hash tag hashes by the tag, so a suffix does not move it. Any other name hashes as a whole, and
/// becomes the tag of the lock's other records: `{lock:order:42}:f`.
///
/// No two locks share a record, since these names are refused:
///
/// - a tagged name that ends in `:f`, `:w`, `:r` or `:h`. The other records of a lock have a tag, so names without a tag may
///   have these suffixes: `user:<name>` must work for a user called `f`;
/// - a tag and nothing else, since `{a}:f` would be the fence of `{a}` and of `a`;
/// - a tag and the suffix of a [`CommonRecord`];
/// - a name of a queue that Redisson keeps.
///
/// A prefix has no braces, so the second and the third rule concern only clients with an empty prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordNames {
    pub(crate) lock: LockName,
    /// Whether the lock's name has a hash tag.
    is_tagged: bool,
}

impl RecordNames {
    /// Checks the key and names its records.
    pub(crate) fn new(prefix: &str, key: &LockKey) -> Result<RecordNames, KeyProblem> {
        RecordNames::check(key)?;
        let mut name = StackText::default();
        name.push_str(prefix);
        name.push_str(key.as_str());
        RecordNames::of_name(name.as_str())
    }

    /// Checks the key by itself.
    pub(crate) fn check(key: &LockKey) -> Result<(), KeyProblem> {
        if let Some(problem) = key.problem() {
            return Err(problem.clone());
        }
        match key.as_str().len() {
            0 => Err(KeyProblem::Empty),
            bytes if bytes > MAX_KEY_LEN => Err(KeyProblem::TooLong { bytes }),
            _ => Ok(()),
        }
    }

    /// Names the records of the lock with this name in Redis.
    pub(crate) fn of_lock(name: String) -> Result<RecordNames, KeyProblem> {
        RecordNames::of_name(&name)
    }

    fn of_name(name: &str) -> Result<RecordNames, KeyProblem> {
        let is_tagged = is_tagged(name)?;
        if is_tagged {
            refuse_end(name)?;
        }
        if name.starts_with(FAIR_QUEUE) {
            return Err(KeyProblem::ReservedName);
        }
        Ok(RecordNames {
            lock: LockName::new(name),
            is_tagged,
        })
    }

    pub(crate) fn of(&self, record: RecordKind) -> NameOf<'_> {
        NameOf {
            names: self,
            record,
        }
    }
}

/// The name of one record. It is written directly into the command, and never stored as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameOf<'a> {
    names: &'a RecordNames,
    record: RecordKind,
}

impl<'a> NameOf<'a> {
    /// Returns the parts of the name in order, so that a command can be written without allocation.
    pub(crate) fn parts(self) -> [&'a str; 4] {
        let lock = &*self.names.lock;
        match (self.record, self.record.suffix()) {
            // Redisson adds no braces to a name that has one.
            (RecordKind::FairQueue, _) if lock.contains('{') => [FAIR_QUEUE, lock, "", ""],
            (RecordKind::FairQueue, _) => ["redisson_lock_queue:{", lock, "}", ""],
            (_, None) => ["", lock, "", ""],
            (_, Some(suffix)) if self.names.is_tagged => ["", lock, "", suffix],
            (_, Some(suffix)) => ["{", lock, "}", suffix],
        }
    }
}

impl fmt::Display for NameOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts()
            .into_iter()
            .try_for_each(|part| f.write_str(part))
    }
}

/// Returns whether a name has a hash tag, by the rule of Redis: the first `{`, the first `}` after it, and something in
/// between.
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

/// Returns whether a client with some prefix refuses this key because of its end.
pub(crate) fn has_reserved_end(key: &str) -> bool {
    is_tagged(key) == Ok(true) && refuse_end(key).is_err()
}

/// Refuses a tagged name that ends like the name of another record.
fn refuse_end(name: &str) -> Result<(), KeyProblem> {
    let mut suffixes = RecordKind::ALL.into_iter().filter_map(RecordKind::suffix);
    if let Some(suffix) = suffixes.find(|suffix| name.ends_with(suffix)) {
        return Err(KeyProblem::ReservedSuffix(suffix));
    }
    let behind_the_first = name
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
        .map(|(_, end)| end);
    match behind_the_first {
        Some("") => Err(KeyProblem::TagAlone),
        Some(end) if CommonRecord::ALL.iter().any(|it| it.suffix() == end) => {
            Err(KeyProblem::ReservedName)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
