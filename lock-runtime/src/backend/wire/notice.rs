//! The message to a holder that has lost its lock to an operator.

use uuid::Uuid;

use crate::lease::RevokedBy;
use crate::lease::owner_id::OwnerId;

/// The first byte of a message about a revocation. No owner id contains it, so the message is not mistaken for a grant.
const MARK: u8 = b'!';

/// Separates the parts of a notice. No part contains it.
const SEPARATOR: char = '\u{1f}';

/// The maximum length of a part in bytes. Ours are shorter, but other clients may send the message.
const LONGEST: usize = 512;

/// The revocation of an owner, as reported to its client.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) owner_id: OwnerId,
    pub(crate) by: RevokedBy,
}

/// Returns the text that the script appends to the owner: operation, operator and reason.
pub(crate) fn notice(operation: Uuid, by: &str, reason: &str) -> String {
    debug_assert!(![by, reason].concat().contains(SEPARATOR));
    format!("{SEPARATOR}{operation}{SEPARATOR}{by}{SEPARATOR}{reason}{SEPARATOR}")
}

/// Returns whether a message is about a revocation.
pub(crate) fn is_notice(payload: &[u8]) -> bool {
    payload.first() == Some(&MARK)
}

impl Notice {
    /// Parses `! owner(22) notice`, followed by the name of the lock.
    pub(crate) fn parse(payload: &[u8]) -> Option<Notice> {
        let payload = payload.strip_prefix(&[MARK])?;
        let owner_id = OwnerId::parse_prefix(payload)?;
        let mut parts = payload
            .get(OwnerId::LEN..)?
            .split(|&byte| byte == SEPARATOR as u8);
        // The text before the first separator must be empty.
        let _ = parts.next().filter(|before| before.is_empty())?;
        let mut part = || {
            let part = parts.next()?;
            Some(String::from_utf8_lossy(&part[..part.len().min(LONGEST)]).into_owned())
        };
        let by = RevokedBy {
            operation: part()?.parse().ok()?,
            by: part()?,
            reason: part()?,
        };
        Some(Notice { owner_id, by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: &str = "abcdefghABCDEFGH012345";

    const OPERATION: Uuid = Uuid::from_u128(7);

    #[test]
    fn notice_is_parsed_with_any_lock_name() {
        let text = notice(OPERATION, "ann@ops-1", "stuck import");
        for lock in ["lock:order:42", "", "\u{1f}a\0b\n"] {
            let payload = format!("!{OWNER}{text}{lock}");
            let Notice { owner_id, by } = Notice::parse(payload.as_bytes()).unwrap();
            assert_eq!(owner_id.as_str(), OWNER);
            assert_eq!(by.operation, OPERATION, "{lock:?}");
            let parts = [&by.by, &by.reason].map(String::as_str);
            assert_eq!(parts, ["ann@ops-1", "stuck import"], "{lock:?}");
        }
    }

    #[test]
    fn other_messages_are_not_notices() {
        let text = notice(OPERATION, "ann", "x");
        for other in [
            String::new(),
            "!".to_owned(),
            format!("{OWNER}{text}lock:k"),
            format!("!{OWNER}lock:k"),
            format!("!{OWNER}lock:k{text}"),
            format!("!!{OWNER}{text}"),
            format!("!{}{text}", &OWNER[1..]),
            format!("!{OWNER}{}", text.replacen('7', "x", 1)),
        ] {
            assert!(Notice::parse(other.as_bytes()).is_none(), "{other:?}");
        }
        let as_an_owner = OwnerId::parse_prefix(format!("!{OWNER}{text}").as_bytes());
        assert!(as_an_owner.is_none());
    }

    #[test]
    fn forged_reason_is_kept_in_part() {
        let forged = format!("!{OWNER}{}", notice(OPERATION, "b", &"x".repeat(1 << 20)));
        let kept = Notice::parse(forged.as_bytes()).unwrap();
        assert_eq!(kept.by.reason.len(), LONGEST);
    }
}
