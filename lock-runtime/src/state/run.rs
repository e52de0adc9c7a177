//! A run of the work under a lock.

use std::fmt;
use std::time::{Duration, SystemTime};

use super::printable::escape;
use super::rfc3339::Rfc3339;
use super::run_outcome::RunOutcome;

/// A call that held a lock, from its grant to its release, as it was recorded by [`runs`](crate::Acquire::runs).
///
/// `Display` writes a line, escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// When it got the lock, by the server's clock.
    pub began: SystemTime,
    /// When it was done, by the server's clock. `None` if no end is recorded.
    pub ended: Option<SystemTime>,
    /// The label of the holder. Escape it, like [`Holder::label`](crate::inspect::Holder::label).
    pub label: String,
    /// How it ended.
    pub outcome: RunOutcome,
}

impl Run {
    /// Returns how long it took; `None` if no end is recorded.
    #[must_use]
    pub fn took(&self) -> Option<Duration> {
        self.ended?.duration_since(self.began).ok()
    }
}

/// Writes one line: `2026-07-28T09:30:00.000Z done after 1.5s, api-7 (pid 12) report`.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Rfc3339(self.began), self.outcome)?;
        if let Some(took) = self.took() {
            write!(f, " after {took:?}")?;
        }
        if !self.label.is_empty() {
            write!(f, ", {}", escape(&self.label))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn run_is_one_line_without_control_characters() {
        let began = UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
        let mut run = Run {
            began,
            ended: Some(began + Duration::from_millis(1_500)),
            label: "api-7\u{1b}[2J".to_owned(),
            outcome: RunOutcome::Done,
        };
        assert_eq!(
            run.to_string(),
            "2023-11-14T22:13:20.123Z done after 1.5s, api-7\\u{1b}[2J"
        );
        (run.ended, run.outcome) = (None, RunOutcome::Other("a\nb".to_owned()));
        run.label.clear();
        assert_eq!(run.to_string(), "2023-11-14T22:13:20.123Z a\\u{a}b");
    }
}
