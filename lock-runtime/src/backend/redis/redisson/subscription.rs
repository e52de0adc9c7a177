//! A caller's subscription to the releases of a lock.

use std::sync::Arc;

use super::listeners::{Listeners, Missed};
use crate::backend::redis::node::{Node, NodeError};
use crate::backend::wire::error::WireError;
use crate::backend::wire::owner::Owner;
use crate::key::LockName;

/// A client's server, and the locks for whose releases it listens.
pub(super) struct Channels {
    pub(super) node: Arc<Node>,
    pub(super) listeners: Arc<Listeners>,
}

/// Keeps a client subscribed to the releases of a lock, while one of its callers waits for it.
pub(crate) struct Subscription {
    channels: Arc<Channels>,
    channel: String,
}

impl Subscription {
    pub(super) fn new(channels: &Arc<Channels>, lock: &LockName) -> Subscription {
        let channel = channel_of(lock);
        channels.listeners.enter(&channel);
        Subscription {
            channels: channels.clone(),
            channel,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Channels { node, listeners } = &*self.channels;
        let Some(id) = listeners.leave(&self.channel) else {
            return;
        };
        let connection = node.connected();
        if let Some(connection) = connection.filter(|connection| connection.id == id) {
            let answer = connection.transport.send(&|output| {
                listeners.write_subscription(output, &self.channel, id);
            });
            drop(answer);
        }
        listeners.forget(&self.channel);
    }
}

impl Channels {
    /// Notifies an owner of releases of its lock. Returns `true` if it may have missed one before.
    pub(super) async fn listen(&self, owner: &Owner) -> Result<bool, WireError> {
        let lock = &owner.names.first().lock;
        let channel = channel_of(lock);
        let until = self.node.until();
        let connection = self
            .node
            .connect(until)
            .await
            .map_err(NodeError::into_wire)?;
        let id = connection.id;
        match self.listeners.listen(&channel, owner.id(), id) {
            Missed::Nothing => return Ok(false),
            Missed::MaybeRelease => return Ok(true),
            Missed::All => {}
        }
        let write = |output: &mut Vec<u8>| self.listeners.write_subscription(output, &channel, id);
        let subscribed = self.node.send_on(&connection, &write, until).await;
        self.listeners.answered(&channel, id, subscribed.is_ok());
        subscribed.map(|_| true).map_err(NodeError::into_wire)
    }
}

/// Returns Redisson's channel for the releases of a lock. If the name already has braces, none are added.
///
/// In a cluster, Redisson publishes with SPUBLISH from 3.22.0 on, and its clients listen with SSUBSCRIBE. To support
/// that, this file and `redisson_release.lua` would need both commands.
pub(super) fn channel_of(lock: &str) -> String {
    if lock.contains('{') {
        format!("redisson_lock__channel:{lock}")
    } else {
        format!("redisson_lock__channel:{{{lock}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_has_the_braces_of_the_name_or_its_own() {
        assert_eq!(channel_of("order:42"), "redisson_lock__channel:{order:42}");
        assert_eq!(
            channel_of("{order}:42"),
            "redisson_lock__channel:{order}:42"
        );
    }
}
