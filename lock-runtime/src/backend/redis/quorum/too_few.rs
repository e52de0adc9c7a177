//! The error of a call without a majority. Decides without I/O.

use std::time::Duration;

use super::ballot::place::Reason;
use crate::backend::wire::error::WireError;

/// A call without a majority.
pub(super) struct TooFew<'a> {
    pub(super) nodes: usize,
    pub(super) restart_delay: Duration,
    /// The nodes whose vote does not count, with the reasons. The others have voted, for this caller or for another.
    pub(super) reasons: &'a [(usize, Reason)],
}

impl TooFew<'_> {
    /// Returns the error. `name` returns the nodes' names. The error is final if so many nodes refuse that no majority
    /// is left.
    pub(super) fn error<'n>(&self, name: impl Fn(usize) -> &'n str) -> WireError {
        let Self { nodes, reasons, .. } = *self;
        let majority = nodes / 2 + 1;
        let count = |is: fn(&Reason) -> bool| reasons.iter().filter(|(_, why)| is(why)).count();
        let refused = count(|why| matches!(why, Reason::Refused(_)));
        let failed = refused + count(|why| matches!(why, Reason::Failed(_)));
        let unknown = count(|why| matches!(why, Reason::ClockUnknown));
        let why = || {
            let why = reasons.iter().map(|(node, why)| describe(name(*node), why));
            why.collect::<Vec<_>>().join("; ")
        };
        if refused > nodes - majority {
            return WireError::refused(format!("{refused} of {nodes} nodes refuse it ({})", why()));
        }
        let mut early: Vec<Duration> = reasons
            .iter()
            .filter_map(|(_, why)| match why {
                Reason::Early(left) => Some(*left),
                Reason::ClockUnknown | Reason::Failed(_) | Reason::Refused(_) => None,
            })
            .collect();
        early.sort_unstable();
        if failed + unknown > 0 {
            // A refusal is an answer, too.
            let answered = nodes - failed + refused;
            return WireError::unavailable(format!(
                "{answered} of {nodes} nodes answered ({})",
                why()
            ));
        }
        let voting = nodes - reasons.len();
        let last = majority.checked_sub(voting + 1);
        WireError::unavailable(match last.and_then(|last| early.get(last)) {
            Some(left) => format!(
                "{} of {nodes} nodes are new or restarted less than {:?} ago, and a majority votes in {} s",
                early.len(),
                self.restart_delay,
                left.as_secs() + 1
            ),
            None if reasons.is_empty() => "the nodes did not agree in time".to_owned(),
            None => format!("the nodes did not agree in time ({})", why()),
        })
    }
}

fn describe(name: &str, why: &Reason) -> String {
    match why {
        Reason::Early(left) => format!("{name}: restarted, and votes in {} s", left.as_secs() + 1),
        Reason::ClockUnknown => format!(
            "{name}: its clock is not known to be right, since too few nodes have said what time it is"
        ),
        Reason::Failed(error) | Reason::Refused(error) => format!("{name}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(reasons: &[(usize, Reason)]) -> WireError {
        let too_few = TooFew {
            nodes: 3,
            restart_delay: Duration::from_secs(60),
            reasons,
        };
        too_few.error(|node| ["a", "b", "c"][node])
    }

    fn failed() -> Reason {
        Reason::Failed("timed out".to_owned())
    }

    fn refused() -> Reason {
        Reason::Refused("OOM".to_owned())
    }

    fn early(seconds: u64) -> Reason {
        Reason::Early(Duration::from_millis(seconds * 1_000 - 500))
    }

    #[test]
    fn nodes_that_do_not_answer_refuse_nothing() {
        let error = error(&[(0, refused()), (1, refused()), (2, failed())]);
        assert!(matches!(error, WireError::Refused(_)));
        let text = "2 of 3 nodes refuse it (a: OOM; b: OOM; c: timed out)";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn nodes_that_refuse_have_answered() {
        let error = error(&[(1, refused()), (2, failed())]);
        assert!(matches!(error, WireError::Unavailable(_)));
        let text = "2 of 3 nodes answered (b: OOM; c: timed out)";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn nodes_whose_clocks_cannot_be_compared_have_answered() {
        let error = error(&[(0, Reason::ClockUnknown), (1, failed()), (2, failed())]);
        let text = error.to_string();
        assert!(
            text.starts_with("1 of 3 nodes answered (a: its clock is not known"),
            "{text}"
        );
    }

    #[test]
    fn majority_votes_when_enough_early_nodes_do() {
        let begin = "nodes are new or restarted less than 60s ago, and a majority votes in";
        let two = [(0, early(40)), (1, early(10))];
        assert_eq!(error(&two).to_string(), format!("2 of 3 {begin} 10 s"));
        let all = [(0, early(40)), (1, early(10)), (2, early(50))];
        assert_eq!(error(&all).to_string(), format!("3 of 3 {begin} 40 s"));
    }

    #[test]
    fn majority_that_votes_is_not_announced() {
        let text = "the nodes did not agree in time";
        assert_eq!(error(&[]).to_string(), text);
        let of_one = error(&[(2, early(55))]).to_string();
        assert_eq!(of_one, format!("{text} (c: restarted, and votes in 55 s)"));
    }
}
