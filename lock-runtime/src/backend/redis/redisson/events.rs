//! The events of connections whose messages are Redisson's.

use std::sync::Arc;

use super::listeners::Listeners;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::{NodeId, WireEvents};
use crate::error::LockError;
use crate::key::LockName;
use crate::lease::owner_id::{ClientId, OwnerId};

/// Passes events on, with the owner that a message is for.
pub(in crate::backend::redis) struct RedissonEvents {
    pub(in crate::backend::redis) listeners: Arc<Listeners>,
    pub(in crate::backend::redis) events: Arc<dyn WireEvents>,
}

impl WireEvents for RedissonEvents {
    /// None: no client announces a grant.
    fn client_ids(&self, _: NodeId) -> Result<Vec<ClientId>, LockError> {
        Ok(Vec::new())
    }

    fn missing_ids(&self, _: &[ClientId]) -> Vec<ClientId> {
        Vec::new()
    }

    fn connected(&self, node: NodeId, connection: ConnectionId) {
        self.events.connected(node, connection);
    }

    fn disconnected(
        &self,
        node: NodeId,
        connection: ConnectionId,
        concerns: &dyn Fn(&LockName) -> bool,
    ) {
        self.events.disconnected(node, connection, concerns);
    }

    fn moved(&self, concerns: &dyn Fn(&LockName) -> bool) {
        self.events.moved(concerns);
    }

    fn doubted(&self, concerns: &dyn Fn(&LockName) -> bool) {
        self.events.doubted(concerns);
    }

    /// Whatever the message says, it does no harm to ask for the lock.
    fn message(&self, channel: &[u8], _payload: &[u8]) {
        if let Some(owner) = self.listeners.owner(channel) {
            self.events.released(owner);
        }
    }

    fn released(&self, listener: OwnerId) {
        self.events.released(listener);
    }
}
