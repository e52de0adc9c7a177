//! The outcome of a round, or of many.

use std::time::Duration;

use super::row::{Class, Row};
use super::violation::{Kind, Violation};
use crate::history::{Entry, History, Written};

/// The sum of a row's rounds.
#[derive(Debug)]
pub struct Tally {
    pub name: &'static str,
    pub class: Class,
    pub rounds: usize,
    /// The time of the longest round.
    pub took: Duration,
    /// Visits that overlapped another, as an unfenced resource sees them.
    pub double: usize,
    /// Late writes that a fenced resource took.
    pub stale: usize,
    /// Writes that a fenced resource refused.
    pub refused: usize,
    /// The longest time to the next grant, where the row measures it.
    pub slowest: Option<Duration>,
    /// How long two processes had the lock, where the row measures it: one time per round, in any
    /// order.
    pub windows: Vec<Duration>,
    /// The violations, each with its round.
    pub violations: Vec<(usize, Violation)>,
}

impl Tally {
    pub(super) fn new(row: &Row) -> Self {
        Self {
            name: row.name,
            class: row.class,
            rounds: 0,
            took: Duration::ZERO,
            double: 0,
            stale: 0,
            refused: 0,
            slowest: None,
            windows: Vec::new(),
            violations: Vec::new(),
        }
    }

    /// One round, according to the register; `fenced`: the visitors had tokens.
    pub(super) fn of_round(row: &Row, round: usize, written: &[Written], fenced: bool) -> Self {
        let mut tally = Self::new(row);
        tally.rounds = 1;
        let stale = History::stale_writes(written);
        tally.stale = stale.len();
        tally.refused = written.iter().filter(|written| !written.taken).count();
        for stale in stale {
            tally.violate(round, Kind::StaleWrite, stale.entry.to_string());
        }

        let entries: Vec<Entry> = written.iter().map(|one| one.entry.clone()).collect();
        let double = History::double_entries(&entries);
        let overfull = History::overfull_entries(&entries);
        tally.double = double.len() + overfull.len();
        if row.class == Class::F {
            return tally;
        }
        for entry in double {
            tally.violate(round, Kind::DoubleEntry, entry.to_string());
        }
        for (entry, taken, limit) in overfull {
            let what = format!("{taken} of {limit} permits were taken at the end of {entry}");
            tally.violate(round, Kind::DoubleEntry, what);
        }
        // Several visits may belong to one grant, and several shares have the same token. Other
        // clients may have none.
        let with_token: Vec<_> = entries.iter().filter(|entry| entry.token > 0).collect();
        let fallen = with_token
            .windows(2)
            .find(|pair| pair[0].token > pair[1].token);
        if let Some(pair) = fallen.filter(|_| fenced) {
            tally.violate(
                round,
                Kind::TokenOrder,
                format!("{} came before {}", pair[0], pair[1]),
            );
        }
        tally
    }

    /// A round that could not be inspected.
    pub(super) fn broken(row: &Row, round: usize, what: String) -> Self {
        let mut tally = Self::of_round(row, round, &[], false);
        tally.violate(round, Kind::Unexpected, what);
        tally
    }

    pub(super) fn violate(&mut self, round: usize, kind: Kind, what: String) {
        self.violations.push((round, Violation { kind, what }));
    }

    /// Adds other rounds.
    pub(super) fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.took = self.took.max(other.took);
        self.double += other.double;
        self.stale += other.stale;
        self.refused += other.refused;
        self.slowest = self.slowest.max(other.slowest);
        self.windows.extend(other.windows);
        self.violations.extend(other.violations);
    }

    /// The median and the largest of the windows.
    pub fn window(&self) -> Option<(Duration, Duration)> {
        let mut windows = self.windows.clone();
        windows.sort_unstable();
        let median = windows.get(windows.len() / 2)?;
        Some((*median, *windows.last()?))
    }
}
