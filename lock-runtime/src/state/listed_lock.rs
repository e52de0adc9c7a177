//! A held lock in a listing.

use super::lock_state::{Holder, LockState};
use crate::key::LockKey;

/// A held lock, as a [listing](crate::inspect::Locks) shows it: one holder, and how many others there are.
/// [`inspect`](crate::LockClient::inspect) returns all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ListedLock {
    /// The key, without the client's prefix. [`as_str`](LockKey::as_str) may contain control characters.
    pub key: LockKey,
    /// The holder, or one of the holders of a shared lock.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub holder: Holder,
    /// How many holders the lock has.
    pub holders: usize,
    /// How many clients wait for the lock.
    pub waiters: usize,
}

impl ListedLock {
    /// Returns the lock with this state; `None` if it is free.
    pub(crate) fn of(mut state: LockState) -> Option<ListedLock> {
        let (holders, waiters) = (state.holder_count(), state.waiter_count());
        let holder = state.holders.drain(..).next()?;
        Some(ListedLock {
            key: state.key,
            holder,
            holders,
            waiters,
        })
    }
}
