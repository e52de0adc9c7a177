//! The outcome of a round.

use std::time::Duration;

use super::row::Class;
use super::violation::{Kind, Violation};
use crate::history::{Entry, History, Written};

#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Visits that overlapped another, as an unfenced resource sees them.
    pub(super) double: usize,
    /// Late writes that a fenced resource took.
    pub(super) stale: usize,
    /// Writes that a fenced resource refused.
    pub(super) refused: usize,
    /// The longest time to the next grant that the script measured.
    pub(super) slowest: Option<Duration>,
    /// How long two processes had the lock, where the script measured it.
    pub(super) window: Option<Duration>,
    pub(super) violations: Vec<Violation>,
}

impl Outcome {
    /// The findings of the register; `fenced`: the visitors had tokens.
    pub(super) fn of(written: &[Written], class: Class, fenced: bool) -> Self {
        let mut outcome = Self::default();
        let stale = History::stale_writes(written);
        outcome.stale = stale.len();
        outcome.refused = written.iter().filter(|written| !written.taken).count();
        for stale in stale {
            outcome.violate(Kind::StaleWrite, stale.entry.to_string());
        }

        let entries: Vec<Entry> = written.iter().map(|one| one.entry.clone()).collect();
        let double = History::double_entries(&entries);
        let overfull = History::overfull_entries(&entries);
        outcome.double = double.len() + overfull.len();
        if class == Class::F {
            return outcome;
        }
        for entry in double {
            outcome.violate(Kind::DoubleEntry, entry.to_string());
        }
        for (entry, taken, limit) in overfull {
            let what = format!("{taken} of {limit} permits were taken at the end of {entry}");
            outcome.violate(Kind::DoubleEntry, what);
        }
        // Several visits may belong to one grant, and several shares have one token. Another client may have none.
        let with_token: Vec<_> = entries.iter().filter(|entry| entry.token > 0).collect();
        let fallen = with_token
            .windows(2)
            .find(|pair| pair[0].token > pair[1].token);
        if let Some(pair) = fallen.filter(|_| fenced) {
            outcome.violate(
                Kind::TokenOrder,
                format!("{} came before {}", pair[0], pair[1]),
            );
        }
        outcome
    }

    /// A round that could not be inspected.
    pub(super) fn broken(what: String) -> Self {
        let mut outcome = Self::default();
        outcome.violate(Kind::Unexpected, what);
        outcome
    }

    fn violate(&mut self, kind: Kind, what: String) {
        self.violations.push(Violation { kind, what });
    }
}
