//! Events of a connection that are not answers to commands.

use std::io;

/// An event of a connection that is not the answer to a command.
pub(in crate::backend::redis) enum TransportEvent<'a> {
    /// A message was published on a channel that the connection is subscribed to.
    Message {
        channel: &'a [u8],
        payload: &'a [u8],
    },
    /// The connection broke for this reason. Not reported if it was closed here.
    Broken(&'a io::Error),
}

/// Handles the events of a connection, on the thread that has read them, with no mutex held. Must not block.
pub(in crate::backend::redis) type OnTransportEvent = Box<dyn Fn(TransportEvent<'_>) + Send + Sync>;
