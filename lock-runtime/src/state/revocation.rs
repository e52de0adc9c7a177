//! A revocation: the operator, the reason, and the outcome.

use std::fmt;

use uuid::Uuid;

use super::lock_state::LockState;
use super::printable::escape;
use crate::key::LockKey;

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
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Returns the reason.
    #[must_use]
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "nothing was done if the lock had another holder"]
#[non_exhaustive]
pub enum Revoked {
    /// The holder no longer has the lock.
    Done(Receipt),
    /// Another holder has the lock, and nothing was done.
    Changed(Box<LockState>),
    /// The lock is free, and nothing was done.
    NotHeld(LockKey),
}

/// Writes one escaped line: the line of the [`Receipt`], or a line that reports that nothing was done.
impl fmt::Display for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Revoked::Done(receipt) => receipt.fmt(f),
            Revoked::Changed(lock) => {
                let key = escape(lock.key.as_str());
                write!(
                    f,
                    "lock `{key}` has another holder by now, and nothing was done"
                )
            }
            Revoked::NotHeld(key) => {
                let key = escape(key.as_str());
                write!(f, "lock `{key}` is free, and nothing was done")
            }
        }
    }
}

/// What a revocation did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Receipt {
    /// The key of the lock.
    pub key: LockKey,
    /// The id of the operation, as in the audit and in the former holder's event.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::json::text"))]
    pub operation: Uuid,
    /// The label of the former holder. Escape it, like all labels.
    #[cfg_attr(feature = "serde", serde(rename = "former_holder"))]
    pub label: String,
    /// Whether a waiter has the lock now. Otherwise it is free.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "outcome", serialize_with = "super::json::outcome")
    )]
    pub handed_off: bool,
    /// On how many quorum nodes the lock was taken from its holder; `None` if a single server has it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub nodes: Option<usize>,
    /// Whether the outcome is in the audit. The intention always is, unless the revocation was [without
    /// audit](crate::inspect::Revocation::without_audit).
    pub audited: bool,
}

/// Writes one line, escaped: ``took lock `import` from api-7: it is free (operation 0193…)``.
impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "took lock `{}` from ", escape(self.key.as_str()))?;
        match self.label.as_str() {
            "" => f.write_str("a holder without a label")?,
            label => write!(f, "{}", escape(label))?,
        }
        if let Some(nodes) = self.nodes {
            write!(f, " on {nodes} nodes")?;
        }
        let now = if self.handed_off {
            "a waiter has it now"
        } else {
            "it is free"
        };
        write!(f, ": {now}")?;
        write!(f, " (operation {})", self.operation)
    }
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

    #[test]
    fn receipt_is_one_line_without_control_characters() {
        let mut receipt = Receipt {
            key: LockKey::from("import\n"),
            operation: Uuid::from_u128(7),
            label: "api-7\u{1b}".to_owned(),
            handed_off: true,
            nodes: Some(2),
            audited: true,
        };
        assert_eq!(
            Revoked::Done(receipt.clone()).to_string(),
            "took lock `import\\u{a}` from api-7\\u{1b} on 2 nodes: a waiter has it now \
             (operation 00000000-0000-0000-0000-000000000007)"
        );
        receipt.label.clear();
        (receipt.handed_off, receipt.nodes) = (false, None);
        assert_eq!(
            receipt.to_string(),
            "took lock `import\\u{a}` from a holder without a label: it is free \
             (operation 00000000-0000-0000-0000-000000000007)"
        );
        assert_eq!(
            Revoked::NotHeld(receipt.key).to_string(),
            "lock `import\\u{a}` is free, and nothing was done"
        );
    }
}
