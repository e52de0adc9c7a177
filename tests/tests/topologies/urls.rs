//! URLs of each topology: a sentence refuses a URL of another topology and gives its correct beginning. Also
//! credentials that are set in addition to a URL.

use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use harness::{
    RedisCluster, RedisQuorum, RedisServer, ask, failed, patient, sentinel_of, sentinel_url,
};
use lock_runtime::{Credentials, LockErrorKind};

use crate::wrong_passwords;

#[tokio::test]
async fn url_for_another_kind_of_server_is_refused_with_the_right_scheme() {
    let (server, cluster) = (RedisServer::start(), RedisCluster::with(1, 0));
    let node = &cluster.nodes[0];
    // The second sentinel watches a node of a cluster.
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
        let error = failed(
            patient(url.as_str()).connect().await,
            LockErrorKind::Rejected,
        );
        let text = error.to_string();
        assert!(text.contains(what), "{url}: {text}");
        let begin = format!("must begin with {must}");
        assert!(must.is_empty() || text.contains(&begin), "{url}: {text}");
    }
}

/// The callback is not called for the sentinel.
#[tokio::test]
async fn credentials_are_asked_for_at_each_server_that_keeps_locks() {
    let (cluster, quorum) = (RedisCluster::with(3, 0), RedisQuorum::start());
    let primary = RedisServer::start();
    let sentinel = sentinel_of(&primary, 1);
    for (url, servers) in [
        (cluster.url(), &cluster.nodes[..]),
        (quorum.url(), &quorum.nodes),
        (sentinel_url(&[&sentinel]), from_ref(&primary)),
    ] {
        let user = [
            "ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all",
        ];
        for server in servers {
            ask::<()>(&mut server.connection(), &user);
        }
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let given = move || {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, std::io::Error>(Credentials::new("app", "s3cret")) }
        };
        let client = patient(url.as_str()).credentials(given);
        let client = client.connect().await.unwrap();
        for number in 0..20 {
            let guard = client.lock(format!("order:{number}")).acquire().await;
            guard.unwrap().release().await.unwrap();
        }
        let asked = asked.load(Ordering::SeqCst);
        let each = servers.len()..=2 * servers.len();
        assert!(each.contains(&asked), "{url}: {asked}");
        for server in servers {
            let clients: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
            assert!(clients.contains("user=app"), "{url}: {clients}");
        }
    }
    assert_eq!(wrong_passwords(&sentinel), 0, "it was not asked as `app`");
}
