//! A holder of a lock.

use std::time::Duration;

use super::seen::{RecordHash, Seen};
use crate::FencingToken;

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
    pub seen: Option<Seen>,
    /// The tokens of this holder on other nodes of a quorum, which it may not know.
    pub(crate) other_tokens: Vec<FencingToken>,
    /// What named it before it had a token, if it is of this crate and holds the lock alone.
    pub(crate) hash: Option<RecordHash>,
}

impl Holder {
    /// Whether an operator who saw this means this holder.
    pub(crate) fn is(&self, seen: Seen) -> bool {
        match seen {
            Seen::Token(seen) => {
                let tokens = self.token.iter().chain(&self.other_tokens);
                tokens.into_iter().any(|&token| seen.is_turn_of(token))
            }
            Seen::Record(hash) => self.seen == Some(seen) || self.hash == Some(hash),
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
    /// An owner in [Redisson's record](crate::Record::Redisson).
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
