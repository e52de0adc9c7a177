//! A held lock in a listing.

use std::time::Duration;

use super::lock_state::{Holder, LockState, Votes};
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
    pub holder_count: usize,
    /// How many clients wait for the lock.
    pub waiter_count: usize,
    /// The longest time that one of them has waited; `None` if nobody waits.
    #[cfg_attr(
        feature = "serde",
        serde(
            rename = "longest_wait_ms",
            serialize_with = "super::json::optional_millis"
        )
    )]
    pub longest_wait: Option<Duration>,
    /// The votes of a quorum's nodes; `None` if a single server has the lock. If fewer than a majority agree, nodes that
    /// did not answer may complete the majority.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub votes: Option<Votes>,
}

impl ListedLock {
    /// Returns the lock with this state; `None` if it is free.
    pub(crate) fn of(mut state: LockState) -> Option<ListedLock> {
        let (holder_count, waiter_count) = (state.holder_count(), state.waiter_count());
        let longest_wait = state.longest_wait();
        let mut holder = state.holders.drain(..).next()?;
        holder.label = state.label_of(&holder).to_owned();
        Some(ListedLock {
            key: state.key,
            holder,
            holder_count,
            waiter_count,
            longest_wait,
            votes: state.votes,
        })
    }
}
