//! Events of a node that are not answers to commands.

use std::sync::Arc;

use crate::backend::wire::NodeId;
use crate::backend::wire::outstanding::ConnectionId;

/// An event of a node that is not the answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PushEvent<'a> {
    /// A message on a channel that the connection is subscribed to.
    Message {
        channel: &'a [u8],
        payload: &'a [u8],
    },
    /// A connection is set up and subscribed.
    Connected(ConnectionId),
    /// A connection has ended. Messages may have been missed, and the next connection may lead to another server.
    /// May be reported after the next connection is.
    Disconnected(ConnectionId),
}

/// Handles the events of nodes, on the thread that reads or closes the connection. Must not block.
pub(super) type OnPush = Arc<dyn Fn(NodeId, PushEvent<'_>) + Send + Sync>;
