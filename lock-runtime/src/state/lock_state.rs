//! A lock as it is on its servers.

use super::holder::Holder;
use super::waiter::Waiter;
use crate::FencingToken;
use crate::key::LockKey;

/// A lock as it was when its servers were asked: its holders, and the clients that wait for it.
///
/// # Examples
///
/// ```
/// # use lock_runtime::LockClient;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
/// let client = LockClient::memory();
/// let guard = client.lock("order:42").acquire().await?;
/// let state = client.inspect("order:42").await?;
/// assert!(state.is_held());
/// assert_eq!(state.holders[0].token, Some(guard.fencing_token().await?));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LockState {
    /// The key, without the client's prefix. [`as_str`](LockKey::as_str) may have control characters.
    pub key: LockKey,
    /// The holder, or the first 128 of those that share the lock. Empty if the lock is free.
    pub holders: Vec<Holder>,
    /// How many holders there are beside those in `holders`.
    pub more_holders: usize,
    /// The first 128 waiters, in their order. Each is a client that waits, under the label of its first caller; its other
    /// callers wait behind that one. A [listing](crate::inspect::Locks) has none, and counts all of them below.
    pub waiters: Vec<Waiter>,
    /// How many waiters there are beside those in `waiters`.
    pub more_waiters: usize,
    /// The last token that was given for this lock. `None` if its servers remember none, and in a listing.
    pub last_token: Option<FencingToken>,
    /// What the nodes of a quorum say; `None` where one server has the lock.
    pub votes: Option<Votes>,
}

/// How many nodes of a quorum have a lock.
///
/// The lock is held if a majority of all nodes has one owner. A minority's record stands for a caller that has not the
/// lock: it still asks the other nodes, or lost them, and its record ends with its ttl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Votes {
    /// The nodes of the quorum.
    pub nodes: usize,
    /// Those that answered.
    pub answered: usize,
    /// Those that have the owner which most of them have; 0 if none has any.
    pub held: usize,
}

impl LockState {
    /// A lock of which nothing is known yet.
    pub(crate) fn free(key: LockKey) -> LockState {
        LockState {
            key,
            holders: Vec::new(),
            more_holders: 0,
            waiters: Vec::new(),
            more_waiters: 0,
            last_token: None,
            votes: None,
        }
    }

    /// Whether the lock is held, or kept from callers by a record of another program.
    pub fn is_held(&self) -> bool {
        !self.holders.is_empty() || self.more_holders > 0
    }

    /// How many clients wait for the lock.
    pub fn waiting(&self) -> usize {
        self.waiters.len() + self.more_waiters
    }
}
