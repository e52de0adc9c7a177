//! Two keys of one class, one nested in the other.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use foldhash::HashMap;

use super::class::ClassId;
use super::crossing::Crossing;

/// The last pairs of keys that were nested. Keys change all the time, so only some are remembered: the two calls of a
/// deadlock take them at the same time.
#[derive(Debug, Default)]
pub(super) struct KeyPairs {
    crossings: HashMap<Pair, Vec<Crossing>>,
    /// In the order of their arrival.
    order: VecDeque<Pair>,
    hasher: RandomState,
}

/// The class, and the hashes of the key that is held and of the key that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) class: ClassId,
    held: u64,
    asked: u64,
}

impl Pair {
    /// Returns the index of the later key, if keys taken in this order contain the pair the other way round.
    pub(super) fn reverse_in(&self, keys: &[u64]) -> Option<usize> {
        let held = keys.iter().position(|key| *key == self.held)?;
        keys[..held].contains(&self.asked).then_some(held)
    }
}

impl KeyPairs {
    pub(super) fn hash(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }

    pub(super) fn pair(&self, class: ClassId, held: &str, asked: &str) -> Pair {
        Pair {
            class,
            held: self.hash(held),
            asked: self.hash(asked),
        }
    }

    pub(super) fn cover(&self, pair: Pair, crossing: &Crossing) -> bool {
        self.of(pair).iter().any(|known| known.covers(crossing))
    }

    /// Calls that nest the two keys the other way round, so that each waits for the other.
    pub(super) fn reverse(&self, pair: Pair, crossing: &Crossing) -> Option<Crossing> {
        let reverse = Pair {
            held: pair.asked,
            asked: pair.held,
            ..pair
        };
        let waits = |other: &&Crossing| {
            crossing.wait.is_blocked_by(other.hold) && other.wait.is_blocked_by(crossing.hold)
        };
        self.of(reverse).iter().find(waits).copied()
    }

    /// Finds calls that nest two of `keys` in the opposite order, for a call that takes all of them exclusively, in
    /// this order. Also returns the index of the later key.
    pub(super) fn reverse_of_list(
        &self,
        class: ClassId,
        keys: &[u64],
    ) -> Option<(usize, Crossing)> {
        let mut of_class = self.order.iter().filter(|pair| pair.class == class);
        of_class.find_map(|pair| {
            let place = pair.reverse_in(keys)?;
            Some((place, *self.of(*pair).first()?))
        })
    }

    /// Remembers a pair, and drops the oldest one if there are `limit` of them.
    pub(super) fn insert(&mut self, pair: Pair, crossing: Crossing, limit: usize) {
        if let Some(known) = self.crossings.get_mut(&pair) {
            known.push(crossing);
            return;
        }
        // At the limit the oldest entry's memory is reused, so a call whose keys are always new allocates nothing here.
        let mut room = Vec::new();
        if self.order.len() >= limit
            && let Some(oldest) = self.order.pop_front()
        {
            room = self.crossings.remove(&oldest).unwrap_or_default();
            room.clear();
        }
        room.push(crossing);
        self.order.push_back(pair);
        self.crossings.insert(pair, room);
    }

    fn of(&self, pair: Pair) -> &[Crossing] {
        self.crossings.get(&pair).map_or(&[], Vec::as_slice)
    }
}
