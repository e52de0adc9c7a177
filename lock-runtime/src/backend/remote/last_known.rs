//! What the head of a line knows of its lock.

use std::sync::Arc;

use crate::backend::wire::WireError;
use crate::error::{LockError, LockErrorKind};
use crate::lease::record::Holder;

/// The last thing known of a lock. A caller behind the head whose wait is over fails by it, without a
/// command: in a crowd these would be as many commands at once as there are callers. Every lock that is
/// held has one, so what is long is in a box.
#[derive(Clone, Debug)]
pub(crate) enum LastKnown {
    /// A caller of this client, with this label, has it.
    HeldHere(Arc<str>),
    /// It was given to the next waiter of the queue.
    HandedOff,
    /// The last attempt was answered so.
    Held(Box<Holder>),
    /// The last attempt failed.
    Failed(Box<WireError>),
}

impl LastKnown {
    /// Of a line whose head was not answered in all the time that there was.
    pub(crate) fn unknown() -> LastKnown {
        let fault = WireError::unavailable("the server has not answered the first in line");
        LastKnown::Failed(Box::new(fault))
    }

    pub(crate) fn into_error(self) -> LockError {
        let holder = match self {
            LastKnown::HeldHere(label) => Holder::Ours(label.to_string()).describe(),
            LastKnown::HandedOff => "the next waiter of its queue".to_owned(),
            LastKnown::Held(holder) => holder.describe(),
            LastKnown::Failed(fault) => return fault.into_error(),
        };
        LockError::new(LockErrorKind::Busy).with_holder(holder)
    }
}
