//! Proxies in front of a cluster's nodes, which can cut parts of the cluster off from each other.
//!
//! Each node announces two proxies: one for its port, and one for its bus port. Replicas and redirected clients connect
//! through the first, and the other nodes through the second. Clients that must not be affected use [the nodes' own
//! addresses](RedisCluster::direct_url).

use super::{BUS, NODE_TIMEOUT, RedisCluster, STEADY};
use crate::proxy::{Mode, Proxy};

/// The proxies, in the order of the nodes.
#[derive(Debug)]
pub(super) struct Network {
    clients: Vec<Proxy>,
    bus: Vec<Proxy>,
}

impl Network {
    /// Proxies in front of nodes with these ports.
    pub(super) fn before(ports: &[u16]) -> Self {
        let start = |offset: u16| ports.iter().map(move |port| Proxy::start(port + offset));
        Self {
            clients: start(0).collect(),
            bus: start(BUS).collect(),
        }
    }

    /// The ports that the nodes announce, for clients and for the bus.
    pub(super) fn announced(&self) -> Vec<(u16, u16)> {
        let both = self.clients.iter().zip(&self.bus);
        let ports = both.map(|(clients, bus)| (clients.port(), bus.port()));
        ports.collect()
    }
}

impl RedisCluster {
    /// A cluster of three primaries with a replica each, all behind proxies.
    pub fn behind_proxies() -> Self {
        Self::build(3, 3, STEADY, true)
    }

    /// The same, where a replica replaces its primary after [`NODE_TIMEOUT`].
    pub fn behind_proxies_with_quick_failover() -> Self {
        Self::build(3, 3, NODE_TIMEOUT, true)
    }

    /// The address for workers that bypass the proxies.
    pub fn direct_url(&self) -> String {
        let found = (0..self.nodes.len()).map(|node| self.found(node, self.nodes[node].port()));
        format!("{}{}", self.url(), found.collect::<String>())
    }

    /// The address for workers that reach only this node.
    pub fn url_inside(&self, node: usize) -> String {
        const NOWHERE: u16 = 1;
        let found = (0..self.nodes.len()).map(|other| {
            if other == node {
                self.found(node, self.nodes[node].port())
            } else {
                self.found(other, NOWHERE)
            }
        });
        let found: String = found.collect();
        format!(
            "redis-cluster://127.0.0.1:{}{found}",
            self.nodes[node].port()
        )
    }

    /// The address for workers that reach all other nodes once this node is [cut
    /// off](Self::cut_off).
    pub fn url_outside(&self, node: usize) -> String {
        let others = (0..self.nodes.len()).filter(|&other| other != node);
        let hosts = others.map(|other| format!("127.0.0.1:{}", self.nodes[other].port()));
        format!("redis-cluster://{}", hosts.collect::<Vec<_>>().join(","))
    }

    fn found(&self, node: usize, port: u16) -> String {
        format!(" {}={port}", self.announced_port(node))
    }

    /// Stops replication from a primary to its replica.
    pub fn stop_replication(&self, primary: usize) {
        self.network().clients[primary].black_hole();
    }

    /// Cuts a node off from all others, from its replica, and from redirected clients.
    pub fn cut_off(&self, node: usize) {
        let id = self.id(node);
        self.stop_replication(node);
        for (number, bus) in self.network().bus.iter().enumerate() {
            if number == node {
                bus.black_hole();
            } else {
                bus.hold_node(&id);
            }
        }
    }

    /// Cuts the bus between all nodes.
    pub fn cut_bus(&self) {
        self.network().bus.iter().for_each(Proxy::black_hole);
    }

    /// Holds back a node's replies to its clients.
    pub fn hold_replies(&self, node: usize) {
        self.network().clients[node].replies(Mode::Hold);
    }

    /// Cuts the connection at the reply to the next client request to this node that contains
    /// `pattern`.
    pub fn cut_next_reply(&self, node: usize, pattern: &str) {
        self.network().clients[node].cut_next_reply(pattern);
    }

    /// Undoes all of this. Bytes that were held back arrive now.
    pub fn heal(&self) {
        let Network { clients, bus } = self.network();
        clients.iter().chain(bus).for_each(Proxy::heal);
    }

    fn network(&self) -> &Network {
        let network = self.network.as_ref();
        network.expect("the cluster was started behind proxies")
    }
}
