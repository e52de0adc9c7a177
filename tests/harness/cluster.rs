//! A real cluster.

mod network;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use redis::Value;

use network::Network;

use crate::port;
use crate::scene::ask;
use crate::server::{Builder, RedisServer};
use crate::wait::{PATIENCE, wait_until};

/// The number of slots of a cluster.
const SLOTS: usize = 16_384;

/// The offset from a node's port to its bus port.
const BUS: u16 = 10_000;

/// After this long without an answer, a node of a cluster that [fails over
/// quickly](RedisCluster::with_quick_failover) counts as failed.
pub const NODE_TIMEOUT: Duration = Duration::from_secs(1);

/// The same for all other clusters: neither a busy machine nor a cut bus makes a node count as failed
/// before a round ends.
const STEADY: Duration = PATIENCE.saturating_mul(2);

/// A cluster of one test, on loopback: primaries with at most a third of the slots each, and
/// replicas.
///
/// The nodes read their configuration at start, so no cluster has to be formed first.
#[derive(Debug)]
pub struct RedisCluster {
    /// The primaries, and after them their replicas in the same order.
    pub nodes: Vec<RedisServer>,
    primaries: usize,
    timeout: Duration,
    network: Option<Network>,
}

impl RedisCluster {
    /// A cluster of three primaries with a replica each.
    pub fn start() -> Self {
        Self::with(3, 3)
    }

    /// A cluster with this many primaries, the first `replicas` of which have one replica each.
    pub fn with(primaries: usize, replicas: usize) -> Self {
        Self::build(primaries, replicas, STEADY, false)
    }

    /// A cluster of three primaries with a replica each, which replaces its primary after
    /// [`NODE_TIMEOUT`].
    pub fn with_quick_failover() -> Self {
        Self::build(3, 3, NODE_TIMEOUT, false)
    }

    fn build(primaries: usize, replicas: usize, timeout: Duration, has_network: bool) -> Self {
        let ports: Vec<u16> = (0..primaries + replicas).map(|_| cluster_port()).collect();
        let network = has_network.then(|| Network::before(&ports));
        let announced = match &network {
            Some(network) => network.announced(),
            None => ports.iter().map(|port| (*port, port + BUS)).collect(),
        };
        let nodes = (0..ports.len()).map(|number| {
            let (port, bus) = announced[number];
            node(timeout)
                .config("cluster-announce-ip", "127.0.0.1")
                .config("cluster-announce-port", &port.to_string())
                .config("cluster-announce-bus-port", &bus.to_string())
                .file("nodes.conf", &configuration(&announced, primaries, number))
                .start_on(ports[number])
        });
        let cluster = Self {
            nodes: nodes.collect(),
            primaries,
            timeout,
            network,
        };
        cluster.wait_until_whole();
        cluster
    }

    /// The address for clients, with two of the nodes if there are two.
    pub fn url(&self) -> String {
        let hosts = self.nodes.iter().take(2);
        let hosts = hosts.map(|node| format!("127.0.0.1:{}", node.port()));
        format!("redis-cluster://{}", hosts.collect::<Vec<_>>().join(","))
    }

    /// The number of the primary that initially has the slot of a key.
    pub fn first_owner(&self, key: &str) -> usize {
        let slot = self.slot(key);
        (0..self.primaries)
            .find(|&number| range(self.primaries, number).contains(&slot))
            .expect("each slot has a primary")
    }

    /// The slot of a key.
    pub fn slot(&self, key: &str) -> usize {
        let alive = self.nodes.iter().find_map(|node| {
            let client = redis::Client::open(node.admin_url()).ok()?;
            let mut connection = client.get_connection_with_timeout(PATIENCE).ok()?;
            redis::cmd("CLUSTER")
                .arg("KEYSLOT")
                .arg(key)
                .query(&mut connection)
                .ok()
        });
        alive.expect("a node is alive")
    }

    /// The number of the primary that has the slot of a key now, as it reports itself.
    pub fn owner(&self, key: &str) -> usize {
        let owner = (0..self.nodes.len()).find(|&node| self.owner_by(node, key) == Some(node));
        owner.expect("each slot has a primary")
    }

    /// Another node that is a primary now.
    pub fn other_primary(&self, primary: usize) -> usize {
        let other = (0..self.nodes.len()).find(|&node| node != primary && self.is_primary(node));
        other.expect("there are several primaries")
    }

    /// The replica of a primary, even if the two have swapped roles.
    pub fn replica_of(&self, primary: usize) -> usize {
        match primary.checked_sub(self.primaries) {
            None => self.primaries + primary,
            Some(replica) => replica,
        }
    }

    /// The port that a node announces to the others and to clients.
    fn announced_port(&self, node: usize) -> u16 {
        match &self.network {
            Some(network) => network.announced()[node].0,
            None => self.nodes[node].port(),
        }
    }

    /// Adds a primary without slots, and returns its number.
    pub fn add_node(&mut self) -> usize {
        let node = node(self.timeout).start_on(cluster_port());
        let port = node.port().to_string();
        self.nodes.push(node);
        let _: String = self.ask(0, &["CLUSTER", "MEET", "127.0.0.1", &port]);
        self.wait_until_whole();
        self.nodes.len() - 1
    }

    /// Removes the last node, which has no slots.
    pub fn remove_node(&mut self) {
        let id = self.id(self.nodes.len() - 1);
        drop(self.nodes.pop());
        for number in 0..self.nodes.len() {
            let _: String = self.ask(number, &["CLUSTER", "FORGET", &id]);
        }
        self.wait_until_whole();
    }

    /// The number of the node that has the slot of a key now, according to `asked`.
    pub fn owner_by(&self, asked: usize, key: &str) -> Option<usize> {
        self.owner_of_slot(asked, self.slot(key))
    }

    fn owner_of_slot(&self, asked: usize, slot: usize) -> Option<usize> {
        let mut connection = self.nodes[asked].connection();
        let ranges: Vec<Vec<Value>> = ask(&mut connection, &["CLUSTER", "SLOTS"]);
        let port = ranges.iter().find_map(|range| {
            let bound = |index: usize| redis::from_redis_value::<usize>(range[index].clone()).ok();
            let (first, last) = (bound(0)?, bound(1)?);
            let primary: Vec<Value> = redis::from_redis_value(range[2].clone()).ok()?;
            let port: u16 = redis::from_redis_value(primary[1].clone()).ok()?;
            (first..=last).contains(&slot).then_some(port)
        })?;
        (0..self.nodes.len()).find(|&node| self.announced_port(node) == port)
    }

    /// Moves a slot with its keys from one primary to another, step by step like a resharding;
    /// calls `between` when the slot is open on both sides and before each key.
    pub fn move_slot(&self, slot: usize, from: usize, to: usize, mut between: impl FnMut()) {
        self.open_slot(slot, from, to);
        between();
        while self.move_key(slot, from, to) {
            between();
        }
        self.close_slot(slot, from, to);
    }

    /// Moves a slot with its keys in one step. `false` if the servers cannot: Valkey can since 9.0.
    pub fn move_slot_at_once(&self, slot: usize, from: usize, to: usize) -> bool {
        let (number, target) = (slot.to_string(), self.id(to));
        let help: Vec<String> = self.ask(from, &["CLUSTER", "HELP"]);
        if !help.iter().any(|line| line.starts_with("MIGRATESLOTS")) {
            return false;
        }
        self.wait_until_epochs_agree();
        let slots = ["SLOTSRANGE", &number, &number, "NODE", &target];
        let () = self.ask(from, &[&["CLUSTER", "MIGRATESLOTS"], &slots[..]].concat());
        wait_until("slot on its new node", PATIENCE, || {
            self.owner_of_slot(from, slot) == Some(to)
        });
        true
    }

    /// Opens a slot for a move from one primary to the other.
    pub fn open_slot(&self, slot: usize, from: usize, to: usize) {
        self.wait_until_epochs_agree();
        let slot = slot.to_string();
        let (source, target) = (self.id(from), self.id(to));
        let () = self.ask(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source]);
        let () = self.ask(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target]);
    }

    /// Waits until all nodes have heard of each other's epoch. A node that closes a slot takes an
    /// epoch above all that it knows: a node with a later epoch would get the slot back.
    fn wait_until_epochs_agree(&self) {
        let epochs = |number| {
            let nodes: String = self.ask(number, &["CLUSTER", "NODES"]);
            let lines = nodes.lines().map(|line| {
                let fields: Vec<&str> = line.split(' ').collect();
                (fields[0].to_owned(), fields[6].to_owned())
            });
            lines.collect::<BTreeMap<_, _>>()
        };
        wait_until("epochs that all nodes know", PATIENCE, || {
            let first = epochs(0);
            (1..self.nodes.len()).all(|number| epochs(number) == first)
        });
    }

    /// Moves one key of an open slot; `false` if there is none.
    pub fn move_key(&self, slot: usize, from: usize, to: usize) -> bool {
        let keys: Vec<String> =
            self.ask(from, &["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "1"]);
        let Some(key) = keys.first() else {
            return false;
        };
        self.move_named(key, from, to);
        true
    }

    /// Moves the named key of an open slot.
    pub fn move_named(&self, key: &str, from: usize, to: usize) {
        let port = self.nodes[to].port().to_string();
        let (user, password) = crate::acl::HARNESS;
        let target = ["MIGRATE", "127.0.0.1", &port, key, "0", "5000"];
        let command = [&target[..], &["AUTH2", user, password]].concat();
        let _: String = self.ask(from, &command);
    }

    /// Gives an open slot to its new primary.
    pub fn close_slot(&self, slot: usize, from: usize, to: usize) {
        let (slot, id) = (slot.to_string(), self.id(to));
        for number in [to, from] {
            let () = self.ask(number, &["CLUSTER", "SETSLOT", &slot, "NODE", &id]);
        }
    }

    pub fn id(&self, number: usize) -> String {
        self.ask(number, &["CLUSTER", "MYID"])
    }

    /// Sends a command to a node, as the harness's user.
    pub fn ask<T: redis::FromRedisValue>(&self, number: usize, command: &[&str]) -> T {
        ask(&mut self.nodes[number].connection(), command)
    }

    /// Waits until each node serves commands, considers no other node failed, and agrees with the
    /// others about all nodes, and until each replica has its primary's data.
    pub fn wait_until_whole(&self) {
        wait_until("cluster", PATIENCE, || {
            let first = self.view(0);
            first.is_some() && (1..self.nodes.len()).all(|number| self.view(number) == first)
        });
    }

    /// All nodes in the view of one of them: ids, roles, epochs and slots. None while something is
    /// wrong.
    fn view(&self, number: usize) -> Option<Vec<String>> {
        let mut connection = self.nodes[number].connection();
        let info: String = ask(&mut connection, &["CLUSTER", "INFO"]);
        let nodes: String = ask(&mut connection, &["CLUSTER", "NODES"]);
        let replication: String = ask(&mut connection, &["INFO", "replication"]);
        let is_well = info.contains("cluster_state:ok")
            && !["fail", "handshake", "noaddr", "disconnected"]
                .iter()
                .any(|flag| nodes.contains(flag))
            && !replication.contains("master_link_status:down");
        let mut view: Vec<String> = nodes.lines().map(role_and_slots).collect();
        view.sort_unstable();
        is_well.then_some(view)
    }

    /// Waits until the replica of a primary has all its writes.
    pub fn wait_for_replication(&self, primary: usize) {
        let replica = &self.nodes[self.replica_of(primary)];
        self.nodes[primary].wait_for_replica(replica);
    }

    /// Cuts a replica off from its primary's writes. The replica is stopped:
    /// [resume](RedisServer::resume) it.
    pub fn detach(&self, replica: usize) {
        self.nodes[replica].pause();
        // Otherwise the replica would continue to read from its socket.
        let primary = self.replica_of(replica);
        let _: i64 = self.ask(primary, &["CLIENT", "KILL", "TYPE", "replica"]);
    }

    /// Makes a replica take over from its primary, which cooperates, and waits until the replica
    /// has the slots.
    pub fn fail_over(&self, primary: usize, option: &[&str]) {
        let replica = self.replica_of(primary);
        let mut connection = self.nodes[replica].connection();
        let command = redis::cmd("CLUSTER").arg("FAILOVER").arg(option).to_owned();
        // Refused while the replica of a busy machine considers its primary failed.
        wait_until("replica that takes over", PATIENCE, || {
            command.query::<String>(&mut connection).is_ok()
        });
        self.wait_until_promoted(replica);
    }

    /// Waits until a replica has become a primary.
    pub fn wait_until_promoted(&self, replica: usize) {
        let mut connection = self.nodes[replica].connection();
        wait_until("promotion", PATIENCE, || {
            let info: String = ask(&mut connection, &["CLUSTER", "INFO"]);
            self.is_primary(replica) && info.contains("cluster_state:ok")
        });
    }

    fn is_primary(&self, node: usize) -> bool {
        let role: Vec<Value> = self.ask(node, &["ROLE"]);
        let role: String = redis::from_redis_value_ref(&role[0]).expect("a role has a name");
        role == "master"
    }
}

/// The options of a node.
fn node(timeout: Duration) -> Builder {
    Builder::default()
        .config("cluster-enabled", "yes")
        .config("cluster-config-file", "nodes.conf")
        .config("cluster-node-timeout", &timeout.as_millis().to_string())
        // Promotes a replica however long ago it last heard from its primary.
        .config("cluster-replica-validity-factor", "0")
        // A node that gives away its last slot stays a primary.
        .config("cluster-allow-replica-migration", "no")
        .rights(crate::CLUSTER_RIGHTS)
        .rights(crate::REPLICA_RIGHTS)
}

/// The part of a line of CLUSTER NODES on which all nodes must agree.
fn role_and_slots(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let role = words[2].trim_start_matches("myself,");
    let (id, primary, epoch, slots) = (words[0], words[3], words[6], words[8..].join(" "));
    format!("{id} {role} {primary} {epoch} {slots}")
}

/// The slots of a primary.
fn range(primaries: usize, number: usize) -> std::ops::Range<usize> {
    let bound = |number: usize| number * SLOTS / primaries;
    bound(number)..bound(number + 1)
}

fn id(number: usize) -> String {
    format!("{number:040x}")
}

/// The initial configuration of a node: all nodes, with their slots.
fn configuration(announced: &[(u16, u16)], primaries: usize, own: usize) -> String {
    let mut lines = String::new();
    for (number, (port, bus)) in announced.iter().enumerate() {
        let myself = if number == own { "myself," } else { "" };
        let address = format!("127.0.0.1:{port}@{bus}");
        let line = match number.checked_sub(primaries) {
            None => {
                let range = range(primaries, number);
                let slots = format!("{}-{}", range.start, range.end - 1);
                let epoch = number + 1;
                format!(
                    "{} {address} {myself}master - 0 0 {epoch} connected {slots}\n",
                    id(number)
                )
            }
            Some(primary) => {
                let (primary, epoch) = (id(primary), primary + 1);
                format!(
                    "{} {address} {myself}slave {primary} 0 0 {epoch} connected\n",
                    id(number)
                )
            }
        };
        lines += &line;
    }
    format!("{lines}vars currentEpoch {primaries} lastVoteEpoch 0\n")
}

/// A port that is free together with its bus port, and that no client's socket is given.
fn cluster_port() -> u16 {
    for _ in 0..1_000 {
        let port = port::free_in(port::OF_CLUSTERS);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port + BUS)).is_ok() {
            return port;
        }
    }
    panic!("no port is free together with its bus port")
}
