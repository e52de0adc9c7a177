//! How far an operator's action has come.

use std::fmt;

use super::printable::escape;

/// Precedes the error in the audit.
const FAILED: &str = "failed: ";

/// How far an operator's action has come.
///
/// # Versions
///
/// An outcome of a later version, or of another program, is [`Other`](AuditOutcome::Other). To match it, compare its
/// [text](AuditOutcome::as_str). An outcome of one word keeps that text once a version of this crate knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditOutcome {
    /// The action is about to be carried out. If no other entry of its operation follows, it may have been carried out.
    Intended,
    /// The lock is free.
    Freed,
    /// The next waiter has the lock.
    HandedOff,
    /// Another holder had the lock, and nothing was done.
    Changed,
    /// The lock was free, and nothing was done.
    NotHeld,
    /// The action failed with this error, and may have been carried out. The error may contain any character.
    Failed(String),
    /// An outcome that this version does not know, as it is in the audit. It may contain any character.
    Other(String),
}

impl AuditOutcome {
    /// Parses the text in the audit.
    pub(crate) fn parse(text: String) -> AuditOutcome {
        match text.as_str() {
            "intended" => AuditOutcome::Intended,
            "freed" => AuditOutcome::Freed,
            "handed_off" => AuditOutcome::HandedOff,
            "changed" => AuditOutcome::Changed,
            "not_held" => AuditOutcome::NotHeld,
            _ => match text.strip_prefix(FAILED) {
                Some(error) => AuditOutcome::Failed(error.to_owned()),
                None => AuditOutcome::Other(text),
            },
        }
    }

    /// Returns the text in the audit.
    pub(crate) fn text(&self) -> String {
        match self {
            AuditOutcome::Failed(error) => format!("{FAILED}{error}"),
            outcome => outcome.as_str().to_owned(),
        }
    }

    /// Returns the outcome as one word: `intended`, `freed`, `handed_off`, `changed`, `not_held` or `failed`, or the
    /// text of another outcome.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            AuditOutcome::Intended => "intended",
            AuditOutcome::Freed => "freed",
            AuditOutcome::HandedOff => "handed_off",
            AuditOutcome::Changed => "changed",
            AuditOutcome::NotHeld => "not_held",
            AuditOutcome::Failed(_) => "failed",
            AuditOutcome::Other(text) => text,
        }
    }
}

/// Writes the outcome in words, such as `handed off to a waiter`, and the error of an action that failed,
/// escaped.
impl fmt::Display for AuditOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditOutcome::HandedOff => f.pad("handed off to a waiter"),
            AuditOutcome::Changed => f.pad("not done, another holder had it"),
            AuditOutcome::NotHeld => f.pad("not done, it was free"),
            AuditOutcome::Failed(error) => escape(&format!("{FAILED}{error}")).fmt(f),
            outcome => escape(outcome.as_str()).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcome_is_parsed_from_its_own_text() {
        for outcome in [
            AuditOutcome::Intended,
            AuditOutcome::Freed,
            AuditOutcome::HandedOff,
            AuditOutcome::Changed,
            AuditOutcome::NotHeld,
            AuditOutcome::Failed("the server is gone".to_owned()),
            AuditOutcome::Other("extended".to_owned()),
            AuditOutcome::Other(String::new()),
        ] {
            assert_eq!(AuditOutcome::parse(outcome.text()), outcome);
        }
    }

    #[test]
    fn outcome_is_shown_in_words_and_without_control_characters() {
        assert_eq!(AuditOutcome::Freed.to_string(), "freed");
        assert_eq!(
            AuditOutcome::HandedOff.to_string(),
            "handed off to a waiter"
        );
        let failed = AuditOutcome::Failed("a\u{1b}[2J".to_owned());
        assert_eq!(failed.to_string(), "failed: a\\u{1b}[2J");
        let other = AuditOutcome::Other("b\n".to_owned());
        assert_eq!(other.to_string(), "b\\u{a}");
        assert_eq!(
            format!("{:<8}|{other:>8}", AuditOutcome::Freed),
            "freed   |  b\\u{a}"
        );
    }
}
