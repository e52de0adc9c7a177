//! Queries and operators' commands for locks that the client need not hold.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::state::{Answer, AuditEntry, HolderRef, ListingPosition};

/// Selects the locks of a listing.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    /// The prefix of the client's keys.
    pub(crate) prefix: String,
    /// A Redis pattern for keys.
    pub(crate) keys: String,
    /// The same kind of pattern for the names of locks, prefix included.
    pub(crate) pattern: String,
    /// About how many keys a server looks at for each page.
    pub(crate) count: u32,
}

/// The position in a listing or in the audit.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The nodes that are still to be asked, the next one last. `None` before the first page.
    pub(crate) nodes: Option<Vec<String>>,
    /// The position in the last of them.
    pub(crate) position: Position,
    /// The locks that were shown already, if several nodes may list the same one: 128 bits of hash for each.
    shown: HashSet<u128>,
    hashers: [RandomState; 2],
    /// The count of slot moves when the pass began.
    pub(crate) moves: u64,
    /// Keys seem to be moving between nodes.
    pub(crate) has_moved: bool,
    /// How many passes have begun.
    pub(crate) passes: u32,
    /// The nodes of a quorum that did not answer.
    pub(crate) away: Vec<usize>,
    pub(crate) is_over: bool,
    /// Another cursor read the earlier part of the listing, and it is unknown what that part has shown.
    pub(crate) is_resumed: bool,
    /// Where a resumed listing begins, until it has begun.
    first: Option<String>,
}

impl Cursor {
    /// A cursor that continues from another one's position.
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

    /// Returns the position; `None` at the end.
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

    /// Begins to read these nodes, or continues where the cursor was resumed. The nodes are read in the order of their
    /// names, so that every cursor has the same order.
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

    /// Returns whether the lock was not shown before.
    pub(crate) fn is_new(&mut self, key: &str) -> bool {
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(key));
        self.shown.insert(u128::from(high) << 64 | u128::from(low))
    }
}

/// The position in a node. A node's cursor means nothing to another server, and the next connection may lead to another
/// one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    pub(crate) connection: Option<ConnectionId>,
    /// The server's cursor; empty at the beginning.
    pub(crate) cursor: String,
    pub(crate) restarts: u32,
}

/// Takes a lock from its holder.
#[derive(Clone, Debug)]
pub(crate) struct RevokeOrder {
    pub(crate) reference: HolderRef,
    /// The message to the holder: operation, operator and reason, as in [`Notice`](super::notice::Notice).
    pub(crate) notice: String,
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RevokeReply {
    Freed(Option<usize>),
    HandedOff(Option<usize>),
    Changed,
    NotHeld,
}

/// The answers of one server to some commands.
pub(crate) type ServerReply = Result<Vec<Answer>, WireError>;

/// A line of the audit, and its position in its stream.
pub(crate) type Line = AuditEntry;
