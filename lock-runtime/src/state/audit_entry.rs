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
/// Other programs may also write the audit, so its texts may contain any character. Escape them wherever they are
/// shown. `Display` writes a line, escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// When the entry was written, by the server's clock.
    pub at: SystemTime,
    /// The id of the operation, which its intention and its outcome share. `None` if another program wrote the entry
    /// without such an id.
    pub operation: Option<Uuid>,
    /// The operator, as reported by the operator's program.
    pub by: String,
    /// The user as whom the program was logged in on its server: the user in its URL, or whom `credentials` or a password file
    /// named. If none named one, whom the server takes the connection for, or `default` if it does not say.
    pub user: String,
    /// What the operator does to the lock.
    pub action: AuditAction,
    /// The key of the lock.
    pub key: LockKey,
    /// The token of the holder, if it had one.
    pub token: Option<FencingToken>,
    /// The label of the holder.
    pub label: String,
    /// The operator's reason.
    pub reason: String,
    /// How far the action has come.
    pub outcome: AuditOutcome,
}

/// Writes one line, without what the entry lacks:
/// ``2026-07-28T09:30:00.000Z revoke `import` of api-7 (token 17), by ann (user ops): freed; stuck [0193…]``.
impl fmt::Display for AuditEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Rfc3339(self.at))?;
        if !self.action.as_str().is_empty() {
            write!(f, " {}", self.action)?;
        }
        write!(f, " `{}`", escape(self.key.as_str()))?;
        if !self.label.is_empty() {
            write!(f, " of {}", escape(&self.label))?;
        }
        if let Some(token) = self.token {
            write!(f, " (token {token})")?;
        }
        if !self.by.is_empty() {
            write!(f, ", by {}", escape(&self.by))?;
        }
        if !self.user.is_empty() {
            write!(f, " (user {})", escape(&self.user))?;
        }
        if !self.outcome.as_str().is_empty() {
            write!(f, ": {}", self.outcome)?;
        }
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

    fn entry() -> AuditEntry {
        AuditEntry {
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
        }
    }

    #[test]
    fn entry_is_one_line_without_control_characters() {
        assert_eq!(
            entry().to_string(),
            "2023-11-14T22:13:20.123Z revoke `import\\u{a}` of api-7\\u{202e} (token 17), \
             by ann@ops-1\\u{1b}[2J (user default): freed; stuck\\u{d} [00000000-0000-0000-0000-000000000007]"
        );
    }

    #[test]
    fn line_of_an_entry_omits_what_the_entry_lacks() {
        let mut entry = entry();
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
            "2023-11-14T22:13:20.123Z revoke `import\\u{a}`: freed"
        );
        entry.action = AuditAction::Other(String::new());
        entry.outcome = AuditOutcome::Other(String::new());
        assert_eq!(entry.to_string(), "2023-11-14T22:13:20.123Z `import\\u{a}`");
    }
}
