//! Maps locks to nodes.
//!
//! Sends each command to the node of its lock, so that the wire need not know whether there is one node or a cluster.

use std::sync::Arc;

use redis::Value;

use super::cluster::Cluster;
use super::connect::Settings;
use super::connection::Connection;
use super::locator::Locator;
use super::node::queries::{Ask, Command};
use super::node::{Node, NodeError, Purpose, ScriptCall};
use super::records::scan::{self, Found, Look};
use super::renewals::write_renewals;
use super::replication::Replication;
use super::shared_connection::PushEvent;
use super::url::Servers;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{Cursor, Listing, Position, ServerReply};
use crate::backend::wire::outstanding::OnStep;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{NodeId, Renewal, WireEvents};
use crate::key::{LockName, slot_of};
use crate::lease::record::Grant;
use crate::state::LockState;

/// The nodes of a client.
pub(super) enum Topology {
    /// One server has every lock. After a failover it may be another server.
    Single {
        node: Arc<Node>,
        replication: Option<Arc<Replication>>,
    },
    Cluster(Cluster),
}

impl Ask for Topology {
    async fn ask(&self, record: &str, commands: &[Command<'_>]) -> Result<Vec<Value>, WireError> {
        match self {
            Topology::Single { node, .. } => Ask::ask(&**node, record, commands).await,
            Topology::Cluster(cluster) => cluster.ask_together(slot_of(record), commands).await,
        }
    }
}

impl Topology {
    /// Opens the servers of a URL. Reports their messages and connections to `events`.
    pub(super) fn new(
        servers: Servers,
        settings: Settings,
        events: Arc<dyn WireEvents>,
    ) -> Topology {
        match servers {
            Servers::One(address) => Topology::single(address.into(), settings, events),
            Servers::Sentinels(sentinels) => {
                Topology::single(Arc::new(sentinels).into(), settings, events)
            }
            Servers::Cluster(seeds) => Topology::Cluster(Cluster::new(seeds, settings, events)),
        }
    }

    fn single(locator: Locator, settings: Settings, events: Arc<dyn WireEvents>) -> Topology {
        Topology::Single {
            replication: Replication::new(NodeId(1), locator.clone(), &settings, &events),
            node: Arc::new(only_node(locator, settings, events)),
        }
    }

    /// Returns the node that has every lock, where there is only one.
    pub(super) fn only_node(&self) -> Arc<Node> {
        match self {
            Topology::Single { node, .. } => node.clone(),
            Topology::Cluster(_) => {
                unreachable!("the limits of a cluster refuse what needs one node")
            }
        }
    }

    /// Runs a script on the node that has the lock.
    pub(super) async fn run(
        &self,
        purpose: Purpose,
        call: &ScriptCall<'_>,
        note: OnStep<'_>,
    ) -> Result<Answered<Value>, WireError> {
        match self {
            Topology::Single { node, .. } => {
                let answered = node.run(purpose, call, node.until(), note).await;
                answered.map_err(NodeError::into_wire)
            }
            // Boxed: otherwise the future of each command to a single server would have room for it.
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

    /// Waits until enough replicas have a granted lock.
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

    /// Checks that each node with locks answers.
    pub(super) async fn ping(&self) -> Result<(), WireError> {
        match self {
            Topology::Single { node, .. } => {
                node.ping(node.until()).await.map_err(NodeError::into_wire)
            }
            Topology::Cluster(cluster) => cluster.ping().await,
        }
    }

    /// Sends commands to each server that has locks, or to the named one.
    pub(super) async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<(String, ServerReply)>, WireError> {
        match self {
            Topology::Single { node, .. } => {
                let asked = node.ask_words(commands, node.until()).await;
                Ok(vec![(String::new(), asked)])
            }
            Topology::Cluster(cluster) => cluster.ask_servers(server, commands).await,
        }
    }

    /// Returns the next locks of a listing. The cursor moves only once they are known.
    pub(super) async fn page(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Vec<LockState>, WireError> {
        match self {
            Topology::Single { node, .. } => {
                let page = page_of_one(node, listing, &cursor.position).await;
                let (states, after) = page.map_err(NodeError::into_wire)?;
                cursor.is_over = after.is_none();
                cursor.position = after.unwrap_or_default();
                Ok(states)
            }
            Topology::Cluster(cluster) => cluster.page(listing, cursor).await,
        }
    }

    /// Splits renewals by node.
    pub(super) fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        match self {
            Topology::Single { .. } => vec![renewals],
            Topology::Cluster(cluster) => cluster.apart(renewals),
        }
    }

    /// Returns the connection that receives the messages about a lock, if there is one.
    pub(super) fn connection_of(&self, lock: &LockName) -> Option<Arc<Connection>> {
        match self {
            Topology::Single { node, .. } => node.connected(),
            Topology::Cluster(cluster) => cluster.connection_of(lock),
        }
    }

    pub(super) fn connections(&self) -> Vec<Arc<Connection>> {
        match self {
            Topology::Single { node, .. } => node.connected().into_iter().collect(),
            Topology::Cluster(cluster) => cluster.connections(),
        }
    }
}

/// Returns the next locks of a node that has every lock.
async fn page_of_one(
    node: &Node,
    listing: &Listing,
    position: &Position,
) -> Result<(Vec<LockState>, Option<Position>), NodeError> {
    let until = node.until();
    let (found, after) = scan::next(node, listing, position, until).await?;
    let looks = scan::look(node, &found, until).await?;
    let looks = found.into_iter().zip(looks);
    let state = |(Found { key, .. }, look)| match look {
        Look::Here(record, counts) => scan::state(key, &record, counts),
        Look::Elsewhere => None,
    };
    Ok((looks.filter_map(state).collect(), after))
}

/// Creates a node that has every lock. Its messages and connections are reported to `events`.
fn only_node(locator: Locator, settings: Settings, events: Arc<dyn WireEvents>) -> Node {
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
    Node::new(NodeId(0), locator, settings, events, Arc::new(on_push))
}
