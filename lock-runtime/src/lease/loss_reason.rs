//! Why a lease ended before its holder ended it, and who revoked it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use uuid::Uuid;

use crate::background::sync::Mutex;

/// Why a lease ended before its holder ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossReason {
    /// The deadline passed without a renewal.
    Expired,
    /// The server answered that the lock is free, or held by another owner.
    NotOurs,
    /// `max_hold` was reached.
    MaxHold,
    /// The client was shut down.
    Shutdown,
    /// An operator took the lock away.
    Revoked(RevocationNumber),
}

impl LossReason {
    /// Returns the label in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LossReason::Expired => "expired",
            LossReason::NotOurs => "not_ours",
            LossReason::MaxHold => "max_hold",
            LossReason::Shutdown => "shutdown",
            LossReason::Revoked(_) => "revoked",
        }
    }

    pub(crate) fn describe(self) -> Cow<'static, str> {
        match self {
            LossReason::Expired => "its lease ran out before it could be renewed".into(),
            LossReason::NotOurs => "the server has no record of it, or another owner's".into(),
            LossReason::MaxHold => "its max_hold was reached".into(),
            LossReason::Shutdown => "its client was shut down".into(),
            LossReason::Revoked(number) => number.describe().into(),
        }
    }
}

/// How many revocations are remembered. A holder usually asks at once.
const REMEMBERED: usize = 1024;

/// The operator who took a lock from its holder, and the reason. Other clients may have written both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RevokedBy {
    /// The id of the operation.
    pub(crate) operation: Uuid,
    pub(crate) by: String,
    pub(crate) reason: String,
}

/// Writes one line: `revoked by ann@ops-1: stuck import (operation 0192…)`.
impl fmt::Display for RevokedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [by, reason] = [&self.by, &self.reason].map(|text| text.escape_debug());
        let operation = self.operation;
        write!(f, "revoked by {by}: {reason} (operation {operation})")
    }
}

/// The number of a revocation in this process.
///
/// Every held lease has room for the reason of its loss, but revocations are rare. So a lease only stores the number,
/// and the process remembers the last revocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RevocationNumber(u16);

#[derive(Debug)]
struct Remembered {
    last: u16,
    revocations: VecDeque<(u16, RevokedBy)>,
}

static REVOCATIONS: Mutex<Remembered> = Mutex::new(Remembered {
    last: 0,
    revocations: VecDeque::new(),
});

impl RevocationNumber {
    /// Remembers a revocation.
    pub(crate) fn of(by: RevokedBy) -> RevocationNumber {
        let mut remembered = REVOCATIONS.lock();
        remembered.last = remembered.last.wrapping_add(1);
        let number = remembered.last;
        if remembered.revocations.len() == REMEMBERED {
            remembered.revocations.pop_front();
        }
        remembered.revocations.push_back((number, by));
        RevocationNumber(number)
    }

    /// Returns a description of the revocation.
    pub(crate) fn describe(self) -> String {
        let remembered = REVOCATIONS.lock();
        let mut revocations = remembered.revocations.iter().rev();
        let by = revocations.find(|(number, _)| *number == self.0);
        by.map_or_else(
            || "revoked by an operator".to_owned(),
            |(_, by)| by.to_string(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(reason: &str) -> RevokedBy {
        RevokedBy {
            operation: Uuid::from_u128(7),
            by: "ann\n".to_owned(),
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn revocation_is_described_on_one_line_until_many_others_follow() {
        let number = RevocationNumber::of(by("stuck"));
        let text = "revoked by ann\\n: stuck (operation 00000000-0000-0000-0000-000000000007)";
        assert_eq!(number.describe(), text);
        let later = RevocationNumber::of(by("again"));
        assert_eq!(number.describe(), text);
        assert_ne!(later.describe(), text);
        for _ in 0..REMEMBERED {
            RevocationNumber::of(by("again"));
        }
        assert_eq!(number.describe(), "revoked by an operator");
    }
}
