//! A revocation: the operator, the reason, and the outcome.

use super::lock_state::LockState;

/// The longest name of an operator, in bytes.
const LONGEST_BY: usize = 128;

/// The longest reason, in bytes.
const LONGEST_REASON: usize = 256;

/// The operator who takes a lock from its holder, and the reason. The holder and the audit get both.
///
/// # Examples
///
/// ```
/// use lock_runtime::inspect::Revocation;
///
/// let revocation = Revocation::new("ann@ops-1", "stuck import");
/// assert_eq!(revocation.by(), "ann@ops-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    by: String,
    reason: String,
    is_audited: bool,
}

impl Revocation {
    /// Creates a revocation by an operator, such as `user@host`, for a reason.
    ///
    /// The operator is cut to 128 bytes, the reason to 256. Control characters become spaces.
    pub fn new(by: impl AsRef<str>, reason: impl AsRef<str>) -> Revocation {
        Revocation {
            by: bounded(by.as_ref(), LONGEST_BY),
            reason: bounded(reason.as_ref(), LONGEST_REASON),
            is_audited: true,
        }
    }

    /// Revokes without an audit. By default, a revocation that cannot be written to the audit is not carried out.
    #[must_use]
    pub fn without_audit(mut self) -> Revocation {
        self.is_audited = false;
        self
    }

    /// Returns the operator.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub(crate) fn is_audited(&self) -> bool {
        self.is_audited
    }
}

/// Returns the first bytes of a text on one line, cut at the end of a character.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    let mut kept = String::new();
    for letter in text.chars() {
        let letter = if letter.is_control() { ' ' } else { letter };
        if kept.len() + letter.len_utf8() > most {
            break;
        }
        kept.push(letter);
    }
    kept
}

/// The outcome of a revocation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Revoked {
    /// The holder no longer has the lock.
    Done(Receipt),
    /// Another holder has the lock, and nothing was done.
    Changed(Box<LockState>),
    /// The lock is free, and nothing was done.
    NotHeld,
}

/// What a revocation did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The id of the operation, a UUID, as in the audit and in the former holder's event.
    pub operation: String,
    /// The label of the former holder. Escape it, as all labels.
    pub label: String,
    /// Whether a waiter has the lock now. Otherwise it is free.
    pub handed_off: bool,
    /// On how many quorum nodes the lock was taken from its holder; `None` if a single server has it.
    pub nodes: Option<usize>,
    /// Whether the outcome is in the audit. The intention always is, unless the revocation was [without
    /// audit](crate::inspect::Revocation::without_audit).
    pub is_audited: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_a_characters_end_and_stay_on_one_line() {
        let revocation = Revocation::new("é".repeat(100), "a\u{1f}b\nc");
        assert_eq!(revocation.by(), "é".repeat(64));
        assert_eq!(revocation.reason(), "a b c");
        assert_eq!(bounded("xé", 2), "x");
    }
}
