//! A lock as it was seen: its holders, its waiters, and what the nodes of a quorum say.

use std::time::Duration;

use super::holder_ref::{HolderRef, RecordHash};
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

/// A holder of a lock, as far as its record shows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Holder {
    /// The holder in words, such as `checkout@host-7 (pid 4121) ship`: the caller that acquired the lock from its server. Records of
    /// readers and permits have the label of the first of them alone, which may have left. Empty for another program.
    ///
    /// Other clients write it, so it may have any characters: escape it where it is shown.
    pub label: String,
    /// The fencing token of the grant. A holder that took the lease over inside its client has one of the 15 above it.
    /// `None` if the holder has not asked for one, and for the record of another program. On a quorum, the token of most of
    /// its records; while nodes are away, that may be one that the holder does not know. Each of them names the holder in a
    /// revocation.
    pub token: Option<FencingToken>,
    /// How long ago the lock was granted, by its server's clock. A record without a token has the time of its holder's clock
    /// instead; a token that was minted later is counted from then. For readers and permits, how long the lock has been
    /// shared without a break. `None` for the record of another program, and for a time that is ahead of the server's clock by
    /// more than a second.
    pub age: Option<Duration>,
    /// What is left of the lease, which may be renewed. `None` for a record that never expires.
    pub remaining: Option<Duration>,
    /// What kind of record it is.
    pub kind: HolderKind,
    /// How many permits it has; 1 for all others.
    pub takes: u32,
    /// By what a [revocation](crate::LockClient::revoke) names this holder. `None` for a record that cannot be revoked.
    pub seen: Option<HolderRef>,
    /// The tokens of this holder on other nodes of a quorum, which it may not know.
    pub(crate) other_tokens: Vec<FencingToken>,
    /// What named it before it had a token, if it is of this crate and holds the lock alone.
    pub(crate) hash: Option<RecordHash>,
}

impl Holder {
    /// Whether an operator who saw this means this holder.
    pub(crate) fn is(&self, seen: HolderRef) -> bool {
        match seen {
            HolderRef::Token(seen) => {
                let tokens = self.token.iter().chain(&self.other_tokens);
                tokens.into_iter().any(|&token| seen.is_turn_of(token))
            }
            HolderRef::Record(hash) => self.seen == Some(seen) || self.hash == Some(hash),
        }
    }
}

/// What kind of record a lock has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HolderKind {
    /// A holder of this crate that has the lock alone.
    Ours,
    /// A reader, or a caller with permits, beside others.
    Share,
    /// A lock of this crate that stays taken for its minimum, although its holder is done.
    Resting,
    /// An owner in [Redisson's record](crate::LockRecord::Redisson).
    Redisson,
    /// Another program that locks with `SET NX PX`.
    Foreign,
    /// The key holds another type than that of a lock. No call gets this lock before the key is deleted.
    OtherType,
}

impl HolderKind {
    /// The kind in a word: `lock`, `share`, `resting`, `redisson`, `foreign` or `other-type`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            HolderKind::Ours => "lock",
            HolderKind::Share => "share",
            HolderKind::Resting => "resting",
            HolderKind::Redisson => "redisson",
            HolderKind::Foreign => "foreign",
            HolderKind::OtherType => "other-type",
        }
    }
}

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
