//! What a key holds.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash as Hashed, Hasher};

/// A key, a member, a field or a text.
pub type Bytes = Vec<u8>;
/// The fields of a hash. Unlike a server's, they are in order.
pub type Hash = BTreeMap<Bytes, Bytes>;
/// The elements of a list, the head first.
pub type List = VecDeque<Bytes>;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A text.
    String(Bytes),
    /// A list.
    List(List),
    /// A hash.
    Hash(Hash),
    /// A sorted set.
    SortedSet(SortedSet),
    /// A stream.
    Stream(Stream),
}

impl Value {
    /// Returns the type as `TYPE` names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "string",
            Self::List(_) => "list",
            Self::Hash(_) => "hash",
            Self::SortedSet(_) => "zset",
            Self::Stream(_) => "stream",
        }
    }

    /// Returns whether a server removes a key with this value.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Self::String(_) | Self::Stream(_) => false,
            Self::List(list) => list.is_empty(),
            Self::Hash(hash) => hash.is_empty(),
            Self::SortedSet(set) => set.is_empty(),
        }
    }
}

/// A type of value.
pub(crate) trait Stored: Default {
    fn of(value: &mut Value) -> Option<&mut Self>;
    fn into_value(self) -> Value;
}

macro_rules! stored {
    ($($kind:ident($of:ty)),+ $(,)?) => {$(
        impl Stored for $of {
            fn of(value: &mut Value) -> Option<&mut Self> {
                match value {
                    Value::$kind(of) => Some(of),
                    _ => None,
                }
            }

            fn into_value(self) -> Value {
                Value::$kind(self)
            }
        }
    )+};
}

stored! { String(Bytes), List(List), Hash(Hash), SortedSet(SortedSet), Stream(Stream) }

/// The members of a sorted set, found by name and in the order of their scores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SortedSet {
    scores: BTreeMap<Bytes, Score>,
    order: BTreeSet<(Score, Bytes)>,
}

impl SortedSet {
    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// Returns the member's score.
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).map(|score| score.0)
    }

    /// Adds a member, or changes its score. Returns whether the member is new.
    pub fn insert(&mut self, member: &[u8], score: f64) -> bool {
        let old = self.scores.insert(member.to_vec(), Score(score));
        if let Some(old) = old {
            self.order.remove(&(old, member.to_vec()));
        }
        self.order.insert((Score(score), member.to_vec()));
        old.is_none()
    }

    /// Removes a member. Returns whether there was one.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        let score = self.scores.remove(member);
        score.is_some_and(|score| self.order.remove(&(score, member.to_vec())))
    }

    /// Returns the members and their scores, the lowest score first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Bytes, f64)> {
        self.order.iter().map(|(score, member)| (member, score.0))
    }
}

/// A score, which is never NaN. Both zeros are equal.
#[derive(Clone, Copy, Debug)]
pub struct Score(pub f64);

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        // Adding zero turns -0 into 0.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}

impl Hashed for Score {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 + 0.0).to_bits().hash(state);
    }
}

/// The entries of a stream. The last id survives the entry, so that ids never repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stream {
    /// The entries: each id, with its fields and values in turn.
    pub entries: VecDeque<(StreamId, Vec<Bytes>)>,
    /// The last id that an entry had.
    pub last: StreamId,
}

/// The id of an entry: milliseconds, and a number within the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// The time of the entry in ms since 1970.
    pub ms: u64,
    /// Its number within the millisecond.
    pub number: u64,
}
