//! What callers ask of a store, and how it answers.

use std::sync::Arc;

use crate::backend::memory::store::queue::WaiterId;
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;
use crate::lease::schedule::LeaseTerms;

/// An attempt to acquire a lock.
#[derive(Debug)]
pub(crate) struct Ask<'a, W> {
    pub(crate) key: &'a str,
    pub(crate) label: &'a Arc<str>,
    pub(crate) terms: LeaseTerms,
    /// The id that the previous attempt was answered with, for a caller that is queued.
    pub(crate) waiter: Option<WaiterId>,
    /// The handle to queue with; `None` for a caller that does not wait.
    pub(crate) queue_with: Option<&'a W>,
}

/// The answer to an attempt at a lock that another caller holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Busy {
    /// The label of the holder.
    pub(crate) holder: Arc<str>,
    /// When the lease of the holder ends, unless it is extended.
    pub(crate) expires_at: Moment,
    /// The place of the caller in the queue.
    pub(crate) waiter: Option<WaiterId>,
}

/// A lock, as a waiter in its queue names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AwaitedLock<'a> {
    pub(crate) key: &'a str,
    pub(crate) waiter: WaiterId,
}

/// A lock, as its holder names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLock<'a> {
    pub(crate) key: &'a str,
    pub(crate) token: FencingToken,
}

/// The answer to a renewal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RenewOutcome<'a, H> {
    /// The lock is free, or another caller holds it.
    NotHeld,
    /// The lease is renewed without being asked for it.
    Unchanged,
    /// The lease has a new deadline.
    Extended {
        deadline: Moment,
        handle: Option<&'a mut H>,
    },
}
