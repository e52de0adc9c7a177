//! The report of a campaign's progress.

use crate::error::LockError;

/// What a campaign does now; passed to [`Campaign::on_change`](crate::Campaign::on_change).
#[derive(Debug)]
#[non_exhaustive]
pub enum Standing<'a> {
    /// The campaign begins: it asks for the lock, or waits for it. Reported once, first.
    Candidate,
    /// The function has its lock, and its body leads.
    Leader {
        /// The key of the lock; with several keys, the first in the order of acquisition.
        key: &'a str,
    },
    /// The lock was busy, lost or unavailable, and the campaign stands again. While it does not lead, a reason of the same
    /// kind is reported once.
    Again {
        /// Why the last call did not lead, or no longer does.
        why: &'a LockError,
    },
}
