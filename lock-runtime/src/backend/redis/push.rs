//! What a node's connection reports without having been asked.

use std::sync::Arc;

use crate::backend::wire::outstanding::ConnectionId;

/// A node among those of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

/// What a node's connection reports without having been asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PushEvent<'a> {
    /// A message on a channel of this client.
    Message(&'a [u8]),
    /// There is a connection, and it is subscribed.
    Connected(ConnectionId),
    /// The connection is gone. Messages may have been missed, and the next one may lead to another server. May be
    /// reported after the next connection is.
    Disconnected(ConnectionId),
}

/// Handles the events of nodes, on the thread that has read them. Must not block.
pub(super) type OnPush = Arc<dyn Fn(NodeId, PushEvent<'_>) + Send + Sync>;
