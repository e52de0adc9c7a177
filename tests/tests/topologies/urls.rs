//! URLs that name something else than what is there: refused by a sentence that says how the URL must begin.

use harness::{RedisCluster, RedisServer, failed, sentinel_of};
use lock_runtime::{LockClient, LockErrorKind};

#[tokio::test]
async fn url_for_another_kind_of_server_is_refused_with_the_right_scheme() {
    let (server, cluster) = (RedisServer::start(), RedisCluster::with(1, 0));
    let node = &cluster.nodes[0];
    // The second one watches a node of a cluster.
    let [sentinel, wrong] = [sentinel_of(&server, 1), sentinel_of(node, 1)];
    for (scheme, named, what, must) in [
        ("redis", node, "is a node of a cluster", "redis-cluster://"),
        (
            "redis-cluster",
            &server,
            "is no node of a cluster",
            "redis://",
        ),
        (
            "redis-cluster",
            &sentinel,
            "is a Sentinel",
            "redis-sentinel://",
        ),
        (
            "redis",
            &sentinel,
            "is a Sentinel, which keeps no locks",
            "redis-sentinel://",
        ),
        ("redis-sentinel", &server, "is no Sentinel", "redis://"),
        (
            "redis-sentinel",
            node,
            "is no Sentinel but a node of a cluster",
            "redis-cluster://",
        ),
        ("redis-sentinel", &sentinel, "knows no primary `name`", ""),
        ("redis-sentinel/", &wrong, "is a node of a cluster", ""),
    ] {
        let url = match scheme {
            "redis-sentinel" => format!("{scheme}://{}#name", named.address()),
            "redis-sentinel/" => harness::sentinel_url(&[named]),
            _ => format!("{scheme}://{}", named.address()),
        };
        let error = failed(LockClient::connect(&url).await, LockErrorKind::Rejected);
        let text = error.to_string();
        assert!(text.contains(what), "{url}: {text}");
        let begin = format!("must begin with {must}");
        assert!(must.is_empty() || text.contains(&begin), "{url}: {text}");
    }
}
