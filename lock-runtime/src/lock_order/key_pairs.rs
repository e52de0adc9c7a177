//! Two keys of one class, nested in each other.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use foldhash::HashMap;

use super::class::ClassId;
use super::crossing::Crossing;

/// The last pairs of keys that were nested in each other. Keys come and go, so there is an end to what is remembered: the
/// two calls of a deadlock nest at the same time.
#[derive(Debug, Default)]
pub(super) struct KeyPairs {
    seen: HashMap<Pair, Vec<Crossing>>,
    /// In the order of their arrival.
    order: VecDeque<Pair>,
    hasher: RandomState,
}

/// The class, and the hashes of the key that is held and of the key that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    class: ClassId,
    held: u64,
    asked: u64,
}

impl KeyPairs {
    pub(super) fn pair(&self, class: ClassId, held: &str, asked: &str) -> Pair {
        Pair {
            class,
            held: self.hasher.hash_one(held),
            asked: self.hasher.hash_one(asked),
        }
    }

    pub(super) fn cover(&self, pair: Pair, crossing: &Crossing) -> bool {
        let known = self.seen.get(&pair);
        known.is_some_and(|known| known.iter().any(|known| known.covers(crossing)))
    }

    /// A call that nested the two keys the other way round, so that each waits for the other.
    pub(super) fn reverse(&self, pair: Pair, crossing: &Crossing) -> Option<Crossing> {
        let reverse = Pair {
            held: pair.asked,
            asked: pair.held,
            ..pair
        };
        let waits = |other: &&Crossing| {
            crossing.wait.is_blocked_by(other.hold) && other.wait.is_blocked_by(crossing.hold)
        };
        self.seen.get(&reverse)?.iter().find(waits).copied()
    }

    /// Remembers a pair, in place of the oldest one if there are `limit` of them.
    pub(super) fn insert(&mut self, pair: Pair, crossing: Crossing, limit: usize) {
        if let Some(known) = self.seen.get_mut(&pair) {
            known.push(crossing);
            return;
        }
        if self.order.len() >= limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        self.order.push_back(pair);
        self.seen.insert(pair, vec![crossing]);
    }
}
