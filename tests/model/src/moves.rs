//! Moves of the lock from one server, the source, to another, the target.
//!
//! A slot of a cluster moves key by key. Until the move is complete, each of its keys is on one of
//! two nodes, and a command runs on a node that has all of the command's keys. Nothing is lost.
//!
//! A replica takes over with all records, or without the last changes. The old primary is gone, or
//! serves clients until they notice. The new primary does not know the grants of that time.

use crate::server::{KeySet, Mode, Records, Ticks, Token};

/// The server that the lock leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// The slot is being moved, and these keys have arrived at the target.
    Moving(KeySet),
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
