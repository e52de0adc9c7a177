use redis::RedisConnectionInfo;

use super::*;
use crate::backend::redis::cluster::slots_reply::SlotRange;
use crate::backend::redis::hello::ServerMode;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::Background;
use crate::config::Options;
use crate::error::LockError;
use crate::lease::owner_id::ClientId;

/// Handles the events of nodes that are never connected.
struct NoEvents;

impl WireEvents for NoEvents {
    fn client_ids(&self, _: NodeId) -> Result<Vec<ClientId>, LockError> {
        Ok(Vec::new())
    }

    fn missing_ids(&self, _: &[ClientId]) -> Vec<ClientId> {
        Vec::new()
    }

    fn connected(&self, _: NodeId, _: ConnectionId) {}

    fn disconnected(&self, _: NodeId, _: ConnectionId, _: &dyn Fn(&LockName) -> bool) {}

    fn moved(&self, _: &dyn Fn(&LockName) -> bool) {}

    fn doubted(&self, _: &dyn Fn(&LockName) -> bool) {}

    fn message(&self, _: &[u8], _: &[u8]) {}

    fn released(&self, _: OwnerId, _: &dyn Fn(&LockName) -> bool) {}
}

/// Returns the name of a node. Its address contains the port, too.
fn name(port: u16) -> NodeName {
    NodeName::new(&format!("10.0.0.{port}"), port)
}

/// Creates a cluster with the node at port 9 in its URL. The nodes at ports 1 and 2 share its slots.
fn halves() -> Arc<Nodes> {
    let settings = Settings::new(
        RedisConnectionInfo::default(),
        ServerMode::ClusterNode,
        &Options::default(),
        Background::get().unwrap(),
    );
    let seed = Address::Tcp {
        host: "10.0.0.9".to_owned(),
        port: 9,
        tls: None,
    };
    let nodes = Nodes::new(vec![seed], settings, Arc::new(NoEvents));
    nodes.learn(vec![reply([range(0, 8191, 1), range(8192, 16_383, 2)])]);
    nodes
}

fn reply(ranges: impl Into<Vec<SlotRange>>) -> SlotsReply {
    SlotsReply {
        ranges: ranges.into(),
        unnamed: Vec::new(),
    }
}

fn range(first: u16, last: u16, port: u16) -> SlotRange {
    SlotRange {
        slots: first..=last,
        primary: name(port),
        replicas: Vec::new(),
    }
}

/// Returns the ports of the nodes that are asked for a map.
fn asked(nodes: &Nodes) -> Vec<u16> {
    let mut ports: Vec<_> = nodes.all().iter().map(|node| node.name.port).collect();
    ports.sort_unstable();
    ports
}

#[test]
fn node_that_left_is_not_asked_again() {
    let nodes = halves();
    assert_eq!(asked(&nodes), [1, 2, 9]);
    nodes.learn(vec![reply([range(0, 8191, 1), range(8192, 16_383, 3)])]);
    assert_eq!(asked(&nodes), [1, 3, 9], "the URL's node is asked always");
}

#[test]
fn node_in_use_that_lacks_slots_for_a_moment_is_still_asked() {
    let nodes = halves();
    nodes.owner(9000).unwrap().unwrap().note_use();
    nodes.learn(vec![reply([range(0, 16_383, 1)])]);
    assert_eq!(asked(&nodes), [1, 2, 9]);
    let by = nodes.owner(0).unwrap().unwrap();
    let redirect = Redirect {
        slot: 9000,
        host: "?".to_owned(),
        port: 2,
        is_moved: false,
    };
    let named = nodes.named(&redirect, &by).unwrap();
    assert_eq!(named.name, name(2), "and found by its port");
}
