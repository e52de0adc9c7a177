//! Moves of the lock from one server, the source, to another, the target.
//!
//! A slot of a cluster moves key by key. Until the move is complete, each of its keys is on one of
//! two nodes, and a command runs on a node that has all of the command's keys. Nothing is lost.
//!
//! A replica takes over with all records, or without the last changes. The old primary is gone, or
//! serves clients until they notice. The new primary does not know the grants of that time.

use crate::network::{Kind, Request};
use crate::server::{Mode, Records, Ticks, Token};

/// A key of a lock's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// K.
    Lock,
    /// F.
    Fence,
    /// Q.
    Queue,
    /// R.
    Shares,
}

/// Some keys, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Keys(u8);

impl Keys {
    pub(crate) const ALL: [Key; 4] = [Key::Lock, Key::Fence, Key::Queue, Key::Shares];

    pub(crate) fn of(keys: &[Key]) -> Keys {
        Keys(keys.iter().fold(0, |bits, &key| bits | 1 << key as u8))
    }

    /// The keys that exist.
    pub(crate) fn existing(records: &Records) -> Keys {
        let exists = |key: &Key| match key {
            Key::Lock => records.lock.is_some(),
            Key::Fence => records.fence.is_some(),
            Key::Queue => !records.queue.entries().is_empty(),
            Key::Shares => records.shares.is_some(),
        };
        let existing = Keys::ALL.into_iter().filter(exists);
        existing.fold(Keys::default(), |keys, key| keys.or(Keys::of(&[key])))
    }

    /// The keys that a command names.
    pub(crate) fn named(request: &Request) -> Keys {
        let of_lock = matches!(
            request.kind,
            Kind::Take { .. }
                | Kind::Renew { .. }
                | Kind::Release
                | Kind::Delete { .. }
                | Kind::Reserve { .. }
        );
        Keys::of(match (of_lock, request.share) {
            (true, None) => &[Key::Lock],
            (true, Some(_)) => &[Key::Lock, Key::Shares],
            (false, None) => &[Key::Lock, Key::Fence, Key::Queue],
            (false, Some(_)) => &Keys::ALL,
        })
    }

    pub(crate) fn or(self, other: Keys) -> Keys {
        Keys(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Keys) -> Keys {
        Keys(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Keys) -> Keys {
        Keys(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_one(self) -> bool {
        self.0.count_ones() == 1
    }
}

/// The server that the lock leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// The slot is being moved, and these keys have arrived at the target.
    Moving(Keys),
    /// The slot has moved.
    Moved,
    /// Another server has taken over, and this one still serves clients that have not noticed.
    Primary {
        records: Records,
        /// How long it may take a client to notice; negative once that time is over.
        left: Ticks,
    },
}

impl Source {
    /// The records that only this server has.
    pub(crate) fn own_records(&mut self) -> Option<&mut Records> {
        match self {
            Source::Primary { records, .. } => Some(records),
            Source::Moving(_) | Source::Moved => None,
        }
    }
}

/// A replica.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Replica {
    pub(crate) records: Records,
    /// The highest token granted before this copy of the records; counted only where its clock does
    /// not know it.
    pub(crate) last: Token,
}

/// How a server treats a command.
pub(crate) enum Reception {
    /// Runs its script, under this impairment.
    Runs(Mode),
    /// ASK or MOVED.
    Redirects { has_moved: bool },
    /// TRYAGAIN.
    Refuses,
}
