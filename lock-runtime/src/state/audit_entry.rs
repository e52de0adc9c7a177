//! An entry of the audit.

use std::fmt;
use std::time::SystemTime;

use uuid::Uuid;

use super::audit_action::AuditAction;
use super::audit_outcome::AuditOutcome;
use super::printable::escape;
use super::rfc3339::Rfc3339;
use crate::FencingToken;
use crate::key::LockKey;

/// An entry of the audit: what an operator intended to do to a lock, or the outcome.
///
/// Other programs may also write the audit, so its texts may contain any character. [`escape`] them wherever they are
/// shown. `Display` writes a line, escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AuditEntry {
    /// When the entry was written, by the server's clock.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::json::time"))]
    pub at: SystemTime,
    /// The id of the operation, which its intention and its outcome share. `None` if another program wrote the entry
    /// without such an id.
    #[cfg_attr(
        feature = "serde",
        serde(serialize_with = "super::json::optional_text")
    )]
    pub operation: Option<Uuid>,
    /// The operator, as reported by the operator's program.
    pub by: String,
    /// The user in the program's URL, or `default`. May differ from the user that `credentials` returned.
    pub user: String,
    /// What the operator does to the lock.
    pub action: AuditAction,
    /// The key of the lock.
    pub key: LockKey,
    /// The token of the holder, if it had one.
    pub token: Option<FencingToken>,
    /// The label of the holder.
    #[cfg_attr(feature = "serde", serde(rename = "holder"))]
    pub label: String,
    /// The operator's reason.
    pub reason: String,
    /// How far the action has come.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub outcome: AuditOutcome,
}

/// Writes one line, as `lockctl audit` prints it.
impl fmt::Display for AuditEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, key) = (Rfc3339(self.at), escape(self.key.as_str()));
        write!(f, "{at} {} `{key}`", self.action)?;
        match self.token {
            Some(token) => write!(f, " {token}")?,
            None => f.write_str(" -")?,
        }
        match self.label.as_str() {
            "" => f.write_str(" of a holder without a label")?,
            label => write!(f, " of {}", escape(label))?,
        }
        if !self.by.is_empty() {
            write!(f, ", by {}", escape(&self.by))?;
        }
        if !self.user.is_empty() {
            write!(f, " (user {})", escape(&self.user))?;
        }
        write!(f, ": {}", self.outcome)?;
        if !self.reason.is_empty() {
            write!(f, "; {}", escape(&self.reason))?;
        }
        match self.operation {
            Some(operation) => write!(f, " [{operation}]"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn entry_is_one_line_without_control_characters() {
        let mut entry = AuditEntry {
            at: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
            operation: Some(Uuid::from_u128(7)),
            by: "ann@ops-1\u{1b}[2J".to_owned(),
            user: "default".to_owned(),
            action: AuditAction::Revoke,
            key: LockKey::from("import\n"),
            token: Some(FencingToken::new(17)),
            label: "api-7\u{202e}".to_owned(),
            reason: "stuck\r".to_owned(),
            outcome: AuditOutcome::Freed,
        };
        assert_eq!(
            entry.to_string(),
            "2023-11-14T22:13:20.123Z revoke `import\\u{a}` 17 of api-7\\u{202e}, \
             by ann@ops-1\\u{1b}[2J (user default): freed; stuck\\u{d} [00000000-0000-0000-0000-000000000007]"
        );
        (entry.token, entry.operation) = (None, None);
        for text in [
            &mut entry.by,
            &mut entry.user,
            &mut entry.label,
            &mut entry.reason,
        ] {
            text.clear();
        }
        assert_eq!(
            entry.to_string(),
            "2023-11-14T22:13:20.123Z revoke `import\\u{a}` - of a holder without a label: freed"
        );
    }
}
