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
    let owner = cluster.first_owner(LOCK);
    // It knows no other node: it asks a second one if the first does not send the map within 250 ms, and a node that
    // has slots keeps its connection.
    let client = patient(format!(
        "redis-cluster://127.0.0.1:{}",
        cluster.nodes[owner].port()
    ));
    // A quarter of its time for the owner is longer than any stall: then it asks the others who has the slot.
    let client = client.command_timeout(4 * LONG).build().unwrap();
    hold(&client).await.release().await.unwrap();
    let connections: Vec<_> = (0..6).map(|node| subscribers(&cluster, node)).collect();
    let expected: Vec<_> = (0..6).map(|node| usize::from(node == owner)).collect();
    assert_eq!(connections, expected);
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
