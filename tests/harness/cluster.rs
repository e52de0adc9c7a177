//! A real cluster.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use redis::Value;

use crate::port;
use crate::scene::ask;
use crate::server::{Builder, RedisServer};
use crate::wait::{PATIENCE, wait_until};

/// The number of slots of a cluster.
const SLOTS: usize = 16_384;

/// What a node adds to its port for the connections of the other nodes.
const BUS: u16 = 10_000;

/// After this long without an answer, a node counts as failed.
pub const NODE_TIMEOUT: Duration = Duration::from_secs(1);

/// A cluster of one test, on loopback: primaries with a third of the slots each, or fewer, and for each a replica.
///
/// The nodes find their configuration when they start, so that the cluster need not be formed first.
#[derive(Debug)]
pub struct RedisCluster {
    /// The primaries, and after them their replicas in the same order.
    pub nodes: Vec<RedisServer>,
    primaries: usize,
}

impl RedisCluster {
    /// A cluster of three primaries with a replica each.
    pub fn start() -> Self {
        Self::with(3, 3)
    }

    /// A cluster with so many primaries, the first `replicas` of which have one replica each.
    pub fn with(primaries: usize, replicas: usize) -> Self {
        let ports: Vec<u16> = (0..primaries + replicas).map(|_| cluster_port()).collect();
        let nodes = (0..ports.len()).map(|number| {
            Builder::default()
                .config("cluster-enabled", "yes")
                .config("cluster-config-file", "nodes.conf")
                .config(
                    "cluster-node-timeout",
                    &NODE_TIMEOUT.as_millis().to_string(),
                )
                // A replica is promoted however long ago it last heard of its primary.
                .config("cluster-replica-validity-factor", "0")
                .config("masteruser", crate::acl::HARNESS.0)
                .config("masterauth", crate::acl::HARNESS.1)
                .rights(crate::CLUSTER_RIGHTS)
                .rights(crate::REPLICA_RIGHTS)
                .file("nodes.conf", &configuration(&ports, primaries, number))
                .start_on(ports[number])
        });
        let cluster = Self {
            nodes: nodes.collect(),
            primaries,
        };
        for node in &cluster.nodes {
            cluster.wait_until_ready(node);
        }
        cluster
    }

    /// The address for clients, with two of the nodes.
    pub fn url(&self) -> String {
        let hosts = self.nodes[..2]
            .iter()
            .map(|node| format!("127.0.0.1:{}", node.port()));
        format!("redis-cluster://{}", hosts.collect::<Vec<_>>().join(","))
    }

    /// The number of the primary that has the slot of a key at the beginning.
    pub fn first_owner(&self, key: &str) -> usize {
        let slot = self.slot(key);
        (0..self.primaries)
            .find(|&number| range(self.primaries, number).contains(&slot))
            .expect("each slot has a primary")
    }

    /// The slot of a key.
    pub fn slot(&self, key: &str) -> usize {
        ask(
            &mut self.nodes[0].connection(),
            &["CLUSTER", "KEYSLOT", key],
        )
    }

    /// The replica of a primary.
    pub fn replica_of(&self, primary: usize) -> usize {
        self.primaries + primary
    }

    /// The number of the node that has the slot of a key now, as `asked` says.
    pub fn owner_by(&self, asked: usize, key: &str) -> Option<usize> {
        let slot = self.slot_of(key);
        let mut connection = self.nodes[asked].connection();
        let ranges: Vec<Vec<Value>> = ask(&mut connection, &["CLUSTER", "SLOTS"]);
        let port = ranges.iter().find_map(|range| {
            let bound = |index: usize| redis::from_redis_value::<usize>(range[index].clone()).ok();
            let (first, last) = (bound(0)?, bound(1)?);
            let primary: Vec<Value> = redis::from_redis_value(range[2].clone()).ok()?;
            let port: u16 = redis::from_redis_value(primary[1].clone()).ok()?;
            (first..=last).contains(&slot).then_some(port)
        })?;
        self.nodes.iter().position(|node| node.port() == port)
    }

    fn slot_of(&self, key: &str) -> usize {
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

    /// Moves a slot with its keys from one primary to another, step by step as a resharding does; `between` is called
    /// when the slot is open on both sides and before each of its keys is moved.
    pub fn move_slot(&self, slot: usize, from: usize, to: usize, mut between: impl FnMut()) {
        self.open_slot(slot, from, to);
        between();
        while self.move_key(slot, from, to) {
            between();
        }
        self.close_slot(slot, from, to);
    }

    /// Has two primaries expect that a slot moves from one to the other.
    pub fn open_slot(&self, slot: usize, from: usize, to: usize) {
        self.wait_until_epochs_agree();
        let slot = slot.to_string();
        let (source, target) = (self.id(from), self.id(to));
        let () = self.ask(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source]);
        let () = self.ask(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target]);
    }

    /// Waits until all nodes have heard of each other's epoch. A node that closes a slot takes an epoch above all that it
    /// knows of: if another had taken a later one, that one would get the slot back.
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

    /// Moves one key of a slot that is open; `false` if there is none.
    pub fn move_key(&self, slot: usize, from: usize, to: usize) -> bool {
        let keys: Vec<String> =
            self.ask(from, &["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "1"]);
        let Some(key) = keys.first() else {
            return false;
        };
        self.move_named(key, from, to);
        true
    }

    /// Moves the named key of a slot that is open.
    pub fn move_named(&self, key: &str, from: usize, to: usize) {
        let port = self.nodes[to].port().to_string();
        let (user, password) = crate::acl::HARNESS;
        let _: String = self.ask(
            from,
            &[
                "MIGRATE",
                "127.0.0.1",
                &port,
                key,
                "0",
                "5000",
                "AUTH2",
                user,
                password,
            ],
        );
    }

    /// Gives a slot that was open to its new primary.
    pub fn close_slot(&self, slot: usize, from: usize, to: usize) {
        let (slot, id) = (slot.to_string(), self.id(to));
        for number in [to, from] {
            let () = self.ask(number, &["CLUSTER", "SETSLOT", &slot, "NODE", &id]);
        }
    }

    /// The id of a node.
    pub fn id(&self, number: usize) -> String {
        id(number)
    }

    /// Sends a command to a node, as the harness.
    pub fn ask<T: redis::FromRedisValue>(&self, number: usize, command: &[&str]) -> T {
        ask(&mut self.nodes[number].connection(), command)
    }

    /// Waits until a node serves commands and takes no other node for failed.
    pub fn wait_until_ready(&self, node: &RedisServer) {
        let mut connection = node.connection();
        wait_until("cluster", PATIENCE, || {
            let info: String = ask(&mut connection, &["CLUSTER", "INFO"]);
            let nodes: String = ask(&mut connection, &["CLUSTER", "NODES"]);
            info.contains("cluster_state:ok")
                && !nodes.contains("fail")
                && !nodes.contains("disconnected")
        });
    }

    /// Has a replica take over from its primary, which goes along, and waits until the replica has the slots.
    pub fn fail_over(&self, primary: usize, option: &[&str]) {
        let replica = self.replica_of(primary);
        let _: String = self.ask(replica, &[&["CLUSTER", "FAILOVER"], option].concat());
        self.wait_until_promoted(replica);
    }

    /// Waits until a replica has become a primary.
    pub fn wait_until_promoted(&self, replica: usize) {
        let mut connection = self.nodes[replica].connection();
        wait_until("promotion", PATIENCE, || {
            let role: Vec<Value> = ask(&mut connection, &["ROLE"]);
            let role: String = redis::from_redis_value(role[0].clone()).expect("a role has a name");
            let info: String = ask(&mut connection, &["CLUSTER", "INFO"]);
            role == "master" && info.contains("cluster_state:ok")
        });
    }
}

/// The slots of a primary.
fn range(primaries: usize, number: usize) -> std::ops::Range<usize> {
    let bound = |number: usize| number * SLOTS / primaries;
    bound(number)..bound(number + 1)
}

fn id(number: usize) -> String {
    format!("{number:040x}")
}

/// What a node knows when it starts: all nodes, with their slots.
fn configuration(ports: &[u16], primaries: usize, own: usize) -> String {
    let mut lines = String::new();
    for (number, port) in ports.iter().enumerate() {
        let myself = if number == own { "myself," } else { "" };
        let address = format!("127.0.0.1:{port}@{}", port + BUS);
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

/// A port that is free together with that of its bus, and that no client's socket is given.
fn cluster_port() -> u16 {
    for _ in 0..1_000 {
        let port = port::free_in(12_000..22_000);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port + BUS)).is_ok() {
            return port;
        }
    }
    panic!("no port is free together with that of its bus")
}
