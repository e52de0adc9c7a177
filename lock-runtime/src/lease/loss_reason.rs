//! Why a lease ended before its holder ended it.

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
}

impl LossReason {
    /// The label in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LossReason::Expired => "expired",
            LossReason::NotOurs => "not_ours",
            LossReason::MaxHold => "max_hold",
            LossReason::Shutdown => "shutdown",
        }
    }

    pub(crate) fn describe(self) -> &'static str {
        match self {
            LossReason::Expired => "its lease ran out before it could be renewed",
            LossReason::NotOurs => "the server no longer has it as ours",
            LossReason::MaxHold => "its max_hold was reached",
            LossReason::Shutdown => "its client was shut down",
        }
    }
}
