//! A call's request.

use std::time::Duration;

/// A caller's request, and the abilities of its servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Call {
    /// The number of locks.
    pub(crate) locks: usize,
    /// The ttl of the first lease.
    pub(crate) ttl: Duration,
    pub(crate) waits: bool,
    pub(crate) is_share: bool,
    /// A plain command may take the lock if it is free.
    pub(crate) may_take: bool,
    /// The servers have a queue of owners.
    pub(crate) has_queue: bool,
    /// The lock is granted once enough replicas have it.
    pub(crate) awaits_replicas: bool,
}
