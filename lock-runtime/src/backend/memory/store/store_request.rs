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
    /// The caller's share; `None` for an exclusive caller.
    pub(crate) share: Option<Share>,
    pub(crate) terms: LeaseTerms,
    /// For a queued caller, the owner that the previous attempt returned.
    pub(crate) owner: Option<OwnerId>,
    /// The notification that wakes the caller in the queue, and the end of its wait; `None` for a caller that does not
    /// wait.
    pub(crate) queue_with: Option<(&'a Arc<Notify>, Moment)>,
}

/// The answer to an attempt when other callers hold the lock or queue for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Busy {
    /// The holder in the way, as the caller sees it.
    pub(crate) holder: record::Holder,
    /// When the lease in the way ends, unless it is extended.
    pub(crate) expires_at: Moment,
    /// The ttl of that lease. A renewed lease never ends here, but on a server it would last no longer than this.
    pub(crate) ttl: Duration,
    /// When the wait of the first waiter is over. Its caller may never be polled again.
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
    /// The lease never expires, so there is nothing to extend.
    Unchanged,
    /// The lease has a new deadline.
    Extended {
        deadline: Moment,
        watch: Option<&'a mut LeaseWatch>,
    },
}
