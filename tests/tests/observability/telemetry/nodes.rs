//! Events about nodes of a quorum that fail and recover. A majority continues without them, so nothing else reports it.

use harness::{KEY, LOCK, RedisQuorum, RedisServer, client_without_turns, cycle, exists, patient};
use lock_runtime::LockClient;
use std::time::Duration;

use super::{LONG, eventually};
use crate::journal::{Line, told_of};

/// Takes the lock repeatedly until there are this many events of this name about a node.
async fn told_while_locking(client: &LockClient, event: &str, node: &str, times: usize) -> Line {
    eventually(event, LONG, async || {
        cycle(client).await;
        told_of(event, "server", node).len() >= times
    })
    .await;
    told_of(event, "server", node).remove(times - 1)
}

fn times(event: &str, node: &str) -> usize {
    told_of(event, "server", node).len()
}

#[tokio::test]
async fn node_that_is_restarted_empty_is_away_and_back_and_was_restarted() {
    crate::record();
    let mut quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    cycle(&client).await;
    let node = quorum.nodes[1].address();
    quorum.nodes[1].kill9();
    let away = told_while_locking(&client, "node_away", &node, 1).await;
    assert!(away.field("fault").contains("connect"), "{away:?}");
    quorum.nodes[1].restart();
    told_while_locking(&client, "node_back", &node, 1).await;
    told_while_locking(&client, "node_restarted", &node, 1).await;
    assert_eq!(times("node_restarted", &node), 1, "once");
    // On a busy machine a node may be too slow once more.
    let (away, back) = (times("node_away", &node), times("node_back", &node));
    assert!(back == away || back + 1 == away, "{away} and {back}");
}

#[tokio::test]
async fn connecting_reports_the_nodes_that_are_away() {
    crate::record();
    let mut quorum = RedisQuorum::start();
    quorum.nodes[0].kill9();
    let client = patient(quorum.url()).connect().await;
    let client = client.expect("two nodes are a majority");
    let told = quorum
        .nodes
        .iter()
        .map(|node| times("node_away", &node.address()));
    assert_eq!(told.collect::<Vec<_>>(), [1, 0, 0]);
    drop(client);
}

/// The client only renews meanwhile.
#[tokio::test]
async fn node_that_goes_away_from_a_holder_is_reported() {
    crate::record();
    let mut quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    let lock = client.lock(KEY).ttl(Duration::from_secs(3)).acquire();
    let guard = lock.await.expect("it is free");
    let node = quorum.nodes[0].address();
    quorum.nodes[0].kill9();
    eventually("event", LONG, async || times("node_away", &node) == 1).await;
    quorum.nodes[0].restart();
    eventually("event", LONG, async || times("node_back", &node) == 1).await;
    assert!(exists(&mut quorum.nodes[1].connection(), LOCK));
    guard.release().await.expect("it was held throughout");
}

#[tokio::test]
async fn node_whose_clock_is_off_is_reported() {
    const OFF: Duration = Duration::from_secs(60);
    crate::record();
    let quorum = RedisQuorum::of(
        [(); 3].map(|()| RedisServer::builder().own_clock()),
        RedisQuorum::DELAY,
    );
    let client = client_without_turns(quorum.url());
    cycle(&client).await;
    let node = quorum.nodes[0].address();
    assert_eq!(times("node_clock", &node), 0);
    quorum.nodes[0].forward(OFF);
    let clock = told_while_locking(&client, "node_clock", &node, 1).await;
    let off = clock.time("off_ms");
    assert!(off > OFF - LONG && off < OFF + LONG, "{clock:?}");
    for other in &quorum.nodes[1..] {
        assert_eq!(times("node_clock", &other.address()), 0, "it is right");
    }
}

/// Too little to cost the node its vote: nothing else reports it.
#[tokio::test]
async fn clocks_that_are_apart_are_reported_once_by_a_starting_client() {
    const APART: Duration = Duration::from_millis(400);
    crate::record();
    let nodes = [(); 3].map(|()| RedisServer::builder().own_clock());
    let quorum = RedisQuorum::of(nodes, RedisQuorum::DELAY);
    let names: Vec<String> = quorum.nodes.iter().map(RedisServer::address).collect();
    let told = |event: &str| names.iter().map(|name| times(event, name)).sum::<usize>();
    patient(quorum.url()).connect().await.unwrap();
    assert_eq!(told("clocks_apart"), 0, "they are right");
    quorum.nodes[2].back(APART);
    // On a busy machine an answer may be too late to show how far its node's clock is off.
    let mut client = None;
    eventually("event", LONG, async || {
        client = Some(patient(quorum.url()).connect().await.unwrap());
        times("clocks_apart", &names[2]) == 1
    })
    .await;
    let apart = told_of("clocks_apart", "server", &names[2]).remove(0);
    let off = apart.time("off_ms");
    assert!(off > APART / 2 && off < LONG, "{apart:?}");
    assert!(names[..2].iter().any(|name| name == apart.field("other")));
    // Simultaneous calls send commands to their nodes at the same time.
    let client = client.expect("it is connected");
    let locks = ["a", "b", "c"].map(|key| client.lock(key).acquire());
    let [one, two, three] = locks;
    let _guards = tokio::try_join!(one, two, three).unwrap();
    assert_eq!(told("clocks_apart"), 1, "once for each client");
    assert_eq!(told("node_clock"), 0, "the node has a vote");
}
