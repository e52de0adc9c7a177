//! Which node has which lock.
//!
//! Sends each command to the node of its lock. So the wire need not know whether there is one node or a cluster.

use std::sync::Arc;

use redis::Value;

use super::cluster::Cluster;
use super::connect::{Settings, Setup};
use super::node::{Node, Purpose, ScriptCall, SendEvent};
use super::node_error::NodeError;
use super::push::PushEvent;
use super::renewals::write_renewals;
use super::replication::Replication;
use super::url::Servers;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{NodeId, Renewal, WireEvents};
use crate::key::{LockName, NameSet};
use crate::lease::record::Grant;

/// The nodes of a client.
pub(super) enum Topology {
    /// One server has every lock. It may be another one after a failover.
    Single {
        node: Node,
        replication: Option<Arc<Replication>>,
    },
    Cluster(Cluster),
}

impl Topology {
    /// The servers of a URL, whose messages and connections are reported to `events`.
    pub(super) fn new(
        servers: Servers,
        settings: Settings,
        events: Arc<dyn WireEvents>,
    ) -> Topology {
        match servers {
            Servers::One(address) => Topology::single(Setup::new(address, settings), events),
            Servers::Sentinels(sentinels) => {
                Topology::single(Setup::new(Arc::new(sentinels), settings), events)
            }
            Servers::Cluster(seeds) => Topology::Cluster(Cluster::new(seeds, settings, events)),
        }
    }

    fn single(setup: Setup, events: Arc<dyn WireEvents>) -> Topology {
        Topology::Single {
            replication: Replication::new(NodeId(1), setup.clone(), &events),
            node: only_node(setup, events),
        }
    }

    /// Runs a script on the node that has the lock.
    pub(super) async fn run(
        &self,
        purpose: Purpose,
        call: &ScriptCall<'_>,
        note: impl FnMut(SendEvent) + Send,
    ) -> Result<Answered<Value>, WireError> {
        match self {
            Topology::Single { node, .. } => {
                let answered = node.run(purpose, call, node.until(), note).await;
                answered.map_err(NodeError::into_wire)
            }
            // Boxed, or it would be part of each command to a single server.
            Topology::Cluster(cluster) => Box::pin(cluster.run(purpose, call, note)).await,
        }
    }

    /// Extends leases, with one pipeline for each node.
    pub(super) async fn renew(
        &self,
        renewals: &[Renewal],
    ) -> Vec<Result<Answered<Option<Grant>>, WireError>> {
        match self {
            Topology::Single { node, .. } => {
                let all: Vec<&Renewal> = renewals.iter().collect();
                let renewed = node.renew(&all, write_renewals, None, node.until()).await;
                let renewed = renewed.into_iter();
                renewed
                    .map(|renewed| renewed.map_err(NodeError::into_wire))
                    .collect()
            }
            Topology::Cluster(cluster) => cluster.renew(renewals).await,
        }
    }

    /// Waits until enough replicas have a lock that was granted.
    pub(super) async fn replicated(&self, renewal: Renewal) -> Result<(), WireError> {
        let replicated = match self {
            Topology::Single { node, replication } => match replication {
                Some(replication) => {
                    let until = node.until();
                    replication.confirm(renewal, until).await
                }
                None => Ok(()),
            },
            Topology::Cluster(cluster) => return cluster.replicated(renewal).await,
        };
        replicated.map_err(NodeError::into_wire)
    }

    /// Checks that each node that has locks answers.
    pub(super) async fn ping(&self) -> Result<(), WireError> {
        match self {
            Topology::Single { node, .. } => {
                node.ping(node.until()).await.map_err(NodeError::into_wire)
            }
            Topology::Cluster(cluster) => cluster.ping().await,
        }
    }

    /// Reads the messages about a lock that have arrived.
    pub(super) fn read_messages(&self, lock: &LockName) {
        match self {
            Topology::Single { node, .. } => node.read_messages(),
            Topology::Cluster(cluster) => cluster.read_messages(lock),
        }
    }

    /// The renewals of each node.
    pub(super) fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        match self {
            Topology::Single { .. } => vec![renewals],
            Topology::Cluster(cluster) => cluster.apart(renewals),
        }
    }

    /// Visits every node with which there may be a connection.
    pub(super) fn each_node(&self, mut visit: impl FnMut(&Node)) {
        match self {
            Topology::Single { node, .. } => visit(node),
            Topology::Cluster(cluster) => cluster.each_node(visit),
        }
    }

    /// Whether one script can name all these locks.
    pub(super) fn are_together(&self, names: &NameSet) -> bool {
        match self {
            Topology::Single { .. } => true,
            Topology::Cluster(_) => Cluster::are_together(names),
        }
    }
}

/// The node of every lock, whose messages and connections are reported to `events`.
pub(super) fn only_node(setup: Setup, events: Arc<dyn WireEvents>) -> Node {
    let on_push = {
        let events = events.clone();
        move |node: NodeId, event: PushEvent<'_>| match event {
            PushEvent::Connected(connection) => events.connected(node, connection),
            PushEvent::Disconnected(connection) => {
                events.disconnected(node, connection, &|_: &LockName| true);
            }
            PushEvent::Message { channel, payload } => events.message(channel, payload),
        }
    };
    Node::new(NodeId(0), setup, events, Arc::new(on_push))
}
