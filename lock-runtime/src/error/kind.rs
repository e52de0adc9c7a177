//! The kinds of failure, each of which needs a different response.

use std::fmt;

/// The kind of a `LockError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockErrorKind {
    /// Another holder had the lock at the last attempt. Try later.
    Busy,
    /// The lock was held, and is no longer held or cannot be proved to be: its lease ran out, its record was deleted,
    /// or `max_hold` was reached. The body's writes may have raced with another holder's.
    Lost,
    /// The server could not be reached or did not answer in time, or it is a replica. Whether the lock is held
    /// is unknown.
    Unavailable,
    /// The server answered and refused: the key has another type, the user lacks a permission, the password is wrong,
    /// memory is full. Or the server cannot keep locks: it is a Sentinel, a node of a cluster, or too old. Or its
    /// certificate cannot be verified, or it does not accept ours. A retry is refused as well, until somebody changes
    /// the server, its memory or the client's settings.
    Rejected,
    /// This call tree holds the lock already and the call may not enter it: the call has `reentrant = false`, or it is
    /// synchronous and a sibling is inside.
    Reentered,
    /// Taking the lock here, while this call or its call tree holds another, closes a ring: another call takes the two
    /// in the opposite order, so that they can deadlock. A call for several keys holds the first while it waits for the
    /// next. Returned only in tests that [deny it](crate::testing::deny_lock_order).
    OutOfOrder,
    /// The key cannot be used: empty, longer than 512 bytes, or a bad hash tag.
    InvalidKey,
    /// A ttl, wait, URL or other setting cannot be used.
    InvalidOptions,
    /// The attribute found no client: none was installed in this process.
    NotInstalled,
    /// A client was already installed in this process.
    AlreadyInstalled,
    /// The client was shut down, or belongs to the parent of this forked process.
    Shutdown,
}

impl LockErrorKind {
    /// Returns the kind as one word, as in spans and metrics: `busy`, `out_of_order`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LockErrorKind::Busy => "busy",
            LockErrorKind::Lost => "lost",
            LockErrorKind::Unavailable => "unavailable",
            LockErrorKind::Rejected => "rejected",
            LockErrorKind::Reentered => "reentered",
            LockErrorKind::OutOfOrder => "out_of_order",
            LockErrorKind::InvalidKey => "invalid_key",
            LockErrorKind::InvalidOptions => "invalid_options",
            LockErrorKind::NotInstalled => "not_installed",
            LockErrorKind::AlreadyInstalled => "already_installed",
            LockErrorKind::Shutdown => "shutdown",
        }
    }

    /// Returns the predicate of a sentence whose subject is the lock.
    pub(crate) fn of_a_lock(self) -> &'static str {
        match self {
            LockErrorKind::Busy => "is busy",
            LockErrorKind::Lost => "was lost",
            LockErrorKind::Unavailable => "is unavailable",
            LockErrorKind::Rejected => "was refused by the server",
            LockErrorKind::Reentered => "is held by this call tree already",
            LockErrorKind::OutOfOrder => "is taken out of order",
            LockErrorKind::InvalidKey => "has an invalid key",
            LockErrorKind::InvalidOptions => "cannot be taken with these options",
            LockErrorKind::NotInstalled => "has no client",
            LockErrorKind::AlreadyInstalled => "has a client already",
            LockErrorKind::Shutdown => "cannot be taken: its client is shut down",
        }
    }

    /// Returns the sentence for a failure that concerns no lock.
    pub(crate) fn of_the_client(self) -> &'static str {
        match self {
            LockErrorKind::Busy => "the lock is busy",
            LockErrorKind::Lost => "the lock was lost",
            LockErrorKind::Unavailable => "the lock server is unavailable",
            LockErrorKind::Rejected => "the lock server refused the request",
            LockErrorKind::Reentered => "the lock is held by this call tree already",
            LockErrorKind::OutOfOrder => "the lock is taken out of order",
            LockErrorKind::InvalidKey => "the lock's key is invalid",
            LockErrorKind::InvalidOptions => "these lock options cannot be used",
            LockErrorKind::NotInstalled => {
                "no lock client is installed; call `install()` on one at start-up"
            }
            LockErrorKind::AlreadyInstalled => "a lock client is installed already",
            LockErrorKind::Shutdown => "the lock client is shut down",
        }
    }
}

/// Writes the kind as one word.
impl fmt::Display for LockErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
