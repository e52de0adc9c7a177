//! Which node has which lock.
//!
//! The wire asks for the node of a lock and knows nothing else about nodes. A cluster, a primary that Sentinels
//! name and a quorum become variants here.

use std::sync::Arc;

use super::connect::Setup;
use super::node::{Node, Renewed};
use super::push::{NodeId, PushEvent};
use crate::backend::wire::{Renewal, WireEvents};
use crate::key::LockName;

/// The nodes of a client.
pub(super) enum Topology {
    /// One server has every lock.
    Single(Node),
}

impl Topology {
    /// One server, whose messages and connections are reported to `events`.
    pub(super) fn single(setup: Setup, events: Arc<dyn WireEvents>) -> Topology {
        let on_push = {
            let events = events.clone();
            // The only node is the node of every lock, so all of its messages count.
            move |_: NodeId, event: PushEvent<'_>| match event {
                PushEvent::Connected(connection) => events.connected(connection),
                PushEvent::Disconnected(connection) => events.disconnected(connection),
                PushEvent::Message { channel, payload } => events.message(channel, payload),
            }
        };
        Topology::Single(Node::new(NodeId(0), setup, events, Arc::new(on_push)))
    }

    /// The node of a lock.
    pub(super) fn node(&self, _lock: &LockName) -> &Node {
        match self {
            Topology::Single(node) => node,
        }
    }

    /// Extends leases, with one pipeline for each node, which `write` appends.
    pub(super) async fn renew(
        &self,
        renewals: &[Renewal],
        write: impl Fn(&mut Vec<u8>, &[&Renewal], bool),
    ) -> Vec<Renewed> {
        match self {
            Topology::Single(node) => node.renew(renewals, write).await,
        }
    }

    /// Every node.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        match self {
            Topology::Single(node) => std::iter::once(node),
        }
    }
}
