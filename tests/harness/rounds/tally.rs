//! The outcome of many rounds.

use std::time::Duration;

use super::outcome::Outcome;
use super::row::{Class, Row};
use super::violation::Violation;

/// The sum of a row's rounds.
#[derive(Debug)]
pub struct Tally {
    /// The row's name.
    pub name: &'static str,
    /// The row's class.
    pub class: Class,
    /// Rounds that were played.
    pub rounds: usize,
    /// Visits that overlapped another, as an unfenced resource sees them.
    pub double: usize,
    /// Late writes that a fenced resource took.
    pub stale: usize,
    /// The longest time to the next grant, where the row measures it.
    pub slowest: Option<Duration>,
    /// The violations, each with its round.
    pub violations: Vec<(usize, Violation)>,
}

impl Tally {
    pub(super) fn new(row: &Row) -> Self {
        Self {
            name: row.name,
            class: row.class,
            rounds: 0,
            double: 0,
            stale: 0,
            slowest: None,
            violations: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, round: usize, outcome: Outcome) {
        self.rounds += 1;
        self.double += outcome.double;
        self.stale += outcome.stale;
        self.slowest = self.slowest.max(outcome.slowest);
        let violations = outcome.violations.into_iter();
        self.violations
            .extend(violations.map(|violation| (round, violation)));
    }
}
