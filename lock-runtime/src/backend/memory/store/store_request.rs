//! Requests to a store, and its answers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::background::moment::Moment;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::LeaseTerms;
use crate::lease::{Share, record};

/// An attempt to acquire a lock.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) key: &'a str,
    pub(crate) label: &'a Arc<str>,
    /// The caller's share; `None` if it is exclusive.
    pub(crate) share: Option<Share>,
    pub(crate) terms: LeaseTerms,
    /// The owner in the answer to the previous attempt, for a queued caller.
    pub(crate) owner: Option<OwnerId>,
    /// Wakes the caller in the queue, with the time when its wait is over; `None` for a caller that does not wait.
    pub(crate) queue_with: Option<(&'a Arc<Notify>, Moment)>,
}

/// The answer to an attempt at a lock that other callers hold, or queue for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Busy {
    /// Who is in the way, as the caller sees it.
    pub(crate) holder: record::Holder,
    /// When the leases in the way end, unless they are extended.
    pub(crate) expires_at: Moment,
    /// The ttl of that lease. A renewed lease has no end here, and lasts at most this long on a server.
    pub(crate) ttl: Duration,
    /// When the wait of the first in the queue is over, which may never be polled again.
    pub(crate) first_leaves_at: Moment,
    /// The caller's owner in the queue.
    pub(crate) owner: Option<OwnerId>,
}

/// An owner, with the lock that it holds or waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockOwner<'a> {
    pub(crate) key: &'a str,
    pub(crate) id: OwnerId,
}

/// The answer to a renewal.
#[derive(Debug)]
pub(crate) enum RenewOutcome<'a> {
    /// The lock is free, or another caller holds it.
    NotHeld,
    /// The lease is renewed without a request.
    Unchanged,
    /// The lease has a new deadline.
    Extended {
        deadline: Moment,
        watch: Option<&'a mut LeaseWatch>,
    },
}
