//! Compares the keys of one class that one call takes.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

use super::class::ClassId;
use super::crossing::Crossing;
use super::key_pairs::Pair;

/// The last calls that took several keys of one class, each with its keys in order. All such calls take their keys in
/// the same order, so only nested pairs are compared with them.
#[derive(Debug, Default)]
pub(super) struct KeyLists {
    lists: VecDeque<KeyList>,
    /// The number of keys of all of them.
    keys: usize,
    digests: HashSet<u64>,
    hasher: RandomState,
}

#[derive(Debug)]
struct KeyList {
    digest: u64,
    class: ClassId,
    /// The hash of each key.
    keys: Vec<u64>,
    crossing: Crossing,
}

impl KeyLists {
    /// Whether a known call takes these keys. It closes the same rings.
    pub(super) fn is_known(&self, class: ClassId, keys: &[u64]) -> bool {
        self.digests.contains(&self.digest(class, keys))
    }

    /// A call that takes the two keys of a nested pair the other way round. It holds them exclusively, so each waits
    /// for the other.
    pub(super) fn reverse(&self, pair: Pair) -> Option<Crossing> {
        let is_reverse =
            |list: &&KeyList| list.class == pair.class && pair.reverse_in(&list.keys).is_some();
        self.lists.iter().find(is_reverse).map(|list| list.crossing)
    }

    /// Remembers a call, and drops the oldest ones if there are `limit` keys.
    pub(super) fn insert(
        &mut self,
        class: ClassId,
        keys: &[u64],
        crossing: Crossing,
        limit: usize,
    ) {
        // At the limit the oldest list's memory is reused, so a call whose keys are always new allocates nothing here.
        let mut room = Vec::new();
        while self.keys + keys.len() > limit
            && let Some(oldest) = self.lists.pop_front()
        {
            self.keys -= oldest.keys.len();
            self.digests.remove(&oldest.digest);
            room = oldest.keys;
        }
        room.clear();
        room.extend_from_slice(keys);
        let digest = self.digest(class, keys);
        self.keys += keys.len();
        self.digests.insert(digest);
        self.lists.push_back(KeyList {
            digest,
            class,
            keys: room,
            crossing,
        });
    }

    fn digest(&self, class: ClassId, keys: &[u64]) -> u64 {
        self.hasher.hash_one((class, keys))
    }
}
