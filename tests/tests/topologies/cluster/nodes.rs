//! Commands, queues and messages on several nodes.

use harness::{LOCK, LONG, RedisCluster, eventually, failed, hold, ms, patient};
use lock_runtime::LockErrorKind;

use super::{has, keys_of_each};
use crate::wrong_passwords;

/// The connections of lock clients to a node.
fn subscribers(cluster: &RedisCluster, node: usize) -> usize {
    let channels: Vec<String> = cluster.ask(node, &["PUBSUB", "CHANNELS", "lock:*"]);
    channels.len()
}

#[tokio::test]
async fn lock_is_on_the_node_that_has_its_slot_and_is_renewed_there() {
    let cluster = RedisCluster::with(3, 0);
    let client = patient(cluster.url()).connect().await.unwrap();
    let ttl = ms(6_000);
    let mut held = Vec::new();
    for (node, keys) in keys_of_each(&cluster).into_iter().enumerate() {
        for key in keys {
            let guard = client.lock(key.as_str()).ttl(ttl).acquire().await.unwrap();
            let lock = format!("lock:{key}");
            assert!(has(&cluster, node, &lock), "{key}");
            held.push((node, lock, guard));
        }
    }
    tokio::time::sleep(ttl * 4 / 3).await;
    for (node, lock, guard) in held {
        guard.renew().await.unwrap();
        guard.release().await.unwrap();
        assert!(!has(&cluster, node, &lock), "{lock}");
    }
}

#[tokio::test]
async fn ping_is_one_command_to_each_primary() {
    const PINGS: usize = 10;
    let cluster = RedisCluster::with(3, 0);
    let client = patient(cluster.url()).connect().await.unwrap();
    let mut monitors: Vec<_> = cluster.nodes.iter().map(|node| node.monitor()).collect();
    for _ in 0..PINGS {
        client.ping().await.unwrap();
    }
    for monitor in &mut monitors {
        let commands = monitor.take();
        let names: Vec<_> = commands.iter().map(|command| &*command.name).collect();
        let clients = |name: &&&str| ["PING", "CLUSTER"].contains(*name);
        let of_client: Vec<_> = names.iter().filter(clients).collect();
        assert_eq!(of_client, [&"PING"; PINGS], "{names:?}");
    }
}

#[tokio::test]
async fn ping_after_a_failover_asks_the_new_primary() {
    let mut cluster = RedisCluster::with_quick_failover();
    let client = patient(cluster.url()).connect().await.unwrap();
    let primary = cluster.owner(LOCK);
    let replica = cluster.replica_of(primary);
    cluster.nodes[primary].kill9();
    cluster.wait_until_promoted(replica);
    // Other nodes may name the old one for a moment.
    eventually("answer", LONG, async || client.ping().await.is_ok()).await;
}

#[tokio::test]
async fn client_connects_to_the_nodes_that_it_needs() {
    let cluster = RedisCluster::start();
    // A quarter of its time for a node is longer than any stall: it would query another node, and keep that connection.
    let client = patient(cluster.url()).command_timeout(4 * LONG);
    let client = client.build().unwrap();
    let owner = cluster.first_owner(LOCK);
    hold(&client).await.release().await.unwrap();
    for node in 0..6 {
        let expected = usize::from(node == owner);
        let found = subscribers(&cluster, node);
        // The map may have come from another node, which keeps no connection.
        eventually("connections", LONG, async || {
            subscribers(&cluster, node) == expected
        })
        .await;
        assert!(found <= 1, "{found} connections to node {node}");
    }
}

#[tokio::test]
async fn keys_of_one_slot_are_locked_together_and_others_are_refused() {
    let cluster = RedisCluster::with(1, 0);
    let client = patient(cluster.url()).build().unwrap();
    let tagged = client.lock_all(["{account}:1", "{account}:2"]);
    let guard = tagged.acquire().await.unwrap();
    guard.renew().await.unwrap();
    guard.release().await.unwrap();
    let others = client.lock_all(["account:1", "account:2"]);
    let error = failed(others.acquire().await, LockErrorKind::InvalidKey);
    let words = "the keys are in different slots: give them one hash tag";
    assert!(error.to_string().contains(words), "{error}");
}

#[tokio::test]
async fn wrong_password_is_refused_by_each_node_once_at_most() {
    let cluster = RedisCluster::with(3, 0);
    let url = cluster.url().replace("://", "://harness:s3cret@");
    let error = failed(patient(url).connect().await, LockErrorKind::Rejected);
    assert!(error.to_string().contains("WRONGPASS"), "{error}");
    assert!(!error.to_string().contains("s3cret"), "{error}");
    let refused = (0..3).map(|node| wrong_passwords(&cluster.nodes[node]));
    let refused: Vec<_> = refused.collect();
    assert!(refused.contains(&1), "{refused:?}");
    assert!(refused.iter().all(|&count| count <= 1), "{refused:?}");
}
