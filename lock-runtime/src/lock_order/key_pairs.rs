//! Two keys of one class, taken one after the other.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use foldhash::HashMap;

use super::class::ClassId;
use super::crossing::Crossing;
use super::step::Step;

/// The last pairs of keys that were taken one after the other. Keys come and go, so there is an end to what is remembered:
/// the two calls of a deadlock take them at the same time.
#[derive(Debug, Default)]
pub(super) struct KeyPairs {
    nested: Seen,
    /// Apart, since there may be many more of them. Two of these are never in opposite orders.
    together: Seen,
    hasher: RandomState,
}

/// The pairs that were seen, in some number.
#[derive(Debug, Default)]
struct Seen {
    crossings: HashMap<Pair, Vec<Crossing>>,
    /// In the order of their arrival.
    order: VecDeque<Pair>,
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
        let seen = match crossing.step {
            Step::Nested => &self.nested,
            Step::Together => &self.together,
        };
        seen.of(pair).iter().any(|known| known.covers(crossing))
    }

    /// A call that took the two keys the other way round, so that each waits for the other.
    pub(super) fn reverse(&self, pair: Pair, crossing: &Crossing) -> Option<Crossing> {
        let reverse = Pair {
            held: pair.asked,
            asked: pair.held,
            ..pair
        };
        let waits = |other: &&Crossing| {
            crossing.wait.is_blocked_by(other.hold) && other.wait.is_blocked_by(crossing.hold)
        };
        let together = match crossing.step {
            Step::Nested => self.together.of(reverse),
            Step::Together => &[],
        };
        let others = self.nested.of(reverse).iter().chain(together);
        others.copied().find(|other| waits(&other))
    }

    /// Remembers a pair, in place of the oldest one if there are `limit` of them.
    pub(super) fn insert(&mut self, pair: Pair, crossing: Crossing, limit: usize) {
        let seen = match crossing.step {
            Step::Nested => &mut self.nested,
            Step::Together => &mut self.together,
        };
        seen.insert(pair, crossing, limit);
    }
}

impl Seen {
    fn of(&self, pair: Pair) -> &[Crossing] {
        self.crossings.get(&pair).map_or(&[], Vec::as_slice)
    }

    fn insert(&mut self, pair: Pair, crossing: Crossing, limit: usize) {
        if let Some(known) = self.crossings.get_mut(&pair) {
            known.push(crossing);
            return;
        }
        // A call whose keys are new each time allocates nothing here once there are so many.
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
}
