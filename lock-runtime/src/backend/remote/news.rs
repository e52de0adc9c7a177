//! What the head of a line knows of its lock.

use std::sync::Arc;

use crate::backend::wire::Fault;
use crate::error::{LockError, LockErrorKind};
use crate::lease::record::Holder;

/// The last thing known of a lock. A caller behind the head whose wait is over fails by it, without a
/// command: in a crowd these would be as many commands at once as there are callers. Every lock that is
/// held has one, so what is long is in a box.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// A caller of this client, with this label, has it.
    HeldHere(Arc<str>),
    /// It was given to the next waiter of the queue.
    HandedOn,
    /// The last attempt was answered so.
    Held(Box<Holder>),
    /// The last attempt failed.
    Failed(Box<Fault>),
}

impl News {
    /// Of a line whose head was not answered in all the time that there was.
    pub(crate) fn unknown() -> News {
        let fault = Fault::unavailable("the server has not answered the first in line");
        News::Failed(Box::new(fault))
    }

    pub(crate) fn into_error(self) -> LockError {
        let holder = match self {
            News::HeldHere(label) => Holder::Ours(label.to_string()).describe(),
            News::HandedOn => "the next waiter of its queue".to_owned(),
            News::Held(holder) => holder.describe(),
            News::Failed(fault) => return fault.into_error(),
        };
        LockError::new(LockErrorKind::Busy).with_holder(holder)
    }
}
