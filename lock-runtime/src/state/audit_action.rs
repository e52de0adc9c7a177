//! What an operator does to a lock.

use std::fmt;

use super::printable::escape;

/// What an operator does to a lock.
///
/// # Versions
///
/// An action of a later version, or of another program, is [`Other`](AuditAction::Other). To match it, compare its
/// [word](AuditAction::as_str), which stays the same once a version of this crate knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditAction {
    /// Takes a lock from its holder.
    Revoke,
    /// An action that this version does not know, as it is in the audit. It may contain any character.
    Other(String),
}

impl AuditAction {
    /// Parses the word in the audit.
    pub(crate) fn parse(word: String) -> AuditAction {
        match word.as_str() {
            "revoke" => AuditAction::Revoke,
            _ => AuditAction::Other(word),
        }
    }

    /// Returns the word in the audit: `revoke`, or the word of another action.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            AuditAction::Revoke => "revoke",
            AuditAction::Other(word) => word,
        }
    }
}

/// Writes the word in the audit, escaped.
impl fmt::Display for AuditAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.as_str()).fmt(f)
    }
}
