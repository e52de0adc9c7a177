//! A client that waits for a lock.

use std::time::Duration;

/// A client that waits for a lock in the queue of its server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Waiter {
    /// The first of its callers that wait, in words. As [`Holder::label`](crate::inspect::Holder::label), to be escaped.
    pub label: String,
    /// How long it has waited.
    pub waiting: Duration,
    /// How long ago it was last heard of. From six seconds on it counts as gone, and is skipped.
    pub last_seen: Duration,
}
