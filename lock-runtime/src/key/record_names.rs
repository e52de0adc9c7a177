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
mod tests {
    use super::super::key_writer::KeyWriter;
    use super::*;

    fn names(key: &str) -> Result<RecordNames, KeyProblem> {
        RecordNames::new("lock:", &LockKey::from(key))
    }

    /// The slot of a key as the cluster specification defines it: CRC16/XMODEM of the hash tag, or
    /// of everything, modulo 16384.
    fn slot(name: &str) -> u16 {
        let hashed = match name
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'))
        {
            Some((tag, _)) if !tag.is_empty() => tag,
            _ => name,
        };
        let crc = hashed.bytes().fold(0_u16, |crc, byte| {
            (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
                (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
            })
        });
        crc % 16384
    }

    #[test]
    fn the_slot_function_is_that_of_redis() {
        // Figures of the cluster specification and of `CLUSTER KEYSLOT`.
        assert_eq!(slot("123456789"), 0x31C3);
        assert_eq!(slot("foo"), 12182);
        assert_eq!(slot("{foo}.x"), 12182);
    }

    #[test]
    fn names_are_looked_up_by_their_text() {
        let lock = |key: &str| names(key).unwrap().lock;
        let mut locks = ByLock::default();
        for number in 0..100 {
            assert_eq!(locks.insert(lock(&number.to_string()), number), None);
        }
        for number in 0..100 {
            assert_eq!(locks.get(&lock(&number.to_string())), Some(&number));
        }
        assert_eq!(locks.remove(&lock("another")), None);
    }

    #[test]
    fn an_untagged_lock_is_wrapped_by_its_neighbours() {
        let names = names("order:42").unwrap();
        assert_eq!(&*names.lock, "lock:order:42");
        assert_eq!(names.fence().to_string(), "{lock:order:42}:f");
        assert_eq!(names.queue().to_string(), "{lock:order:42}:w");
    }

    #[test]
    fn a_tagged_lock_is_appended_to() {
        let names = names("{order}:42").unwrap();
        assert_eq!(&*names.lock, "lock:{order}:42");
        assert_eq!(names.fence().to_string(), "lock:{order}:42:f");
        assert_eq!(names.queue().to_string(), "lock:{order}:42:w");
    }

    #[test]
    fn the_three_records_share_a_slot() {
        for key in [
            "order:42",
            "{order}:42",
            "a{b}c",
            "a{b}c}d",
            "{a}{b}",
            "a{b",
            "a{{b",
            "{a{b}",
            "é{漢}🦀",
            "}{a}",
        ] {
            let names = names(key).unwrap_or_else(|problem| panic!("{key}: {problem}"));
            assert_eq!(slot(&names.lock), slot(&names.fence().to_string()), "{key}");
            assert_eq!(slot(&names.lock), slot(&names.queue().to_string()), "{key}");
        }
    }

    #[test]
    fn random_names_share_a_slot_or_are_refused() {
        const PIECES: [&str; 12] = [
            "{", "}", "{", "}", ":", ":f", ":w", "a", "b", "é", "🦀", "{a}",
        ];
        let mut word = 1_u64;
        let mut below = |n: usize| {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (word >> 33) as usize % n
        };
        let (mut tagged, mut plain) = (0, 0);
        for _ in 0..100_000 {
            let key: String = (0..=below(7))
                .map(|_| PIECES[below(PIECES.len())])
                .collect();
            let Ok(names) = names(&key) else { continue };
            assert_eq!(slot(&names.lock), slot(&names.fence().to_string()), "{key}");
            assert_eq!(slot(&names.lock), slot(&names.queue().to_string()), "{key}");
            *if names.tagged {
                &mut tagged
            } else {
                &mut plain
            } += 1;
        }
        assert!(tagged > 10_000 && plain > 10_000, "{tagged} {plain}");
    }

    #[test]
    fn a_prefix_may_bring_the_tag() {
        let names = RecordNames::new("{shop}:", &LockKey::from("order:42")).unwrap();
        assert_eq!(names.fence().to_string(), "{shop}:order:42:f");
        assert_eq!(slot(&names.lock), slot("shop"));
    }

    #[test]
    fn no_lock_is_named_like_another_locks_record() {
        // Every name that `names` accepts, against every record of every other.
        let keys = [
            "a",
            "a:f",
            "a:w",
            "{a}",
            "{a}:f",
            "{a}:w",
            "{lock:a}:f",
            "{lock:{a}:f",
            "a:f:f",
            "{a}b",
            "{a}b:w",
        ];
        for prefix in ["", "lock:", "{t}"] {
            let named: Vec<_> = keys
                .iter()
                .filter_map(|key| RecordNames::new(prefix, &LockKey::from(*key)).ok())
                .collect();
            for one in &named {
                for other in &named {
                    assert_ne!(*one.lock, *other.fence().to_string());
                    assert_ne!(*one.lock, *other.queue().to_string());
                }
            }
        }
        assert!(names("user:f").is_ok(), "a user may be called `f`");
    }

    #[test]
    fn bad_keys_are_refused() {
        let longest = "x".repeat(MAX_KEY_LEN);
        assert!(names(&longest).is_ok());
        for (key, problem) in [
            ("", KeyProblem::Empty),
            (&*format!("{longest}x"), KeyProblem::TooLong { bytes: 513 }),
            ("order:{}", KeyProblem::EmptyTag),
            ("{}{a}", KeyProblem::EmptyTag),
            ("order}", KeyProblem::CloseWithoutTag),
            ("a}b{c", KeyProblem::CloseWithoutTag),
            ("{order}:f", KeyProblem::ReservedSuffix(":f")),
            ("{order}:w", KeyProblem::ReservedSuffix(":w")),
        ] {
            assert_eq!(names(key), Err(problem), "{key}");
        }
    }

    #[test]
    fn a_problem_of_the_writing_is_reported_here() {
        let mut key = KeyWriter::new();
        key.text("order:");
        key.placeholder("id", &"");
        let problem = RecordNames::new("lock:", &key.finish()).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "the value of `<id>` in the key is empty"
        );

        let template = RecordNames::new("lock:", &LockKey::literal("order:<id>")).unwrap_err();
        assert_eq!(template, KeyProblem::Template("id".into()));
    }
}
