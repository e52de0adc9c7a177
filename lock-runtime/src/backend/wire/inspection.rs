//! Queries and operators' commands for locks that the client need not hold.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::state::{Answer, AuditEntry, HolderRef, ListingPosition};

/// Which locks a listing is of.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    /// The prefix of the client's keys.
    pub(crate) prefix: String,
    /// What keys are compared with: a pattern of Redis.
    pub(crate) keys: String,
    /// The same for the names of locks, prefix included.
    pub(crate) pattern: String,
    /// How many keys a server looks at for each page, about.
    pub(crate) count: u32,
}

/// How far a listing, or a reading of the audit, has come.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The nodes that are still to be asked, the next one last. `None` before the first page.
    pub(crate) nodes: Option<Vec<String>>,
    /// How far the last of them was read.
    pub(crate) position: Position,
    /// What was shown already, where a lock may be found on several nodes: 128 bits of hash for each.
    shown: HashSet<u128>,
    hashers: [RandomState; 2],
    /// How often slots had moved when the pass began.
    pub(crate) moves: u64,
    /// Signs were seen that keys move.
    pub(crate) has_moved: bool,
    /// How many passes have begun.
    pub(crate) passes: u32,
    /// Nodes of a quorum that did not answer.
    pub(crate) away: Vec<usize>,
    pub(crate) is_over: bool,
    /// An earlier part of the listing had another cursor. What that has shown is not known.
    pub(crate) is_resumed: bool,
    /// Where a resumed listing begins, until it has begun.
    first: Option<String>,
}

impl Cursor {
    /// A cursor that goes on from where another one was.
    pub(crate) fn resumed(from: ListingPosition) -> Cursor {
        Cursor {
            position: Position {
                cursor: from.cursor,
                ..Position::default()
            },
            away: from.away,
            is_resumed: true,
            first: Some(from.node).filter(|node| !node.is_empty()),
            ..Cursor::default()
        }
    }

    /// How far it has come; `None` at the end.
    pub(crate) fn at(&self) -> Option<ListingPosition> {
        let node = match &self.nodes {
            // Before the first page, or with one server.
            None => self.first.clone().unwrap_or_default(),
            Some(nodes) => nodes.last()?.clone(),
        };
        (!self.is_over).then(|| ListingPosition {
            cursor: self.position.cursor.clone(),
            away: self.away.clone(),
            node,
        })
    }

    /// Begins to read these nodes, or goes on from where the cursor was resumed. They are read in the order of their names,
    /// which stays the same from one cursor to the next.
    pub(crate) fn begin(&mut self, mut nodes: Vec<String>) {
        nodes.sort_unstable_by(|one, other| other.cmp(one));
        if let Some(first) = self.first.take() {
            nodes.retain(|node| *node >= first);
            if nodes.last() != Some(&first) {
                self.position = Position::default();
            }
        }
        self.nodes = Some(nodes);
    }

    /// Whether a lock was not shown before.
    pub(crate) fn is_new(&mut self, key: &str) -> bool {
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(key));
        self.shown.insert(u128::from(high) << 64 | u128::from(low))
    }
}

/// How far a node was read. A node's cursor means nothing to another server, which the next connection may lead to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    pub(crate) connection: Option<ConnectionId>,
    /// The server's cursor; empty at the beginning.
    pub(crate) cursor: String,
    pub(crate) restarts: u32,
}

/// A lock is to be taken from its holder.
#[derive(Clone, Debug)]
pub(crate) struct RevokeOrder {
    pub(crate) seen: HolderRef,
    /// What the holder is told: operation, operator and reason, as [`Notice`](super::notice::Notice) has them.
    pub(crate) notice: String,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RevokeReply {
    Freed(Option<usize>),
    HandedOn(Option<usize>),
    Changed,
    NotHeld,
}

/// The answers of one server to some commands.
pub(crate) type ServerReply = Result<Vec<Answer>, WireError>;

/// A line of the audit, and where it is in its stream.
pub(crate) type Line = AuditEntry;
