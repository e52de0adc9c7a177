//! URLs that name something else than what is there: refused by a sentence that says how the URL must begin.

use harness::{RedisCluster, RedisServer, sentinel_of};
use lock_runtime::{LockClient, LockErrorKind};

async fn refusal(url: &str) -> String {
    let error = LockClient::connect(url).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    error.to_string()
}

fn address(server: &RedisServer) -> String {
    format!("127.0.0.1:{}", server.port())
}

#[tokio::test]
async fn url_of_a_server_names_a_node_of_a_cluster() {
    let cluster = RedisCluster::with(1, 0);
    let address = address(&cluster.nodes[0]);
    let text = refusal(&format!("redis://{address}")).await;
    assert!(text.contains("is a node of a cluster"), "{text}");
    assert!(text.contains("must begin with redis-cluster://"), "{text}");
}

#[tokio::test]
async fn url_of_a_cluster_names_another_server() {
    let server = RedisServer::start();
    let text = refusal(&format!("redis-cluster://{}", address(&server))).await;
    assert!(
        text.contains("is no node of a cluster; the URL must begin with redis://"),
        "{text}"
    );
    let sentinel = RedisServer::builder().sentinel().start();
    let text = refusal(&format!("redis-cluster://{}", address(&sentinel))).await;
    assert!(text.contains("is a Sentinel"), "{text}");
    assert!(text.contains("must begin with redis-sentinel://"), "{text}");
}

#[tokio::test]
async fn url_of_a_server_names_a_sentinel() {
    let sentinel = RedisServer::builder().sentinel().start();
    let text = refusal(&format!("redis://{}", address(&sentinel))).await;
    assert!(
        text.contains("is a Sentinel, which keeps no locks"),
        "{text}"
    );
    assert!(text.contains("must begin with redis-sentinel://"), "{text}");
}

#[tokio::test]
async fn url_of_sentinels_names_another_server() {
    let server = RedisServer::start();
    let text = refusal(&format!("redis-sentinel://{}#name", address(&server))).await;
    assert!(
        text.contains("is no Sentinel; the URL must begin with redis://"),
        "{text}"
    );
    let cluster = RedisCluster::with(1, 0);
    let url = format!("redis-sentinel://{}#name", address(&cluster.nodes[0]));
    let text = refusal(&url).await;
    assert!(
        text.contains("is no Sentinel but a node of a cluster"),
        "{text}"
    );
    assert!(text.contains("must begin with redis-cluster://"), "{text}");
}

#[tokio::test]
async fn url_of_sentinels_names_another_primary() {
    let server = RedisServer::start();
    let sentinel = sentinel_of(&server, 1);
    let text = refusal(&format!("redis-sentinel://{}#name", address(&sentinel))).await;
    assert!(text.contains("knows no primary `name`"), "{text}");
}

#[tokio::test]
async fn sentinels_watch_a_node_of_a_cluster() {
    let cluster = RedisCluster::with(1, 0);
    let sentinel = sentinel_of(&cluster.nodes[0], 1);
    let text = refusal(&harness::sentinel_url(&[&sentinel])).await;
    assert!(text.contains("is a node of a cluster"), "{text}");
}
