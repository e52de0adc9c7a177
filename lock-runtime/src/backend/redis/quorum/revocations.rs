//! Counts how many nodes report a revocation. Decides without I/O.

use std::collections::VecDeque;

/// How many revocations are counted at the same time. Each takes only moments.
const MOST: usize = 64;

/// How many bytes of a message are kept. They include the owner and the operation.
const KEPT: usize = 128;

/// The effect of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The message completes a majority.
    ByMajority,
    /// One more node has sent the message, still without a majority.
    ByFew,
    /// No effect: this node, or a majority, has sent the message before.
    Before,
}

/// The messages about revocations, by content. A single node may have been restored from a copy, or may have lost the
/// lock in another way, while the lock's owner still has a majority.
#[derive(Debug)]
pub(super) struct Revocations {
    nodes: usize,
    counted: VecDeque<(Vec<u8>, Vec<bool>)>,
}

impl Revocations {
    /// Creates the state for a quorum of this many nodes.
    pub(super) fn of(nodes: usize) -> Revocations {
        Revocations {
            nodes,
            counted: VecDeque::new(),
        }
    }

    /// Counts a message.
    pub(super) fn note(&mut self, node: usize, payload: &[u8]) -> Said {
        let kept = &payload[..payload.len().min(KEPT)];
        let known = self.counted.iter().position(|(other, _)| other == kept);
        let index = known.unwrap_or_else(|| {
            if self.counted.len() == MOST {
                self.counted.pop_front();
            }
            self.counted
                .push_back((kept.to_vec(), vec![false; self.nodes]));
            self.counted.len() - 1
        });
        let said = &mut self.counted[index].1;
        let is_new = said
            .get_mut(node)
            .is_some_and(|said| !std::mem::replace(said, true));
        let count = said.iter().filter(|&&said| said).count();
        match is_new {
            true if count == self.nodes / 2 + 1 => Said::ByMajority,
            true if count <= self.nodes / 2 => Said::ByFew,
            _ => Said::Before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_counts_once_for_each_node() {
        let mut revocations = Revocations::of(5);
        let mut says = |node| revocations.note(node, b"!owner");
        use Said::{Before, ByFew, ByMajority};
        assert_eq!(
            [0, 0, 1, 1, 2, 3, 4].map(&mut says),
            [ByFew, Before, ByFew, Before, ByMajority, Before, Before]
        );
    }

    #[test]
    fn messages_about_different_owners_are_apart() {
        let mut revocations = Revocations::of(3);
        assert_eq!(revocations.note(0, b"!one"), Said::ByFew);
        assert_eq!(revocations.note(1, b"!other"), Said::ByFew);
        assert_eq!(revocations.note(1, b"!one"), Said::ByMajority);
    }

    #[test]
    fn oldest_are_forgotten() {
        let mut revocations = Revocations::of(3);
        for number in 0..1_000 {
            let said = revocations.note(0, format!("!{number}").as_bytes());
            assert_eq!(said, Said::ByFew);
        }
        assert_eq!(revocations.counted.len(), MOST);
        assert_eq!(revocations.note(1, b"!0"), Said::ByFew);
    }
}
