//! The last thing known of a lock by the head of its local queue.

use std::sync::Arc;

use crate::backend::wire::error::WireError;
use crate::error::{LockError, LockErrorKind};
use crate::lease::record::Holder;

/// The last thing known of a lock. A caller behind the head whose wait is over fails by it, without a
/// command: a crowd would otherwise send one command for each caller at the same time.
///
/// Every held lock has one, so long variants are boxed.
#[derive(Clone, Debug)]
pub(crate) enum LastKnown {
    /// A caller of this client, with this label, holds the lock.
    HeldHere(Arc<str>),
    /// The lock was handed to the next waiter of the queue.
    HandedOff,
    /// The last attempt was answered with this holder.
    HeldElsewhere(Box<Holder>),
    /// The last attempt failed.
    Failed(Box<WireError>),
}

impl LastKnown {
    /// For a local queue whose head had no answer within its callers' wait.
    pub(crate) fn unknown() -> LastKnown {
        LastKnown::failed(WireError::unavailable(
            "the server has not answered the first in line",
        ))
    }

    pub(crate) fn failed(error: WireError) -> LastKnown {
        LastKnown::Failed(Box::new(error))
    }

    /// The error of a caller that gives up.
    pub(crate) fn into_error(self) -> LockError {
        let holder = match self {
            LastKnown::HeldHere(label) => Holder::Ours(label.to_string()).describe(),
            LastKnown::HandedOff => "the next waiter of its queue".to_owned(),
            LastKnown::HeldElsewhere(holder) => holder.describe(),
            LastKnown::Failed(error) => return error.into_error(),
        };
        LockError::new(LockErrorKind::Busy).with_holder(holder)
    }
}
