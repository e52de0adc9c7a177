//! The observed state of a lock: its holders, its waiters, and the votes of a quorum's nodes.

use std::fmt;
use std::time::Duration;

use super::holder_ref::{HolderRef, RecordHash};
use crate::FencingToken;
use crate::key::LockKey;

/// The state of a lock when its servers were asked: its holders, and the clients that wait for it.
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockState {
    /// The key, without the client's prefix. [`as_str`](LockKey::as_str) may contain control characters.
    pub key: LockKey,
    /// The holder, or the first 128 holders of a shared lock. Empty if the lock is free.
    pub holders: Vec<Holder>,
    /// How many holders there are in addition to `holders`.
    pub more_holders: usize,
    /// The first 128 waiters, in queue order. Each is a client that waits, under the label of its first caller; its
    /// other callers wait behind that caller.
    pub waiters: Vec<Waiter>,
    /// How many waiters there are in addition to `waiters`.
    pub more_waiters: usize,
    /// The last token that was minted for this lock; `None` if its servers remember none.
    pub last_token: Option<FencingToken>,
    /// The votes of a quorum's nodes; `None` if a single server has the lock.
    pub votes: Option<Votes>,
    /// The label in the record of a shared lock: `shared: ` and the label of the first owner, which may have left.
    pub(crate) shared_label: String,
}

/// How many nodes of a quorum have a lock.
///
/// The lock is held if a majority of all nodes has the same owner. A record on a minority of nodes does not hold the
/// lock: its caller is still collecting votes, or has lost them, and the record expires with its ttl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Votes {
    /// How many nodes the quorum has.
    pub nodes: usize,
    /// How many nodes answered.
    pub answered: usize,
    /// How many nodes agree on the most common owner; 0 if no node has an owner.
    pub agreed: usize,
}

impl fmt::Display for Votes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Votes {
            nodes,
            answered,
            agreed,
        } = self;
        write!(
            f,
            "{agreed} of {nodes} nodes have this owner; {answered} answered"
        )
    }
}

impl LockState {
    /// Creates the state of a lock about which nothing is known yet.
    pub(crate) fn free(key: LockKey) -> LockState {
        LockState {
            key,
            holders: Vec::new(),
            more_holders: 0,
            waiters: Vec::new(),
            more_waiters: 0,
            last_token: None,
            votes: None,
            shared_label: String::new(),
        }
    }

    /// Returns the label by which operators know a holder: its own, or else the one of the record that it shares.
    pub(crate) fn label_of<'a>(&'a self, holder: &'a Holder) -> &'a str {
        if holder.label.is_empty() && holder.kind == HolderKind::Share {
            &self.shared_label
        } else {
            &holder.label
        }
    }

    /// Returns whether the lock is held, or blocked by another program's record.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.holder_count() > 0
    }

    /// Returns how many holders the lock has, in `holders` and in addition to them.
    #[must_use]
    pub fn holder_count(&self) -> usize {
        self.holders.len() + self.more_holders
    }

    /// Returns how many clients wait for the lock, in `waiters` and in addition to them.
    #[must_use]
    pub fn waiter_count(&self) -> usize {
        self.waiters.len() + self.more_waiters
    }
}

/// A holder of a lock, as far as its record shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The label of the caller that acquired the lock from its server, such as `checkout@host-7 (pid 4121) ship`. Empty for
    /// another program, and for readers and callers with permits: their records on a server have no labels. In a
    /// [listing](crate::inspect::ListedLock), which shows one holder for all of them, it is `shared: ` and the label of the
    /// first, which may have left.
    ///
    /// Other clients write it, so it may contain any character: escape it wherever it is shown.
    pub label: String,
    /// The fencing token of the grant. A holder that took the lease over inside its client has one of the 15 tokens
    /// above it. `None` if the holder has not asked for one, and for another program's record. On a quorum, this is the
    /// most common token of its records; while nodes are away, the holder may not know that token. Any of these tokens
    /// identifies the holder in a revocation.
    pub token: Option<FencingToken>,
    /// How long ago the lock was granted, by its server's clock. If the record has no token, the time comes from its
    /// holder's clock; if the token was minted later, the age counts from then. For readers and permits, this is how
    /// long the lock has been shared without a break. `None` for another program's record, and if the time is more than
    /// a second ahead of the server's clock.
    pub age: Option<Duration>,
    /// The remaining time of the lease, which may be renewed. `None` for a record that never expires.
    pub remaining: Option<Duration>,
    /// The kind of the record.
    pub kind: HolderKind,
    /// How many permits the holder has; 1 without permits.
    pub permits: u32,
    /// The reference that identifies this holder in a [revocation](crate::LockClient::revoke). `None` for a record that
    /// cannot be revoked.
    pub reference: Option<HolderRef>,
    /// The tokens of this holder on other nodes of a quorum, which it may not know.
    pub(crate) other_tokens: Vec<FencingToken>,
    /// The hash that identified it before it had a token, if it uses this crate and holds the lock alone.
    pub(crate) hash: Option<RecordHash>,
}

impl Holder {
    /// Returns whether `reference` identifies this holder.
    pub(crate) fn is(&self, reference: HolderRef) -> bool {
        match reference {
            HolderRef::Token(turn) => {
                let tokens = self.token.iter().chain(&self.other_tokens);
                tokens.into_iter().any(|&token| turn.is_turn_of(token))
            }
            HolderRef::Record(hash) => self.reference == Some(reference) || self.hash == Some(hash),
        }
    }
}

/// The kind of a lock's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HolderKind {
    /// A holder that uses this crate and has the lock alone.
    Exclusive,
    /// A reader, or a caller with permits, which shares the lock with others.
    Share,
    /// A lock of this crate that is reserved until its minimum hold is over, although its holder is done.
    Reserved,
    /// An owner in [Redisson's record](crate::LockRecord::Redisson).
    Redisson,
    /// Another program that locks with `SET NX PX`.
    Foreign,
    /// The key has the wrong type for a lock. No call acquires this lock until the key is deleted.
    OtherType,
}

impl HolderKind {
    /// Returns the kind as one word: `exclusive`, `share`, `reserved`, `redisson`, `foreign` or `other_type`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            HolderKind::Exclusive => "exclusive",
            HolderKind::Share => "share",
            HolderKind::Reserved => "reserved",
            HolderKind::Redisson => "redisson",
            HolderKind::Foreign => "foreign",
            HolderKind::OtherType => "other_type",
        }
    }
}

/// Writes the kind as one word.
impl fmt::Display for HolderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A client that waits for a lock in the queue of its server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Waiter {
    /// The label of its first waiting caller. Escape it, like [`Holder::label`](crate::inspect::Holder::label).
    #[cfg_attr(feature = "serde", serde(rename = "waiter"))]
    pub label: String,
    /// How long the client has waited.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "waiting_ms", serialize_with = "super::json::millis")
    )]
    pub waiting: Duration,
    /// How long ago the server last heard from the client. After six seconds it counts as gone and is skipped.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "last_seen_ms", serialize_with = "super::json::millis")
    )]
    pub last_seen: Duration,
}
