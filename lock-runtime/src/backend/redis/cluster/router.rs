//! Routes commands to the nodes of their locks.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cluster_node::ClusterNode;
use super::nodes::Nodes;
use super::refresh::Refresher;
use super::route::{Next, Route, unsettled};
use crate::backend::redis::address::Address;
use crate::backend::redis::connect::Settings;
use crate::backend::redis::node::NodeError;
use crate::backend::redis::redirect::Redirect;
use crate::backend::wire::WireEvents;
use crate::backend::wire::error::WireError;
use crate::background::random;
use crate::background::timers::Timers;

/// Finds the nodes of locks, and notices when locks move.
pub(super) struct Router {
    pub(super) nodes: Arc<Nodes>,
    refresher: Arc<Refresher>,
    settings: Settings,
}

impl Router {
    pub(super) fn new(
        seeds: Vec<Address>,
        settings: Settings,
        events: Arc<dyn WireEvents>,
    ) -> Router {
        let nodes = Nodes::new(seeds, settings.clone(), events);
        Router {
            refresher: Refresher::new(nodes.clone(), settings.clone()),
            nodes,
            settings,
        }
    }

    /// Returns the deadline of a command that begins now.
    pub(super) fn until(&self) -> Instant {
        Instant::now() + self.settings.command_timeout
    }

    /// Returns the node that has a slot, as far as is known. Waits for the first map if there is none yet.
    pub(super) async fn node_of(
        &self,
        slot: u16,
        until: Instant,
    ) -> Result<Arc<ClusterNode>, WireError> {
        let mut is_asked = false;
        loop {
            if let Some(node) = self.nodes.owner(slot)? {
                node.note_use();
                return Ok(node);
            }
            if is_asked && self.nodes.is_mapped() {
                return Err(WireError::unavailable(format!("no node has slot {slot}")));
            }
            is_asked = true;
            self.refresher.run(None, until).await?;
        }
    }

    /// Returns the primaries, as far as is known. Waits for the first map if there is none yet.
    pub(super) async fn primaries(
        &self,
        until: Instant,
    ) -> Result<Vec<Arc<ClusterNode>>, WireError> {
        if !self.nodes.is_mapped() {
            self.refresh(until).await?;
        }
        self.nodes.primaries()
    }

    /// Refreshes the map.
    pub(super) async fn refresh(&self, until: Instant) -> Result<(), WireError> {
        self.refresher.run(None, until).await
    }

    /// Notes that a node has named another one for a slot.
    pub(super) fn note_moved(
        &self,
        redirect: &Redirect,
        by: &ClusterNode,
    ) -> Result<(), WireError> {
        let to = self.nodes.named(redirect, by)?;
        if self.nodes.note_moved(redirect.slot, &to) {
            // A slot rarely moves alone.
            self.refresher.begin(Some(to), None);
        }
        Ok(())
    }

    /// Returns the next step of a command after a node's error.
    ///
    /// A node that redirects to itself is not the node that the client expects: through a proxy or a virtual address, a
    /// connection may lead to a former primary. A new connection leads to the address's current target. Two nodes that
    /// name each other may both be healthy, for example while a slot moves. Their connections serve other slots, too,
    /// and stay open.
    pub(super) fn after(
        &self,
        route: &mut Route,
        node: &Arc<ClusterNode>,
        error: NodeError,
    ) -> Next {
        let error = match error {
            NodeError::Redirected(redirect, on) if self.nodes.leads_back(&redirect, node) => {
                node.reject(on);
                NodeError::Gone(unsettled(redirect.slot))
            }
            error => error,
        };
        route.after(error, random::jitter())
    }

    /// Notes that a node could not carry out a command, so another one may have its slots.
    pub(super) fn note_failed(&self, node: &Arc<ClusterNode>) {
        self.refresher.begin(None, Some(node));
    }

    /// Runs commands on a node. Returns `None` if it is silent and another node has the slot by now: a primary that was
    /// stopped or cut off would use up the time of every command. Its connection is closed once it has no slots left.
    pub(super) async fn unless_moved<T>(
        &self,
        slot: u16,
        node: &Arc<ClusterNode>,
        until: Instant,
        running: impl Future<Output = T>,
    ) -> Option<T> {
        let share = self.settings.command_timeout / 4;
        let mut running = pin!(running);
        loop {
            let patience = Instant::now() + share;
            if patience >= until {
                return Some(running.await);
            }
            let answered = self.timers().timeout_at(patience, running.as_mut()).await;
            if let Ok(answered) = answered {
                return Some(answered);
            }
            let looking = pin!(self.refresher.run(Some(node), until));
            tokio::select! {
                biased;
                answered = running.as_mut() => return Some(answered),
                _ = looking => {}
            }
            if !self.nodes.has(node, slot) {
                if !self.nodes.has_any(node) {
                    node.disconnect("it is silent, and others have its slots");
                }
                return None;
            }
        }
    }

    /// Pauses. Returns `false` if `until` comes first.
    pub(super) async fn pause(&self, pause: Duration, until: Instant) -> bool {
        let end = Instant::now() + pause;
        if end >= until {
            return false;
        }
        if !pause.is_zero() {
            self.timers().sleep_until(end).await;
        }
        true
    }

    fn timers(&self) -> &Timers {
        self.settings.background.timers()
    }
}

/// Returns the error of a command to a node that was given up.
pub(super) fn left(node: &ClusterNode) -> NodeError {
    let text = format!("{} is silent, and another node has its slots", node.name);
    NodeError::Gone(WireError::unavailable(text))
}
