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
    /// How long the first waiter has waited, if `waiters` does not show it.
    pub(crate) unseen_wait: Option<Duration>,
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
            unseen_wait: None,
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

    /// Returns whether both states have the same holders, as far as they can be told apart: readers, and holders of
    /// permits, are counted.
    pub(crate) fn has_same_holders(&self, other: &LockState) -> bool {
        let permits = |state: &LockState| -> u64 {
            let holders = state.holders.iter();
            holders.map(|holder| u64::from(holder.permits)).sum()
        };
        let is_there = |holder: &Holder| other.holders.iter().any(|one| one.is_same(holder));
        self.holder_count() == other.holder_count()
            && permits(self) == permits(other)
            && self.holders.iter().all(is_there)
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

    /// Returns the longest time that a client has waited for the lock; `None` if nobody waits.
    #[must_use]
    pub fn longest_wait(&self) -> Option<Duration> {
        let seen = self.waiters.iter().map(|waiter| waiter.waiting);
        seen.chain(self.unseen_wait).max()
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
    /// Returns whether another state shows the same holder. It may have asked for a token in between.
    fn is_same(&self, other: &Holder) -> bool {
        let is_same = match (self.reference, other.reference) {
            (None, None) => true,
            (Some(mine), Some(its)) => self.is(its) || other.is(mine),
            _ => false,
        };
        is_same && self.kind == other.kind
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: [&[u8]; 2] = [b"one", b"other"];

    fn held_by(holders: impl IntoIterator<Item = Holder>) -> LockState {
        let mut state = LockState::free(LockKey::from("order:42"));
        state.holders = holders.into_iter().collect();
        state
    }

    /// An exclusive holder, which may have a token.
    fn holder(owner: usize, token: Option<u64>) -> Holder {
        let hash = RecordHash::of([HASH[owner]]);
        let token = token.map(FencingToken::new);
        Holder {
            label: "api-7".to_owned(),
            token,
            age: None,
            remaining: None,
            kind: HolderKind::Exclusive,
            permits: 1,
            reference: Some(token.map_or(HolderRef::Record(hash), HolderRef::Token)),
            other_tokens: Vec::new(),
            hash: Some(hash),
        }
    }

    fn share(permits: u32) -> Holder {
        Holder {
            kind: HolderKind::Share,
            permits,
            ..holder(0, Some(16))
        }
    }

    /// In both directions.
    fn are_same(one: &LockState, other: &LockState) -> bool {
        let same = one.has_same_holders(other);
        assert_eq!(other.has_same_holders(one), same);
        same
    }

    #[test]
    fn holder_is_the_same_before_and_after_it_has_a_token() {
        let before = held_by([holder(0, None)]);
        assert!(are_same(&before, &before));
        assert!(are_same(&before, &held_by([holder(0, Some(32))])));
        assert!(!are_same(&before, &held_by([holder(1, None)])));
        assert!(!are_same(&before, &held_by([holder(1, Some(32))])));
        let after = held_by([holder(0, Some(32))]);
        assert!(!are_same(&after, &held_by([holder(1, Some(48))])));
    }

    #[test]
    fn free_lock_has_no_holder_in_common() {
        let free = held_by([]);
        assert!(are_same(&free, &free));
        assert!(!are_same(&free, &held_by([holder(0, None)])));
    }

    #[test]
    fn reserved_lock_and_reader_differ_from_the_holder_before() {
        let before = held_by([holder(0, Some(16))]);
        let mut reserved = holder(0, Some(16));
        reserved.kind = HolderKind::Reserved;
        assert!(!are_same(&before, &held_by([reserved])));
        assert!(!are_same(&before, &held_by([share(1)])));
    }

    #[test]
    fn shares_are_counted_with_their_permits() {
        let two = held_by([share(1), share(2)]);
        assert!(are_same(&two, &held_by([share(2), share(1)])));
        assert!(!are_same(&two, &held_by([share(1)])));
        assert!(!are_same(&two, &held_by([share(1), share(1)])));
        let mut many = held_by([share(1), share(2)]);
        many.more_holders = 1;
        assert!(!are_same(&two, &many));
    }

    #[test]
    fn record_that_cannot_be_revoked_is_known_by_its_kind() {
        let other_type = || Holder {
            kind: HolderKind::OtherType,
            reference: None,
            hash: None,
            ..holder(0, None)
        };
        assert!(are_same(&held_by([other_type()]), &held_by([other_type()])));
        assert!(!are_same(
            &held_by([other_type()]),
            &held_by([holder(0, None)])
        ));
    }
}
