//! Compares the placement of the slots with the last one, to report moves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node_name::NodeName;

/// The index that means that no node has the slot.
pub(super) const NONE: u16 = u16::MAX;

/// The primary of each slot.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    /// The index of each slot's primary.
    pub(super) owners: Arc<[u16]>,
    pub(super) primaries: Vec<NodeName>,
}

/// This many slots moved from one primary to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SlotsMoved {
    pub(super) from: NodeName,
    pub(super) to: NodeName,
    pub(super) slots: usize,
}

impl Placement {
    /// Replaces the placement, and returns what has moved. A slot without a primary has not moved until it has one.
    pub(super) fn become_now(&mut self, now: Placement) -> Vec<SlotsMoved> {
        let before = std::mem::replace(self, now);
        let mut counts: BTreeMap<(u16, u16), usize> = BTreeMap::new();
        let mut homeless = Vec::new();
        for (slot, pair) in before.owners.iter().zip(&*self.owners).enumerate() {
            match pair {
                (&from, &NONE) if from != NONE => homeless.push((slot, from)),
                (&from, &to) => *counts.entry((from, to)).or_default() += 1,
            }
        }
        let moved = counts.into_iter().filter_map(|((from, to), slots)| {
            let from = before.name(from)?.clone();
            let to = self.name(to)?.clone();
            (from != to).then_some(SlotsMoved { from, to, slots })
        });
        let moved = moved.collect();
        for (slot, from) in homeless {
            let index = before.name(from).map_or(NONE, |name| self.index(name));
            Arc::make_mut(&mut self.owners)[slot] = index;
        }
        moved
    }

    fn name(&self, index: u16) -> Option<&NodeName> {
        self.primaries.get(usize::from(index))
    }

    fn index(&mut self, name: &NodeName) -> u16 {
        let known = self.primaries.iter().position(|other| other == name);
        let index = known.unwrap_or_else(|| {
            self.primaries.push(name.clone());
            self.primaries.len() - 1
        });
        u16::try_from(index).unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(port: u16) -> NodeName {
        NodeName::new("10.0.0.1", port)
    }

    /// Creates the placement of four slots by the ports of their primaries. Port 0 means none.
    fn placement(ports: [u16; 4]) -> Placement {
        let mut placement = Placement {
            owners: Arc::new([NONE; 4]),
            primaries: Vec::new(),
        };
        let owners = ports.map(|port| match port {
            0 => NONE,
            port => placement.index(&node(port)),
        });
        placement.owners = owners.into();
        placement
    }

    fn moved(from: u16, to: u16, slots: usize) -> SlotsMoved {
        SlotsMoved {
            from: node(from),
            to: node(to),
            slots,
        }
    }

    #[test]
    fn slots_are_counted_by_the_primaries_between_which_they_moved() {
        let mut told = placement([1, 1, 2, 2]);
        assert_eq!(told.become_now(placement([2, 1, 2, 2])), [moved(1, 2, 1)]);
        assert_eq!(
            told.become_now(placement([3, 3, 3, 1])),
            [moved(2, 3, 2), moved(2, 1, 1), moved(1, 3, 1)]
        );
        assert_eq!(told.become_now(placement([3, 3, 3, 1])), []);
    }

    #[test]
    fn slot_that_was_nobodys_for_a_while_has_moved_from_its_last_primary() {
        let mut told = placement([1, 1, 2, 0]);
        for _ in 0..2 {
            assert_eq!(told.become_now(placement([0, 0, 2, 2])), []);
        }
        assert_eq!(told.become_now(placement([3, 1, 2, 2])), [moved(1, 3, 1)]);
    }
}
