//! Which node has which lock.
//!
//! The wire asks for the node of a lock and knows nothing else about nodes.

use std::sync::Arc;

use redis::Value;

use super::cluster::Cluster;
use super::connect::{Settings, Setup};
use super::locator::Locator;
use super::node::{Node, NodeError, Purpose, ScriptCall, SendEvent};
use super::push::PushEvent;
use super::url::Servers;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{NodeId, Renewal, WireEvents};
use crate::key::{LockName, NameSet};
use crate::lease::record::Grant;

/// The nodes of a client.
pub(super) enum Topology {
    /// One server has every lock. It may be another one after a failover.
    Single(Node),
    Cluster(Cluster),
}

impl Topology {
    /// The servers of a URL, whose messages and connections are reported to `events`.
    pub(super) fn new(
        servers: Servers,
        settings: Settings,
        events: Arc<dyn WireEvents>,
    ) -> Topology {
        let single = |locator| {
            Topology::single(
                Setup {
                    locator,
                    settings: settings.clone(),
                },
                events.clone(),
            )
        };
        match servers {
            Servers::One(address) => single(Locator::Fixed(address)),
            Servers::Sentinels(sentinels) => single(Locator::Sentinels(Arc::new(sentinels))),
            Servers::Cluster(seeds) => Topology::Cluster(Cluster::new(seeds, settings, events)),
        }
    }

    fn single(setup: Setup, events: Arc<dyn WireEvents>) -> Topology {
        let on_push = {
            let events = events.clone();
            // The only node is the node of every lock, so all of its messages count.
            move |node: NodeId, event: PushEvent<'_>| match event {
                PushEvent::Connected(connection) => events.connected(node, connection),
                PushEvent::Disconnected(connection) => {
                    events.disconnected(node, connection, &|_: &LockName| true);
                }
                PushEvent::Message(payload) => events.message(payload),
            }
        };
        Topology::Single(Node::new(NodeId(0), setup, events, Arc::new(on_push)))
    }

    /// Runs a script on the node that has the lock.
    pub(super) async fn run(
        &self,
        purpose: Purpose,
        call: &ScriptCall<'_>,
        note: impl FnMut(SendEvent) + Send,
    ) -> Result<Answered<Value>, WireError> {
        match self {
            Topology::Single(node) => {
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
            Topology::Single(node) => {
                let all: Vec<&Renewal> = renewals.iter().collect();
                let renewed = node.renew(&all, node.until()).await;
                let renewed = renewed.into_iter();
                renewed
                    .map(|renewed| renewed.map_err(NodeError::into_wire))
                    .collect()
            }
            Topology::Cluster(cluster) => cluster.renew(renewals).await,
        }
    }

    /// Checks that each node that has locks answers.
    pub(super) async fn ping(&self) -> Result<(), WireError> {
        match self {
            Topology::Single(node) => node.ping().await.map_err(NodeError::into_wire),
            Topology::Cluster(cluster) => cluster.ping().await,
        }
    }

    /// Visits every node with which there may be a connection.
    pub(super) fn each_node(&self, mut visit: impl FnMut(&Node)) {
        match self {
            Topology::Single(node) => visit(node),
            Topology::Cluster(cluster) => cluster.each_node(visit),
        }
    }

    /// Whether one script can name all these locks.
    pub(super) fn are_together(&self, names: &NameSet) -> bool {
        match self {
            Topology::Single(_) => true,
            Topology::Cluster(_) => Cluster::are_together(names),
        }
    }
}
