//! A primary and its replica behind one address, which leads to the primary, like a virtual IP address or a proxy. A
//! connection from before a failover leads to the old primary, which redirects to the same address.

use std::time::Duration;

use harness::{KEY, LOCK, LONG, Proxy, RedisCluster, eventually, patient};

#[tokio::test]
async fn held_lock_follows_the_address_to_the_new_primary() {
    const TTL: Duration = Duration::from_secs(8);
    let cluster = RedisCluster::with_quick_failover();
    let primary = cluster.owner(LOCK);
    let replica = cluster.replica_of(primary);
    let address = Proxy::start(cluster.nodes[primary].port());
    let port = address.port().to_string();
    for node in [primary, replica] {
        cluster.nodes[node].config_set("cluster-announce-port", &port);
    }
    eventually("announcement", LONG, async || {
        (0..cluster.nodes.len()).all(|asked| {
            let nodes: String = cluster.ask(asked, &["CLUSTER", "NODES"]);
            nodes.matches(&format!(":{port}@")).count() == 2
        })
    })
    .await;
    let client = patient(cluster.url()).build().unwrap();
    let guard = client.lock(KEY).ttl(TTL).acquire().await.unwrap();
    cluster.wait_for_replication(primary);
    // New connections lead to the server that takes over, and the client keeps its old one.
    address.redirect(cluster.nodes[replica].port());
    cluster.fail_over(primary, &[]);
    cluster.wait_until_promoted(replica);
    tokio::time::sleep(TTL * 3 / 2).await;
    guard.renew().await.expect("the new primary has the lock");
    guard.release().await.expect("it was held throughout");
    let guard = client.lock(KEY).acquire().await.unwrap();
    guard.release().await.unwrap();
}
