//! The nodes of a cluster: which of them has which slot, and those that are or were connected.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::cluster_node::ClusterNode;
use super::node_name::NodeName;
use super::slot::slot_of;
use super::slot_map::{MovedSlots, SlotMap};
use super::slots_reply::SlotRange;
use crate::backend::redis::address::Address;
use crate::backend::redis::connect::{Settings, Setup};
use crate::backend::redis::locator::Locator;
use crate::backend::redis::node::Node;
use crate::backend::redis::push::PushEvent;
use crate::backend::redis::redirect::Redirect;
use crate::backend::wire::error::WireError;
use crate::backend::wire::{NodeId, WireEvents};
use crate::background::sync::Mutex;
use crate::key::LockName;
use crate::lease::owner_id::OwnerId;

/// A connection to a node without slots is closed when no command was sent on it for this long.
const UNUSED: Duration = Duration::from_secs(60);

/// The nodes of one cluster.
pub(super) struct Nodes {
    settings: Settings,
    events: Arc<dyn WireEvents>,
    /// The nodes that the URL names.
    seeds: Vec<Address>,
    known: Mutex<Known>,
    /// For the reports of connections, which must not keep the nodes alive.
    this: Weak<Nodes>,
}

/// What is known of the nodes, and those that are or were connected.
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
            seeds,
            known: Mutex::default(),
            this: this.clone(),
        })
    }

    /// The node that has a slot, as far as is known.
    pub(super) fn owner(&self, slot: u16) -> Result<Option<Arc<ClusterNode>>, WireError> {
        let mut known = self.known.lock();
        match known.map.owner(slot).cloned() {
            Some(name) => self.get(&mut known, name).map(Some),
            None => Ok(None),
        }
    }

    /// Whether a node has a slot, as far as is known.
    pub(super) fn has(&self, node: &ClusterNode, slot: u16) -> bool {
        self.known.lock().map.owner(slot) == Some(&node.name)
    }

    /// Whether any node is known to have slots.
    pub(super) fn is_mapped(&self) -> bool {
        !self.known.lock().map.is_empty()
    }

    /// The node that an answer of `by` names.
    pub(super) fn named(
        &self,
        redirect: &Redirect,
        by: &ClusterNode,
    ) -> Result<Arc<ClusterNode>, WireError> {
        let host = match redirect.host.as_str() {
            "" => &by.name.host,
            host => host,
        };
        let name = NodeName::new(host, redirect.port);
        self.get(&mut self.known.lock(), name)
    }

    /// The nodes that have slots.
    pub(super) fn primaries(&self) -> Result<Vec<Arc<ClusterNode>>, WireError> {
        let mut known = self.known.lock();
        let names: Vec<NodeName> = known.map.primaries().cloned().collect();
        let mut names = names.into_iter();
        names.try_fold(Vec::new(), |mut primaries, name| {
            primaries.push(self.get(&mut known, name)?);
            Ok(primaries)
        })
    }

    /// The nodes that may know which node has which slot: those of the last map, and those that the URL names.
    pub(super) fn all(&self) -> Vec<Arc<ClusterNode>> {
        let mut known = self.known.lock();
        let of_map = known.map.nodes().cloned();
        let of_url = self.seeds.iter().filter_map(|seed| match seed {
            Address::Tcp { host, port, .. } => Some(NodeName::new(host, *port)),
            Address::Unix(_) => None,
        });
        let names: Vec<NodeName> = of_map.chain(of_url).collect();
        let nodes = names.into_iter();
        let mut nodes: Vec<_> = nodes
            .filter_map(|name| self.get(&mut known, name).ok())
            .collect();
        nodes.sort_by_key(|node| node.id.0);
        nodes.dedup_by_key(|node| node.id.0);
        nodes
    }

    /// Visits every node with which there may be a connection.
    pub(super) fn each(&self, mut visit: impl FnMut(&Node)) {
        let nodes: Vec<_> = self.known.lock().by_name.values().cloned().collect();
        for node in nodes {
            visit(&node);
        }
    }

    /// The node with a name. A new one is connected when a command is sent to it.
    fn get(&self, known: &mut Known, name: NodeName) -> Result<Arc<ClusterNode>, WireError> {
        if let Some(node) = known.by_name.get(&name) {
            return Ok(node.clone());
        }
        let address = self.seeds[0].beside(&name.host, name.port)?;
        known.last_id += 1;
        let id = NodeId(known.last_id);
        let setup = Setup {
            locator: Locator::Fixed(address),
            settings: self.settings.clone(),
        };
        let nodes = self.this.clone();
        let on_push = move |id: NodeId, event: PushEvent<'_>| {
            if let Some(nodes) = nodes.upgrade() {
                nodes.pushed(id, event);
            }
        };
        let node = Node::new(id, setup, self.events.clone(), Arc::new(on_push));
        let node = Arc::new(ClusterNode::new(id, name.clone(), node));
        known.by_name.insert(name, node.clone());
        Ok(node)
    }

    /// An answer is asked for: what nodes say from now on outweighs it.
    pub(super) fn begin_refresh(&self) {
        self.known.lock().map.begin_refresh();
    }

    /// Learns which node has which slot.
    pub(super) fn learn(&self, ranges: Vec<SlotRange>) {
        let (moved, unused) = {
            let mut known = self.known.lock();
            let moved = known.map.learn(ranges);
            (moved, known.take_unused())
        };
        // Outside of the mutex, since their callers are woken.
        for node in unused {
            node.disconnect("the node has no slots");
        }
        if let Some(moved) = moved {
            self.report(&moved);
        }
    }

    /// A node has said that a slot is another one's. Whether that is news.
    pub(super) fn note_moved(&self, slot: u16, to: &ClusterNode) -> bool {
        let moved = self.known.lock().map.note_moved(slot, to.name.clone());
        if let Some(moved) = &moved {
            self.report(moved);
        }
        moved.is_some()
    }

    fn report(&self, moved: &MovedSlots) {
        self.events
            .moved(&|lock: &LockName| moved.contains(slot_of(lock)));
    }

    /// An event of a node's connection.
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
            PushEvent::Message(payload) if self.is_first_copy(id, payload) => {
                self.events.message(payload);
            }
            PushEvent::Message(_) => {}
        }
    }

    /// Whether a message is passed on. A client is subscribed on each node and gets as many copies, of which that of the
    /// node which has the lock is the first. A late copy would find that its owner has ended, and have it ended again.
    fn is_first_copy(&self, from: NodeId, payload: &[u8]) -> bool {
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

    /// Removes the nodes that have no slots and are not used any more.
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
