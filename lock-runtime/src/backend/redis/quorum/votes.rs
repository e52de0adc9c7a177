//! Counts the answers of all nodes to one renewal.
//!
//! ```text
//!          ┌─ a majority has the owner ─────────► CONFIRMED: the nodes without it take it again (RESTORING)
//!  OPEN ───┼─ too many lack it for a majority ──► LOST
//!   ▲ │    └─ no answer can lead to either ─────► TOO FEW
//!   └─┴─ a node answers, or fails
//! ```

use super::ballot::place::Reason;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::lease::record::Grant;

/// The answers to one renewal.
#[derive(Clone, Debug)]
pub(crate) struct Votes {
    pub(super) nodes: Box<[Option<Vote>]>,
}

/// The answer of a node.
#[derive(Clone, Debug)]
pub(crate) enum Vote {
    Yes(Answered<Grant>),
    /// The owner does not have the node.
    No,
    /// Like `No`, and the holder's record is being rewritten on the node.
    Restoring,
    Failed(WireError),
}

/// The result of counting the answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Confirmed(Answered<Grant>),
    Lost,
    TooFew,
}

impl Votes {
    pub(crate) fn new(nodes: usize) -> Votes {
        Votes {
            nodes: vec![None; nodes].into(),
        }
    }

    /// Notes the answer of `node`.
    pub(crate) fn note(&mut self, node: usize, vote: Vote) {
        self.nodes[node] = Some(vote);
    }

    /// Returns the outcome; `None` while nodes that have not answered may change it.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let majority = self.nodes.len() / 2 + 1;
        let yes = self.nodes.iter().filter_map(|vote| match vote {
            Some(Vote::Yes(answered)) => Some(*answered),
            _ => None,
        });
        let mut yes: Vec<Answered<Grant>> = yes.collect();
        if yes.len() >= majority {
            yes.sort_unstable_by_key(|answered| answered.at);
            let token = yes.iter().map(|answered| answered.answer.token).max();
            let grant = Grant {
                contended: yes.iter().any(|answered| answered.answer.contended),
                token: token.expect("a majority has at least one vote"),
            };
            let at = yes[yes.len() - majority].at;
            return Some(Outcome::Confirmed(Answered { at, answer: grant }));
        }
        let is_no = |vote: &&Option<Vote>| matches!(vote, Some(Vote::No | Vote::Restoring));
        let no = self.nodes.iter().filter(is_no).count();
        let enough_no = self.nodes.len() - majority + 1;
        if no >= enough_no {
            return Some(Outcome::Lost);
        }
        // A slow node is awaited as long as its answer may decide the outcome.
        let silent = self.nodes.iter().filter(|vote| vote.is_none()).count();
        let is_open = yes.len() + silent >= majority || no + silent >= enough_no;
        (!is_open).then_some(Outcome::TooFew)
    }

    /// Returns the nodes that lack the owner, although a majority has confirmed its lease.
    pub(crate) fn take_absent(&mut self) -> Vec<usize> {
        if !matches!(self.outcome(), Some(Outcome::Confirmed(_))) {
            return Vec::new();
        }
        let nodes = self.nodes.iter_mut().enumerate();
        let absent = nodes.filter(|(_, vote)| matches!(vote, Some(Vote::No)));
        absent
            .map(|(node, vote)| {
                *vote = Some(Vote::Restoring);
                node
            })
            .collect()
    }

    pub(crate) fn reasons(&self) -> Vec<(usize, Reason)> {
        let nodes = self.nodes.iter().enumerate();
        nodes
            .filter_map(|(node, vote)| match vote {
                Some(Vote::Failed(error)) => Some((node, Reason::of(error))),
                None => Some((node, Reason::Failed("no answer".to_owned()))),
                Some(_) => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::moment::Moment;
    use crate::lease::fencing_token::FencingToken;

    fn yes(at: u64) -> Option<Vote> {
        let answer = Grant {
            contended: false,
            token: FencingToken::new(5),
        };
        let at = Moment::from_nanos(at);
        Some(Vote::Yes(Answered { at, answer }))
    }

    fn failed() -> Option<Vote> {
        Some(Vote::Failed(WireError::unavailable("it is away")))
    }

    fn outcome(nodes: impl Into<Box<[Option<Vote>]>>) -> Option<Outcome> {
        let nodes = nodes.into();
        Votes { nodes }.outcome()
    }

    #[test]
    fn slow_node_is_awaited_while_it_may_decide() {
        for vote in [failed(), Some(Vote::No)] {
            assert!(outcome([yes(1), None, vote.clone()]).is_none());
            let confirmed = outcome([yes(1), yes(2), vote]);
            assert!(
                matches!(confirmed, Some(Outcome::Confirmed(answered)) if answered.at == Moment::from_nanos(1))
            );
        }
        assert!(outcome([failed(), None, Some(Vote::No)]).is_none());
        let lost = outcome([failed(), Some(Vote::No), Some(Vote::No)]);
        assert!(matches!(lost, Some(Outcome::Lost)));
    }

    #[test]
    fn round_is_over_once_no_node_may_decide() {
        for nodes in [
            [failed(), failed(), None],
            [failed(), yes(1), failed()],
            [failed(), yes(1), Some(Vote::No)],
        ] {
            assert!(matches!(outcome(nodes), Some(Outcome::TooFew)));
        }
    }
}
