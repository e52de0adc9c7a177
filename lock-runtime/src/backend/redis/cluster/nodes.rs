//! The nodes of a cluster: their slots, and their connections.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::sleep;

use super::cluster_node::ClusterNode;
use super::node_name::NodeName;
use super::placement::{Placement, SlotsMoved};
use super::slot_map::{MovedSlots, SlotMap};
use super::slots_reply::SlotsReply;
use crate::backend::redis::address::Address;
use crate::backend::redis::connect::Settings;
use crate::backend::redis::connection::Connection;
use crate::backend::redis::locator::Locator;
use crate::backend::redis::node::Node;
use crate::backend::redis::redirect::Redirect;
use crate::backend::redis::replication::Replication;
use crate::backend::redis::shared_connection::PushEvent;
use crate::backend::wire::error::WireError;
use crate::backend::wire::notice::is_notice;
use crate::backend::wire::{NodeId, WireEvents};
use crate::background::sync::Mutex;
use crate::key::{LockName, slot_of};
use crate::lease::owner_id::OwnerId;
use crate::telemetry;

/// A connection to a node without slots is closed after this time without a command.
const UNUSED: Duration = Duration::from_secs(60);

/// How long slot moves are collected for one event, since slots often move one after the other.
const COLLECTED: Duration = Duration::from_secs(1);

/// The nodes of one cluster.
pub(super) struct Nodes {
    settings: Settings,
    events: Arc<dyn WireEvents>,
    /// The nodes in the URL.
    seeds: Vec<Arc<Address>>,
    known: Mutex<Known>,
    /// The count of slot moves that were noticed.
    moves: AtomicU64,
    told: Mutex<Told>,
    /// For the events of connections, which must not keep the nodes alive.
    this: Weak<Nodes>,
}

/// The placement that events have reported.
#[derive(Default)]
struct Told {
    /// The last reported placement; `None` before the first map.
    placement: Option<Placement>,
    /// Whether an event is due.
    is_due: bool,
}

/// The known nodes, and those that are or were connected.
#[derive(Default)]
struct Known {
    map: SlotMap,
    by_name: HashMap<NodeName, Arc<ClusterNode>>,
    last_id: u32,
}

impl Nodes {
    pub(super) fn new(
        seeds: Vec<Address>,
        settings: Settings,
        events: Arc<dyn WireEvents>,
    ) -> Arc<Nodes> {
        Arc::new_cyclic(|this| Nodes {
            settings,
            events,
            seeds: seeds.into_iter().map(Arc::new).collect(),
            known: Mutex::default(),
            moves: AtomicU64::new(0),
            told: Mutex::default(),
            this: this.clone(),
        })
    }

    /// Returns the node that has a slot, as far as is known.
    pub(super) fn owner(&self, slot: u16) -> Result<Option<Arc<ClusterNode>>, WireError> {
        let name = self.known.lock().map.owner(slot).cloned();
        name.map(|name| self.get(name)).transpose()
    }

    /// Returns the node that has a slot, if a command was ever sent to it.
    pub(super) fn known_owner(&self, slot: u16) -> Option<Arc<ClusterNode>> {
        let known = self.known.lock();
        known.by_name.get(known.map.owner(slot)?).cloned()
    }

    /// Returns whether a node has this slot, as far as is known.
    pub(super) fn has(&self, node: &ClusterNode, slot: u16) -> bool {
        self.known.lock().map.owner(slot) == Some(&node.name)
    }

    /// Returns whether a node has any slot, as far as is known.
    pub(super) fn has_any(&self, node: &ClusterNode) -> bool {
        let known = self.known.lock();
        let mut primaries = known.map.primaries();
        primaries.any(|name| *name == node.name)
    }

    /// Returns whether any node is known to have slots.
    pub(super) fn is_mapped(&self) -> bool {
        !self.known.lock().map.is_empty()
    }

    /// Returns the node that an answer of `by` names. A command is about to be sent to it.
    pub(super) fn named(
        &self,
        redirect: &Redirect,
        by: &ClusterNode,
    ) -> Result<Arc<ClusterNode>, WireError> {
        let node = self.get(self.name_in(redirect, by))?;
        node.note_use();
        Ok(node)
    }

    /// Returns whether an answer of `by` names `by` itself.
    pub(super) fn leads_back(&self, redirect: &Redirect, by: &ClusterNode) -> bool {
        self.name_in(redirect, by) == by.name
    }

    fn name_in(&self, redirect: &Redirect, by: &ClusterNode) -> NodeName {
        let name = match redirect.host.as_str() {
            // The cluster prefers hostnames, and this node has none. Its address is already known.
            "?" => self.known.lock().at_port(redirect.port).cloned(),
            "" => None,
            host => Some(NodeName::new(host, redirect.port)),
        };
        name.unwrap_or_else(|| NodeName::new(&by.name.host, redirect.port))
    }

    /// Returns the nodes that have slots.
    pub(super) fn primaries(&self) -> Result<Vec<Arc<ClusterNode>>, WireError> {
        let names: Vec<NodeName> = self.known.lock().map.primaries().cloned().collect();
        names.into_iter().map(|name| self.get(name)).collect()
    }

    /// Returns the nodes that may know the slot map: the nodes of the last map, the nodes in use, and the nodes in the
    /// URL.
    pub(super) fn all(&self) -> Vec<Arc<ClusterNode>> {
        let names: Vec<NodeName> = self.known.lock().names().cloned().collect();
        let known = names.into_iter().filter_map(|name| self.get(name).ok());
        let of_url = self.seeds.iter().filter_map(|seed| match &**seed {
            Address::Tcp { host, port, .. } => {
                let name = NodeName::new(host, *port);
                Some(self.get_at(name, || Ok(seed.clone())).ok()?)
            }
            Address::Unix(_) => None,
        });
        let mut nodes: Vec<_> = known.chain(of_url).collect();
        nodes.sort_by_key(|node| node.id.0);
        nodes.dedup_by_key(|node| node.id.0);
        nodes
    }

    pub(super) fn connections(&self) -> Vec<Arc<Connection>> {
        let nodes: Vec<_> = self.known.lock().by_name.values().cloned().collect();
        nodes.iter().filter_map(|node| node.connected()).collect()
    }

    /// Returns the node with this name. A new node is connected when a command is sent to it.
    fn get(&self, name: NodeName) -> Result<Arc<ClusterNode>, WireError> {
        let (host, port) = (name.host.clone(), name.port);
        self.get_at(name, || {
            let (host, port) = self.settings.address_map.apply(&host, port);
            self.seeds[0].beside(&host, port).map(Arc::new)
        })
    }

    /// Returns the node with this name. The mutex is free while `address` runs, since that may be foreign code.
    fn get_at(
        &self,
        name: NodeName,
        address: impl FnOnce() -> Result<Arc<Address>, WireError>,
    ) -> Result<Arc<ClusterNode>, WireError> {
        if let Some(node) = self.known.lock().by_name.get(&name) {
            return Ok(node.clone());
        }
        let address = address()?;
        let mut known = self.known.lock();
        known.last_id += 1;
        let id = NodeId(known.last_id);
        let node = known.by_name.entry(name);
        let node = node.or_insert_with_key(|name| Arc::new(self.make(id, name, address.into())));
        Ok(node.clone())
    }

    fn make(&self, id: NodeId, name: &NodeName, locator: Locator) -> ClusterNode {
        // It has no node id of its own, so the client is not notified of its events.
        let replication = Replication::new(id, locator.clone(), &self.settings, &self.events);
        let nodes = self.this.clone();
        let on_push = move |id: NodeId, event: PushEvent<'_>| {
            if let Some(nodes) = nodes.upgrade() {
                nodes.pushed(id, event);
            }
        };
        let node = Node::new(
            id,
            locator,
            self.settings.clone(),
            self.events.clone(),
            Arc::new(on_push),
        );
        ClusterNode::new(id, name.clone(), node, replication)
    }

    /// Notes that a refresh begins: its answer does not override redirections from now on.
    pub(super) fn begin_refresh(&self) {
        self.known.lock().map.begin_refresh();
    }

    /// Learns the slot map from answers.
    pub(super) fn learn(&self, replies: Vec<SlotsReply>) {
        let (moved, unused) = {
            let mut known = self.known.lock();
            let moved = known.map.learn(replies);
            let mut told = self.told.lock();
            told.placement.get_or_insert_with(|| known.map.placement());
            (moved, known.take_unused())
        };
        // Outside the mutex, since closing wakes the callers that wait on their connections.
        for node in unused {
            node.close("the node has no slots");
        }
        if let Some(moved) = moved {
            self.report(&moved);
        }
    }

    /// Notes that a node has named another one for a slot. Returns whether that is news.
    pub(super) fn note_moved(&self, slot: u16, to: &ClusterNode) -> bool {
        let moved = self.known.lock().map.note_moved(slot, to.name.clone());
        if let Some(moved) = &moved {
            self.report(moved);
        }
        moved.is_some()
    }

    /// Returns the count of slot moves that were noticed.
    pub(super) fn moves(&self) -> u64 {
        self.moves.load(Ordering::SeqCst)
    }

    fn report(&self, moved: &MovedSlots) {
        self.moves.fetch_add(1, Ordering::SeqCst);
        self.events
            .moved(&|lock: &LockName| moved.contains(slot_of(lock)));
        if mem::replace(&mut self.told.lock().is_due, true) {
            return;
        }
        let nodes = self.this.clone();
        self.settings.background.spawn(async move {
            sleep(COLLECTED).await;
            if let Some(nodes) = nodes.upgrade() {
                nodes.tell_of_moves();
            }
        });
    }

    /// Reports the slots that have moved since the last report. Runs in the background, since a subscriber may block.
    fn tell_of_moves(&self) {
        let now = self.known.lock().map.placement();
        let moved = {
            let mut told = self.told.lock();
            told.is_due = false;
            let placement = told.placement.get_or_insert_with(|| now.clone());
            placement.become_now(now)
        };
        for SlotsMoved { from, to, slots } in moved {
            telemetry::slots_moved(&to, &from, slots);
        }
    }

    /// Handles an event of a node's connection.
    fn pushed(&self, id: NodeId, event: PushEvent<'_>) {
        match event {
            PushEvent::Connected(connection) => self.events.connected(id, connection),
            PushEvent::Disconnected(connection) => {
                let concerns = |lock: &LockName| {
                    let owner = self.known.lock().id_of(slot_of(lock));
                    owner.is_none_or(|owner| owner == id)
                };
                self.events.disconnected(id, connection, &concerns);
            }
            PushEvent::Message { channel, payload } if self.is_first_copy(id, payload) => {
                self.events.message(channel, payload);
            }
            PushEvent::Message { .. } => {}
        }
    }

    /// Returns whether to deliver a message. The client is subscribed on each node and gets one copy from each; the
    /// copy from the node with the lock counts. A late copy would name an owner that has ended, and make the client end
    /// it again.
    fn is_first_copy(&self, from: NodeId, payload: &[u8]) -> bool {
        if is_notice(payload) {
            // A holder is notified once, however many copies arrive.
            return true;
        }
        let lock = payload.get(OwnerId::LEN..).unwrap_or_default();
        let Ok(lock) = std::str::from_utf8(lock) else {
            return false;
        };
        let known = self.known.lock();
        let owner = known.map.owner(slot_of(lock));
        match owner.and_then(|owner| known.by_name.get(owner)) {
            Some(owner) => owner.id == from || !owner.is_connected(),
            None => true,
        }
    }
}

impl Known {
    fn id_of(&self, slot: u16) -> Option<NodeId> {
        let owner = self.map.owner(slot)?;
        self.by_name.get(owner).map(|node| node.id)
    }

    /// Iterates over the nodes of the last map and the nodes in use. The latter include nodes that lack slots for a
    /// moment.
    fn names(&self) -> impl Iterator<Item = &NodeName> {
        self.map.nodes().chain(self.by_name.keys())
    }

    fn at_port(&self, port: u16) -> Option<&NodeName> {
        self.names().find(|name| name.port == port)
    }

    /// Removes the nodes without slots that are no longer used.
    fn take_unused(&mut self) -> Vec<Arc<ClusterNode>> {
        let primaries: Vec<NodeName> = self.map.primaries().cloned().collect();
        let is_used =
            |node: &ClusterNode| node.last_used().is_some_and(|at| at.elapsed() <= UNUSED);
        let is_unused =
            |node: &&Arc<ClusterNode>| !primaries.contains(&node.name) && !is_used(node);
        let unused: Vec<_> = self.by_name.values().filter(is_unused).cloned().collect();
        for node in &unused {
            self.by_name.remove(&node.name);
        }
        unused
    }
}

#[cfg(test)]
mod tests;
