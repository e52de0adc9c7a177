//! A decision of the store: an answer, and the effects that the caller must carry out.

use std::sync::Arc;

use smallvec::SmallVec;
use tokio::sync::Notify;

use crate::backend::memory::lease_watch::LeaseWatch;

/// An answer with its effects.
#[derive(Debug)]
#[must_use = "the effects have to be carried out"]
pub(crate) struct Decision<T> {
    pub(crate) answer: T,
    pub(crate) effects: Effects,
}

impl<T> Decision<T> {
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Decision<U> {
        Decision {
            answer: change(self.answer),
            effects: self.effects,
        }
    }
}

/// A decision's effects on holders and waiters that did not ask for it.
#[derive(Debug)]
pub(crate) struct Effects {
    /// Holders whose leases have expired. They must be notified, since their own timers may not have fired.
    pub(crate) expired: SmallVec<[LeaseWatch; 1]>,
    /// Holders that released their lock.
    pub(crate) released: SmallVec<[LeaseWatch; 1]>,
    /// Waiters that must make their next attempt: each waiter that was granted the lock, and the first waiter if the
    /// time of its grant has moved.
    pub(crate) wake: SmallVec<[Arc<Notify>; 2]>,
}

impl Effects {
    pub(crate) fn none() -> Effects {
        Effects {
            expired: SmallVec::new(),
            released: SmallVec::new(),
            wake: SmallVec::new(),
        }
    }

    /// Adds the effects of another decision.
    pub(crate) fn extend(&mut self, other: Effects) {
        self.expired.extend(other.expired);
        self.released.extend(other.released);
        self.wake.extend(other.wake);
    }

    pub(crate) fn with<T>(self, answer: T) -> Decision<T> {
        Decision {
            answer,
            effects: self,
        }
    }
}
