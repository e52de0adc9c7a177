//! How a run ended.

use std::fmt;

use super::printable::escape;

/// How a run ended, or that it has not.
///
/// # Versions
///
/// An outcome of a later version is [`Other`](RunOutcome::Other). To match it, compare its [word](RunOutcome::as_str),
/// which stays the same once a version of this crate knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunOutcome {
    /// It holds its lock.
    Running,
    /// The body returned, or the guard was released.
    Done,
    /// The body returned an error of its own, or the guard was [marked](crate::LockGuard::mark_failed).
    Failed,
    /// The lock was lost before the end.
    Lost,
    /// The call or the guard was dropped.
    Cancelled,
    /// The body panicked.
    Panicked,
    /// It began, nothing recorded its end, and it does not hold its lock: its process crashed, or was cut off from the
    /// server, or has ended while the server could not be reached: no shutdown waits for the history.
    Died,
    /// An outcome that this version does not know, as it is in the record. It may contain any character.
    Other(String),
}

impl RunOutcome {
    /// Parses the word in the record of an end.
    pub(crate) fn parse(word: String) -> RunOutcome {
        match word.as_str() {
            "done" => RunOutcome::Done,
            "failed" => RunOutcome::Failed,
            "lost" => RunOutcome::Lost,
            "cancelled" => RunOutcome::Cancelled,
            "panicked" => RunOutcome::Panicked,
            _ => RunOutcome::Other(word),
        }
    }

    /// Returns the outcome as one word: `running`, `done`, `failed`, `lost`, `cancelled`, `panicked` or `died`, or the
    /// word of another outcome.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            RunOutcome::Running => "running",
            RunOutcome::Done => "done",
            RunOutcome::Failed => "failed",
            RunOutcome::Lost => "lost",
            RunOutcome::Cancelled => "cancelled",
            RunOutcome::Panicked => "panicked",
            RunOutcome::Died => "died",
            RunOutcome::Other(word) => word,
        }
    }
}

/// Writes the outcome as one word, escaped.
impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.as_str()).fmt(f)
    }
}
