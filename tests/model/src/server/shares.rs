//! R, the shares of a phase: the time from the first share of a lock to the last.

use super::{OwnerId, Ticks};

/// How much one owner takes of a shared lock, as in the tag of its queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Share {
    pub take: u8,
    /// How much may be taken in all; 0 is without limit.
    pub limit: u8,
}

impl Share {
    pub const READ: Share = Share { take: 1, limit: 0 };
}

/// A share that was granted: a member of R.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    pub owner: OwnerId,
    pub take: u8,
    /// How long it lasts; 0 or less has lapsed.
    pub rest: Ticks,
}

impl Member {
    /// Whether the share is still held.
    pub fn is_live(&self) -> bool {
        self.rest > 0
    }
}

/// The value of the shares' key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shares {
    /// Shares, in any order.
    Counted {
        /// The shares, including lapsed ones.
        members: Vec<Member>,
        /// Their sum: the member `=`.
        sum: i32,
        /// When the key expires.
        rest: Ticks,
    },
    /// No sorted set.
    WrongType,
}

impl Shares {
    /// The shares, including lapsed ones.
    pub fn members(&self) -> &[Member] {
        match self {
            Shares::Counted { members, .. } => members,
            Shares::WrongType => &[],
        }
    }

    pub fn members_mut(&mut self) -> &mut [Member] {
        match self {
            Shares::Counted { members, .. } => members,
            Shares::WrongType => &mut [],
        }
    }

    /// The sum of the live shares.
    pub fn taken(&self) -> i32 {
        let live = self.members().iter().filter(|member| member.is_live());
        live.map(|member| i32::from(member.take)).sum()
    }
}

/// The constants that the scripts of shares carry.
#[derive(Clone, Copy, Debug)]
pub struct ShareRules {
    /// How many shares one script grants at most.
    pub window: usize,
    /// How many waiters or lapsed shares one script examines.
    pub walk: usize,
    /// How long K outlives its last share, since K expires at a whole millisecond.
    pub rounding: Ticks,
}

impl ShareRules {
    /// The rules of the real scripts.
    pub const REAL: ShareRules = ShareRules {
        window: 32,
        walk: 128,
        rounding: 0,
    };
}
