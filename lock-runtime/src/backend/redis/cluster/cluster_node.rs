//! A node of a cluster, with the state that the cluster keeps for it.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use super::node_name::NodeName;
use crate::backend::redis::node::Node;
use crate::backend::redis::replication::Replication;
use crate::backend::wire::NodeId;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::sync::Mutex;

pub(super) struct ClusterNode {
    pub(super) id: NodeId,
    pub(super) name: NodeName,
    node: Node,
    pub(super) replication: Option<Arc<Replication>>,
    /// When a command for a lock was last sent to the node.
    last_used: Mutex<Option<Instant>>,
}

impl ClusterNode {
    pub(super) fn new(
        id: NodeId,
        name: NodeName,
        node: Node,
        replication: Option<Arc<Replication>>,
    ) -> ClusterNode {
        ClusterNode {
            id,
            name,
            node,
            replication,
            last_used: Mutex::new(None),
        }
    }

    /// Closes the connections for good.
    pub(super) fn close(&self, reason: &str) {
        self.node.close(reason);
        if let Some(replication) = &self.replication {
            replication.close(reason);
        }
    }

    /// Closes the connection to a server that is not this node, according to its answer.
    pub(super) fn reject(&self, on: ConnectionId) {
        const REASON: &str = "its server redirects to itself";
        self.node.reject(on, REASON);
        if let Some(replication) = &self.replication {
            replication.reject(on, REASON);
        }
    }

    pub(super) fn note_use(&self) {
        *self.last_used.lock() = Some(Instant::now());
    }

    /// Returns when a command for a lock was last sent to the node; `None` if it was only asked for the slot map.
    pub(super) fn last_used(&self) -> Option<Instant> {
        *self.last_used.lock()
    }
}

impl Deref for ClusterNode {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}
