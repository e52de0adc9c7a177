//! Nodes that announce an address, a name, nothing, or something that leads nowhere from here.

use std::collections::HashMap;

use harness::{Authority, LONG, RedisCluster, Validity, cycle, eventually, failed, ms, patient};
use lock_runtime::{LockClient, LockErrorKind};
use redis::Value;

use super::keys_of_each;

/// Makes each node announce what `setting` returns for its number, and waits until all nodes know it.
async fn announce(cluster: &RedisCluster, setting: &str, value: impl Fn(usize) -> String) {
    for (number, node) in cluster.nodes.iter().enumerate() {
        node.config_set(setting, &value(number));
    }
    // Nodes learn the names of others from the next messages.
    eventually("announcement", LONG, async || {
        (0..cluster.nodes.len()).all(|asked| {
            let nodes: String = cluster.ask(asked, &["CLUSTER", "NODES"]);
            (0..cluster.nodes.len()).all(|number| nodes.contains(&value(number)))
        })
    })
    .await;
}

fn prefer(cluster: &RedisCluster, kind: &str) {
    for node in &cluster.nodes {
        node.config_set("cluster-preferred-endpoint-type", kind);
    }
}

async fn every_node_is_reached(cluster: &RedisCluster, client: &LockClient) {
    for keys in keys_of_each(cluster) {
        for key in keys {
            let guard = client.lock(key).acquire().await.unwrap();
            guard.release().await.unwrap();
        }
    }
}

#[tokio::test]
async fn nodes_are_reached_with_any_announced_endpoint() {
    let cluster = RedisCluster::with(3, 0);
    // Hostnames are preferred, and there are none: the cluster answers `?`, with the address in the metadata.
    prefer(&cluster, "hostname");
    let ranges: Vec<Vec<Value>> = cluster.ask(0, &["CLUSTER", "SLOTS"]);
    assert!(format!("{:?}", ranges[0]).contains("\"?\""), "{ranges:?}");
    every_node_is_reached(&cluster, &patient(cluster.url()).build().unwrap()).await;
    let name = |_| "localhost".to_owned();
    announce(&cluster, "cluster-announce-hostname", name).await;
    every_node_is_reached(&cluster, &patient(cluster.url()).build().unwrap()).await;
    // As behind a load balancer: the host is the host of the node that was asked.
    prefer(&cluster, "unknown-endpoint");
    every_node_is_reached(&cluster, &patient(cluster.url()).build().unwrap()).await;
}

#[tokio::test]
async fn nodes_are_reached_at_their_mapped_addresses() {
    let cluster = RedisCluster::with(3, 0);
    let name = |number: usize| format!("node-{number}.invalid");
    announce(&cluster, "cluster-announce-hostname", name).await;
    prefer(&cluster, "hostname");
    let builder = patient(cluster.url());
    let mapped = builder.address_map(|host, port| {
        assert!(host.ends_with(".invalid"), "{host}");
        ("127.0.0.1".to_owned(), port)
    });
    every_node_is_reached(&cluster, &mapped.build().unwrap()).await;
    // Without the map the nodes are not found.
    let [key, _] = keys_of_each(&cluster).remove(0);
    let lock = patient(cluster.url())
        .build()
        .unwrap()
        .lock(key)
        .wait(ms(500));
    let error = lock.acquire().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains("node-0.invalid"), "{error}");
}

/// Every node has a certificate of one authority. Before Redis 8 the cluster announces the ports without TLS here, so they
/// are mapped.
#[tokio::test]
async fn nodes_are_reached_over_tls() {
    let cluster = RedisCluster::with(3, 0);
    let (authority, files) = (Authority::new(), tempfile::TempDir::new().unwrap());
    let identity = authority.local();
    let listen = |node| harness::listen(node, files.path(), &authority, &identity);
    let ports: HashMap<u16, u16> = cluster
        .nodes
        .iter()
        .map(|node| (node.port(), listen(node)))
        .collect();
    let url = format!(
        "rediss-cluster://127.0.0.1:{}",
        ports[&cluster.nodes[0].port()]
    );
    let builder = || {
        let ports = ports.clone();
        let builder = patient(url.as_str()).require_tls(true);
        builder.address_map(move |host, port| {
            let mapped = ports.get(&port).copied();
            (host.to_owned(), mapped.unwrap_or(port))
        })
    };
    let trusting = builder().ca_certificate(authority.pem()).build().unwrap();
    every_node_is_reached(&cluster, &trusting).await;
    // Another authority is not trusted, on any node.
    let distrusting = builder().ca_certificate(Authority::new().pem());
    failed(distrusting.connect().await, LockErrorKind::Rejected);
}

/// Like a managed service that has certificates for names, and whose nodes announce addresses.
#[tokio::test]
async fn certificate_for_another_name_than_a_node_announces_is_refused_by_its_address() {
    let cluster = RedisCluster::with(1, 0);
    let (authority, files) = (Authority::new(), tempfile::TempDir::new().unwrap());
    let identity = authority.issue(&["localhost"], Validity::Now);
    let port = harness::listen(&cluster.nodes[0], files.path(), &authority, &identity);
    let builder = || {
        let builder = patient(format!("rediss-cluster://localhost:{port}"));
        builder.ca_certificate(authority.pem())
    };
    let announced = builder().address_map(move |host, _| (host.to_owned(), port));
    let error = announced.build().unwrap().lock("a").acquire().await;
    let error = failed(error, LockErrorKind::Rejected).to_string();
    assert!(error.contains("another name than 127.0.0.1"), "{error}");
    assert!(error.contains("address_map"), "{error}");
    let mapped = builder().address_map(move |_, _| ("localhost".to_owned(), port));
    cycle(&mapped.build().unwrap()).await;
}
