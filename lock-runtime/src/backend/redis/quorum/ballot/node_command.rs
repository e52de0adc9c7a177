//! An owner's commands to a node of a quorum, and the node's answers.

use std::time::Duration;

use crate::backend::wire::reply::Waiting;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;

/// A command of an owner to one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Takes the node, confirms it, or queues there.
    Acquire { queue: bool, proposal: Proposal },
    /// Yields the node to a waiter with an earlier stamp, and queues.
    Yield { token: FencingToken },
}

/// The token that an owner proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proposal {
    /// A token from the clock. A node whose clock is far behind it ignores it.
    Guess(u64),
    /// The token of another node.
    Known(u64),
}

/// The answer of a node.
#[derive(Clone, Debug)]
pub(crate) enum NodeReply {
    /// The owner has the node.
    Held(Grant),
    /// The node may have lost data, and grants nothing for this long.
    Early(Duration),
    /// No owner has the node.
    Absent,
    /// Another owner has the node.
    Waiting { holder: HolderId, waiting: Waiting },
}

/// Distinguishes the holders of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HolderId(pub(crate) u64);
