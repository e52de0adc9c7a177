//! Why a node has no vote that counts.

use std::time::Duration;

use crate::backend::wire::error::WireError;

/// Why a node has no vote that counts.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// It may have lost data, and votes after this time.
    Early(Duration),
    /// It has answered, and too few others to compare its clock with.
    ClockUnknown,
    Failed(String),
    /// It would refuse the command again.
    Refused(String),
}

impl Reason {
    pub(crate) fn of(error: &WireError) -> Reason {
        match error {
            WireError::Refused(detail) => Reason::Refused(detail.to_string()),
            WireError::Unavailable(detail) => Reason::Failed(detail.to_string()),
        }
    }
}
