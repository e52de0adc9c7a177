//! The outcome of many rounds.

use std::time::Duration;

use super::outcome::Outcome;
use super::row::{Class, Row};
use super::violation::Violation;

/// The sum of a row's rounds.
#[derive(Debug)]
pub struct Tally {
    pub name: &'static str,
    pub class: Class,
    pub rounds: usize,
    /// How long the longest round took.
    pub took: Duration,
    /// Visits that overlapped another, as an unfenced resource sees them.
    pub double: usize,
    /// Late writes that a fenced resource took.
    pub stale: usize,
    /// Writes that a fenced resource refused.
    pub refused: usize,
    /// The longest time to the next grant, where the row measures it.
    pub slowest: Option<Duration>,
    /// How long two processes had the lock, where the row measures it: one time a round, in any order.
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

    pub(super) fn add(&mut self, round: usize, outcome: Outcome) {
        self.rounds += 1;
        self.double += outcome.double;
        self.stale += outcome.stale;
        self.refused += outcome.refused;
        self.slowest = self.slowest.max(outcome.slowest);
        self.windows.extend(outcome.window);
        let violations = outcome.violations.into_iter();
        self.violations
            .extend(violations.map(|violation| (round, violation)));
    }

    /// The median and the largest of the windows.
    pub fn window(&self) -> Option<(Duration, Duration)> {
        let mut windows = self.windows.clone();
        windows.sort_unstable();
        let median = windows.get(windows.len() / 2)?;
        Some((*median, *windows.last()?))
    }
}
