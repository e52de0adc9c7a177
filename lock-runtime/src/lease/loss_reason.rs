//! Why a lease ended before its holder ended it.

use std::borrow::Cow;

use super::revoked_by::RevocationNumber;

/// Why a lease ended before its holder ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossReason {
    /// The deadline passed without a renewal.
    Expired,
    /// The server says that the lock is free, or held by another owner.
    NotOurs,
    /// `max_hold` was reached.
    MaxHold,
    /// The client was shut down.
    Shutdown,
    /// An operator took the lock away.
    Revoked(RevocationNumber),
}

impl LossReason {
    /// The label in metrics.
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
            LossReason::NotOurs => "the server no longer has it as ours".into(),
            LossReason::MaxHold => "its max_hold was reached".into(),
            LossReason::Shutdown => "its client was shut down".into(),
            LossReason::Revoked(number) => number.describe().into(),
        }
    }
}
