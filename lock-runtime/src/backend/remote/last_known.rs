//! The latest knowledge of a local queue's head about its lock.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::backend::engine::competing::event::Knows;
use crate::backend::wire::error::WireError;
use crate::background::moment::Moment;
use crate::error::{LockError, LockErrorKind};
use crate::lease::Lease;
use crate::lease::record::Holder;

/// The latest knowledge about a lock. A caller behind the head whose wait is over fails with it, without a command of
/// its own: otherwise a crowd would send one command per caller at the same time.
///
/// Every held lock has one, so large variants are boxed.
#[derive(Clone, Debug)]
pub(crate) enum LastKnown {
    /// A caller of this client holds the lock with this lease. Weak, since dropping the lease must end its trace.
    LocalHold(Weak<Lease>),
    /// The lock was handed off to the next waiter of the queue.
    HandedOff,
    /// The last answer named this holder.
    HeldElsewhere(Box<HeldElsewhere>),
    /// The last attempt failed.
    Failed(Box<WireError>),
}

/// The holder that an answer named.
#[derive(Clone, Debug)]
pub(crate) struct HeldElsewhere {
    holder: Holder,
    /// When its lease ends unless renewed; `None` if it never ends.
    expires_at: Option<Moment>,
}

impl HeldElsewhere {
    /// Describes the holder. Waiting is useless if the record has no expiry, for example after a `SET key value` by
    /// hand. Our own records always have one.
    fn describe(&self) -> String {
        let holder = self.holder.describe();
        match (&self.holder, self.expires_at) {
            (Holder::Foreign(_) | Holder::Redisson(_), None) => {
                format!("{holder}, whose record never expires")
            }
            _ => holder,
        }
    }
}

impl LastKnown {
    /// Creates the knowledge after a caller of this client got the lock.
    pub(crate) fn local_hold(lease: &Arc<Lease>) -> LastKnown {
        LastKnown::LocalHold(Arc::downgrade(lease))
    }

    /// Creates the knowledge from an answer that arrived at `now`.
    pub(crate) fn held_elsewhere(
        holder: Holder,
        remaining: Option<Duration>,
        now: Moment,
    ) -> LastKnown {
        LastKnown::HeldElsewhere(Box::new(HeldElsewhere {
            holder,
            expires_at: remaining.map(|remaining| now + remaining),
        }))
    }

    /// Creates the knowledge of a head that got no answer within its callers' wait.
    pub(crate) fn unknown() -> LastKnown {
        LastKnown::failed(WireError::unavailable(
            "the server has not answered the first in line",
        ))
    }

    /// Returns the part that decisions need.
    pub(crate) fn knows(known: Option<&LastKnown>) -> Knows {
        match known {
            None => Knows::Nothing,
            Some(LastKnown::LocalHold(_) | LastKnown::HandedOff) => Knows::OneOfUs,
            Some(LastKnown::HeldElsewhere(_)) => Knows::Holder,
            Some(LastKnown::Failed(error)) => match **error {
                WireError::Refused(_) => Knows::Refused,
                WireError::Unavailable(_) => Knows::Failed,
            },
        }
    }

    pub(crate) fn failed(error: WireError) -> LastKnown {
        LastKnown::Failed(Box::new(error))
    }

    /// Returns the error of a caller that gives up at `now`.
    pub(crate) fn into_error(self, now: Moment) -> LockError {
        let handed_off = || ("the next waiter of its queue".to_owned(), None);
        let (holder, remaining) = match self {
            LastKnown::LocalHold(lease) => lease.upgrade().map_or_else(handed_off, |lease| {
                let holder = Holder::Ours(lease.label.to_string());
                (holder.describe(), Some(lease.remaining()))
            }),
            LastKnown::HandedOff => handed_off(),
            LastKnown::HeldElsewhere(held) => (
                held.describe(),
                held.expires_at.map(|expires_at| expires_at.since(now)),
            ),
            LastKnown::Failed(error) => return error.into_error(),
        };
        LockError::new(LockErrorKind::Busy)
            .with_holder(holder)
            .with_retry_after(remaining)
    }
}
