//! The nodes of a cluster. Keeps a connection to each of them, and routes commands.
//!
//! The client library's cluster client is not used, for three reasons (`docs/decisions/topologies.md`). It sends ASKING
//! separately from the command. It retries commands by itself, and so hides which of them may still arrive. And it does
//! not report the node that a message comes from.
//!
//! [`slot_map`] and [`route`] decide, without I/O. The [`router`] knows the [`nodes`], and asks them for the map
//! through [`refresh`].

mod cluster_node;
mod cluster_queries;
mod cluster_renewals;
mod listing;
mod node_name;
mod nodes;
mod placement;
mod refresh;
mod route;
mod router;
mod slot_map;
mod slots_reply;

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;

use self::cluster_node::ClusterNode;
use self::route::{Next, Route, unsettled};
use self::router::{Router, left};
use super::CLOCK;
use super::address::Address;
use super::connect::Settings;
use super::connection::Connection;
use super::node::{NodeError, Purpose, ScriptCall};
use super::side_by_side::side_by_side;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::OnStep;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{NodeId, Renewal, WireEvents};
use crate::key::{LockName, slot_of};
use crate::lease::record::Grant;

/// How long a caller that waits for replicas pauses before its next attempt while its slot moves.
const SLOT_MOVES: Duration = Duration::from_millis(10);

/// The nodes of one cluster.
pub(super) struct Cluster {
    router: Router,
}

impl Cluster {
    pub(super) fn new(
        seeds: Vec<Address>,
        settings: Settings,
        events: Arc<dyn WireEvents>,
    ) -> Cluster {
        Cluster {
            router: Router::new(seeds, settings, events),
        }
    }

    /// Runs a script on the node that has the lock, and follows the slot if it moves.
    pub(super) async fn run(
        &self,
        purpose: Purpose,
        call: &ScriptCall<'_>,
        note: OnStep<'_>,
    ) -> Result<Answered<Value>, WireError> {
        let router = &self.router;
        let slot = slot_of(&call.names.first().lock);
        let until = router.until();
        let mut route = Route::default();
        let mut asking: Option<Arc<ClusterNode>> = None;
        loop {
            let (node, answered) = match asking.take() {
                Some(node) => {
                    let answered = node.run_asking(call, until, &mut *note).await;
                    (node, answered)
                }
                None => {
                    let before = CLOCK.now();
                    let node = router.node_of(slot, until).await?;
                    let running = node.run(purpose, call, until, &mut *note);
                    let answered = router.unless_moved(slot, &node, until, running).await;
                    let mut answered = answered.unwrap_or_else(|| Err(left(&node)));
                    if let Ok(answered) = &mut answered
                        && !router.nodes.has(&node, slot)
                    {
                        // The slot moved while the node answered, so the grant must be confirmed at once.
                        answered.at = before;
                    }
                    (node, answered)
                }
            };
            let next = match answered {
                Ok(answered) => return Ok(answered),
                Err(error) => router.after(&mut route, &node, error),
            };
            let (pause, error) = match next {
                Next::Moved(redirect, pause) => {
                    router.note_moved(&redirect, &node)?;
                    (pause, unsettled(slot))
                }
                Next::Ask(redirect, pause) => {
                    asking = Some(router.nodes.named(&redirect, &node)?);
                    (pause, unsettled(slot))
                }
                Next::Again(error, pause) => (pause, error),
                Next::Refresh(error, pause) => {
                    router.note_failed(&node);
                    (pause, error)
                }
                Next::Fail(error) => return Err(error),
            };
            if !router.pause(pause, until).await {
                return Err(error);
            }
        }
    }

    /// Extends leases, with one pipeline for each node.
    pub(super) async fn renew(
        &self,
        renewals: &[Renewal],
    ) -> Vec<Result<Answered<Option<Grant>>, WireError>> {
        cluster_renewals::renew(&self.router, renewals).await
    }

    /// Waits until enough replicas have a granted lock.
    pub(super) async fn replicated(&self, renewal: Renewal) -> Result<(), WireError> {
        let router = &self.router;
        let slot = slot_of(&renewal.names.first().lock);
        let until = router.until();
        let mut route = Route::default();
        loop {
            let node = router.node_of(slot, until).await?;
            let Some(replication) = &node.replication else {
                return Ok(());
            };
            let Err(error) = replication.confirm(renewal.clone(), until).await else {
                return Ok(());
            };
            self.go_on(&mut route, slot, &node, error, until).await?;
        }
    }

    /// Pauses after a command that was not carried out, until it may be sent again. Until the slot has moved, the lock
    /// is on a node that does not own the slot.
    async fn go_on(
        &self,
        route: &mut Route,
        slot: u16,
        node: &Arc<ClusterNode>,
        error: NodeError,
        until: Instant,
    ) -> Result<(), WireError> {
        let router = &self.router;
        let (pause, error) = match router.after(route, node, error) {
            Next::Moved(redirect, pause) => {
                router.note_moved(&redirect, node)?;
                (pause, unsettled(slot))
            }
            Next::Ask(_, pause) => (pause.max(SLOT_MOVES), unsettled(slot)),
            Next::Again(error, pause) => (pause, error),
            Next::Refresh(error, pause) => {
                router.note_failed(node);
                (pause, error)
            }
            Next::Fail(error) => return Err(error),
        };
        if router.pause(pause, until).await {
            Ok(())
        } else {
            Err(error)
        }
    }

    /// Checks that each node with slots answers. If one does not, the map may be stale, and is refreshed once.
    pub(super) async fn ping(&self) -> Result<(), WireError> {
        let until = self.router.until();
        let primaries = self.router.primaries(until).await?;
        match ping_all(&primaries, until).await {
            Err(error @ WireError::Unavailable(_)) => {
                if self.router.refresh(until).await.is_err() {
                    return Err(error);
                }
                ping_all(&self.router.nodes.primaries()?, until).await
            }
            pinged => pinged,
        }
    }

    /// Splits renewals by node.
    pub(super) fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        let mut apart: Vec<(Option<NodeId>, Vec<Renewal>)> = Vec::new();
        for renewal in renewals {
            let owner = self
                .router
                .nodes
                .known_owner(slot_of(&renewal.names.first().lock));
            let id = owner.map(|node| node.id);
            match apart.iter_mut().find(|(other, _)| *other == id) {
                Some((_, renewals)) => renewals.push(renewal),
                None => apart.push((id, vec![renewal])),
            }
        }
        apart.into_iter().map(|(_, renewals)| renewals).collect()
    }

    /// Returns the connection to the node of a lock, if there is one. Copies of messages from other nodes do not count.
    pub(super) fn connection_of(&self, lock: &LockName) -> Option<Arc<Connection>> {
        let owner = self.router.nodes.known_owner(slot_of(lock))?;
        owner.connected()
    }

    pub(super) fn connections(&self) -> Vec<Arc<Connection>> {
        self.router.nodes.connections()
    }
}

async fn ping_all(nodes: &[Arc<ClusterNode>], until: Instant) -> Result<(), WireError> {
    let pings = nodes.iter().map(|node| node.ping(until));
    let mut answered = side_by_side(pings).await.into_iter();
    answered.try_for_each(|answered| answered.map_err(NodeError::into_wire))
}
