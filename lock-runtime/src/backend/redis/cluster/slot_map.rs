//! Maps slots to nodes, as far as is known.

use std::sync::Arc;

use super::node_name::NodeName;
use super::placement::{NONE, Placement};
use super::slots_reply::SlotsReply;
use crate::key::SLOTS;

/// The primary of each slot.
#[derive(Debug)]
pub(super) struct SlotMap {
    /// The index of each slot's primary.
    owners: Arc<[u16]>,
    /// The primaries of the last answer, and the nodes that redirections have named since.
    primaries: Vec<NodeName>,
    replicas: Vec<NodeName>,
    /// The slots that nodes have reported as moved since the answer in flight was requested.
    moved: Vec<(u16, NodeName)>,
}

/// The slots that have a new primary.
#[derive(Debug)]
pub(super) struct MovedSlots {
    before: Arc<[u16]>,
    after: Arc<[u16]>,
}

impl MovedSlots {
    pub(super) fn contains(&self, slot: u16) -> bool {
        let slot = usize::from(slot);
        self.before[slot] != self.after[slot]
    }

    fn is_empty(&self) -> bool {
        let mut slots = 0..SLOTS as u16;
        !slots.any(|slot| self.contains(slot))
    }
}

impl Default for SlotMap {
    fn default() -> SlotMap {
        SlotMap {
            owners: vec![NONE; SLOTS].into(),
            primaries: Vec::new(),
            replicas: Vec::new(),
            moved: Vec::new(),
        }
    }
}

impl SlotMap {
    /// Returns the primary of a slot.
    pub(super) fn owner(&self, slot: u16) -> Option<&NodeName> {
        let owner = self.owners[usize::from(slot)];
        self.primaries.get(usize::from(owner))
    }

    /// Returns whether no answer was learnt yet.
    pub(super) fn is_empty(&self) -> bool {
        self.primaries.is_empty()
    }

    /// Returns the placement of all slots.
    pub(super) fn placement(&self) -> Placement {
        Placement {
            owners: self.owners.clone(),
            primaries: self.primaries.clone(),
        }
    }

    /// Iterates over the primaries that have slots.
    pub(super) fn primaries(&self) -> impl Iterator<Item = &NodeName> {
        let indices = 0..self.primaries.len();
        let has_slots =
            |&index: &usize| self.owners.iter().any(|&owner| usize::from(owner) == index);
        indices
            .filter(has_slots)
            .map(|index| &self.primaries[index])
    }

    /// Iterates over all nodes that can report the slot map.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeName> {
        self.primaries.iter().chain(&self.replicas)
    }

    /// Notes that a node has named another one for a slot. Returns `None` if that was known, or if nodes contradict
    /// each other: between two answers to CLUSTER SLOTS, a slot is reported as moved at most once.
    pub(super) fn note_moved(&mut self, slot: u16, to: NodeName) -> Option<MovedSlots> {
        if self.owner(slot) == Some(&to) {
            return None;
        }
        let is_news = !self.moved.iter().any(|&(moved, _)| moved == slot);
        let before = is_news.then(|| self.owners.clone());
        self.set(slot, &to);
        self.moved.retain(|&(moved, _)| moved != slot);
        self.moved.push((slot, to));
        let after = self.owners.clone();
        before.map(|before| MovedSlots { before, after })
    }

    /// Notes that a refresh begins: its answer does not override redirections from now on.
    pub(super) fn begin_refresh(&mut self) {
        self.moved.clear();
    }

    /// Learns the nodes' answers. The first one takes precedence. A slot that none of them places stays where it was.
    /// Returns `None` if no slot has moved.
    pub(super) fn learn(&mut self, replies: Vec<SlotsReply>) -> Option<MovedSlots> {
        let (before, is_first) = (self.owners.clone(), self.is_empty());
        // An index stands for the same node before and after.
        let mut owners = vec![NONE; SLOTS];
        self.replicas.clear();
        for range in replies.iter().flat_map(|reply| &reply.unnamed) {
            let slots = usize::from(*range.start())..=usize::from(*range.end());
            owners[slots.clone()].copy_from_slice(&before[slots]);
        }
        // The first answer is written last, to take precedence.
        for range in replies.into_iter().rev().flat_map(|reply| reply.ranges) {
            let index = self.index(&range.primary);
            for slot in range.slots {
                owners[usize::from(slot)] = index;
            }
            self.replicas.extend(range.replicas);
        }
        self.replicas.dedup();
        self.owners = owners.into();
        for (slot, to) in std::mem::take(&mut self.moved) {
            self.set(slot, &to);
        }
        let after = self.owners.clone();
        self.forget_without_slots();
        let moved = MovedSlots { before, after };
        // The first map reports no moves, since nothing was known before.
        (!is_first && !moved.is_empty()).then_some(moved)
    }

    fn set(&mut self, slot: u16, to: &NodeName) {
        let index = self.index(to);
        Arc::make_mut(&mut self.owners)[usize::from(slot)] = index;
    }

    /// Removes the primaries without slots, so that the list never exceeds one answer plus later redirections. The
    /// remaining ones get new indices.
    fn forget_without_slots(&mut self) {
        let mut indices = vec![NONE; self.primaries.len()];
        let mut primaries = Vec::new();
        let owners = self.owners.iter().map(|&owner| {
            let index = indices.get_mut(usize::from(owner))?;
            if *index == NONE {
                *index = primaries.len() as u16;
                primaries.push(self.primaries[usize::from(owner)].clone());
            }
            Some(*index)
        });
        self.owners = owners.map(|owner| owner.unwrap_or(NONE)).collect();
        self.primaries = primaries;
    }

    /// Returns the index of a primary, which is added if it is new.
    fn index(&mut self, primary: &NodeName) -> u16 {
        let known = self.primaries.iter().position(|other| other == primary);
        let index = known.unwrap_or_else(|| {
            self.primaries.push(primary.clone());
            self.primaries.len() - 1
        });
        u16::try_from(index).expect("a cluster has fewer nodes than slots")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::redis::cluster::slots_reply::SlotRange;

    fn node(port: u16) -> NodeName {
        NodeName::new("10.0.0.1", port)
    }

    fn range(first: u16, last: u16, port: u16) -> SlotRange {
        SlotRange {
            slots: first..=last,
            primary: node(port),
            replicas: vec![node(port + 100)],
        }
    }

    fn reply(ranges: impl Into<Vec<SlotRange>>) -> SlotsReply {
        SlotsReply {
            ranges: ranges.into(),
            unnamed: Vec::new(),
        }
    }

    fn halves() -> SlotMap {
        let mut map = SlotMap::default();
        map.begin_refresh();
        let moved = map.learn(vec![reply([range(0, 8191, 1), range(8192, 16_383, 2)])]);
        assert!(moved.is_none(), "what was not known has not moved");
        map
    }

    #[test]
    fn slot_that_no_answer_places_stays_where_it_was() {
        let mut map = halves();
        map.begin_refresh();
        let first = SlotsReply {
            ranges: vec![range(0, 100, 3)],
            unnamed: vec![101..=8191, 8192..=16_383],
        };
        let second = SlotsReply {
            ranges: vec![range(0, 8191, 4)],
            unnamed: vec![8192..=16_383],
        };
        assert!(map.learn(vec![first, second]).is_some());
        assert_eq!(map.owner(100), Some(&node(3)), "the first answer counts");
        assert_eq!(map.owner(101), Some(&node(4)));
        assert_eq!(map.owner(8192), Some(&node(2)));
    }

    #[test]
    fn slots_have_the_primary_of_the_last_answer() {
        assert!(SlotMap::default().is_empty());
        assert_eq!(SlotMap::default().owner(5), None);
        let mut map = halves();
        assert_eq!(map.owner(8191), Some(&node(1)));
        assert_eq!(map.owner(8192), Some(&node(2)));
        map.begin_refresh();
        let moved = map
            .learn(vec![reply([range(0, 100, 1), range(200, 16_383, 3)])])
            .unwrap();
        assert_eq!(map.owner(150), None, "the answer leaves it out");
        assert_eq!(map.owner(9000), Some(&node(3)));
        assert!(moved.contains(9000) && moved.contains(150) && moved.contains(200));
        assert!(!moved.contains(100));
        let primaries: Vec<_> = map.primaries().cloned().collect();
        assert_eq!(
            primaries,
            [node(1), node(3)],
            "the second one has lost its slots"
        );
        assert!(map.nodes().all(|name| *name != node(2)), "and is forgotten");
        assert_eq!(map.owner(100), Some(&node(1)), "the others keep theirs");
    }

    #[test]
    fn nodes_that_left_the_cluster_do_not_add_up() {
        let mut map = halves();
        for port in 3..1000 {
            map.note_moved(9000, node(port + 2000));
            map.begin_refresh();
            let moved = map.learn(vec![reply([range(0, 8191, 1), range(8192, 16_383, port)])]);
            assert!(moved.is_some_and(|moved| moved.contains(9000) && !moved.contains(5)));
            assert_eq!(map.owner(9000), Some(&node(port)));
            let nodes: Vec<_> = map.nodes().cloned().collect();
            assert_eq!(nodes, [1, port, 101, port + 100].map(node));
        }
    }

    #[test]
    fn slot_that_a_node_reports_as_moved_moves_at_once() {
        let mut map = halves();
        let moved = map.note_moved(5, node(3)).unwrap();
        assert_eq!(map.owner(5), Some(&node(3)));
        assert!(moved.contains(5) && !moved.contains(6));
        assert!(map.note_moved(5, node(3)).is_none(), "it was known");
    }

    #[test]
    fn nodes_that_contradict_each_other_are_news_once_a_refresh() {
        let mut map = halves();
        assert!(map.note_moved(5, node(2)).is_some());
        for to in [1, 2, 1] {
            assert!(map.note_moved(5, node(to)).is_none());
            assert_eq!(map.owner(5), Some(&node(to)), "it is followed all the same");
        }
        map.begin_refresh();
        assert!(map.note_moved(5, node(2)).is_some());
    }

    #[test]
    fn slot_that_was_nobodys_for_a_while_has_moved() {
        let mut map = halves();
        map.begin_refresh();
        map.learn(vec![reply([range(0, 8191, 1)])]);
        map.begin_refresh();
        let moved = map
            .learn(vec![reply([range(0, 8191, 1), range(8192, 16_383, 3)])])
            .unwrap();
        assert!(moved.contains(9000) && !moved.contains(5));
    }

    #[test]
    fn report_of_a_node_outweighs_an_answer_to_an_earlier_question() {
        let mut map = halves();
        map.note_moved(5, node(3));
        map.begin_refresh();
        map.note_moved(6, node(3));
        map.learn(vec![reply([range(0, 8191, 1), range(8192, 16_383, 2)])]);
        assert_eq!(map.owner(5), Some(&node(1)), "the answer is newer");
        assert_eq!(map.owner(6), Some(&node(3)), "the answer may be older");
    }
}
