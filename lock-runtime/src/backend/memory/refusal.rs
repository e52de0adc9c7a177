//! The reason that a caller gave up.

use crate::backend::memory::reach;
use crate::backend::memory::store::store_request::Busy;
use crate::background::moment::Moment;
use crate::error::{LockError, LockErrorKind};

/// Why a caller gave up.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// Others hold the lock, or queue for it.
    Busy(Busy),
    /// The store was unreachable when the caller's wait was over.
    Away,
}

impl Refusal {
    /// Returns the error of a caller that gives up at `now`.
    pub(crate) fn into_error(self, now: Moment) -> LockError {
        let Refusal::Busy(held) = self else {
            return reach::away();
        };
        let left = held.expires_at.since(now).min(held.ttl);
        LockError::new(LockErrorKind::Busy)
            .with_holder(held.holder.describe())
            .with_retry_after(Some(left))
    }
}
