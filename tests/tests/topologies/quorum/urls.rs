//! URLs of quorums, and what their clients refuse.

use harness::{
    Authority, KEY, LOCK, LONG, RedisCluster, RedisQuorum, RedisServer, TlsServer, ask, client,
    cycle, eventually, exists, failed, hold, host_of, ms, patient, quorum_url,
};
use lock_runtime::{LockErrorKind, LockRecord};
use std::time::Duration;

use super::{comes_to, is_on_all_nodes};

#[test]
fn client_of_a_quorum_refuses_unsupported_options() {
    let builder = || patient("redlock://a,b,c");
    let client = builder().build().expect("the URL names a quorum");
    let lock = || client.lock(KEY);
    let long = Duration::from_secs(90);
    let errors = [
        builder().record(LockRecord::Redisson).build().map(drop),
        builder().require_tls(true).build().map(drop),
        builder().wait_replicas(1).build().map(drop),
        builder().ttl(Duration::from_secs(61)).build().map(drop),
        lock().ttl(long).try_acquire_blocking().map(drop),
        lock().read().try_acquire_blocking().map(drop),
        lock().permits(3).try_acquire_blocking().map(drop),
        lock().min_hold(ms(5)).try_acquire_blocking().map(drop),
        client.lock_all(["a", "b"]).try_acquire_blocking().map(drop),
    ];
    let words = [
        "Redisson's record",
        "redlocks://",
        "wait_replicas",
        "restart_delay, 60s",
        "restart_delay",
        "readers",
        "permits",
        "minimum hold",
        "several keys",
    ];
    for (outcome, words) in errors.into_iter().zip(words) {
        let error = failed(outcome, LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn lock_is_in_the_database_and_under_the_prefix_of_its_client() {
    let quorum = RedisQuorum::unmarked(3);
    let url = quorum.url_with("/2?restart_delay=0s");
    let client = patient(url).prefix("shop:").build().unwrap();
    let guard = hold(&client).await;
    let connections = || {
        quorum.nodes.iter().map(|node| {
            let mut connection = node.connection();
            ask::<()>(&mut connection, &["SELECT", "2"]);
            connection
        })
    };
    comes_to(&guard, "shop:order:42", connections()).await;
    for mut node in connections() {
        eventually("marker", LONG, async || exists(&mut node, "{shop:}:n")).await;
    }
    guard.release().await.unwrap();
}

#[tokio::test]
async fn node_may_have_a_login_of_its_own() {
    let quorum = RedisQuorum::start();
    for (number, node) in quorum.nodes.iter().enumerate() {
        let password = if number == 1 { ">own" } else { ">common" };
        let user = [
            "ACL", "SETUSER", "service", "on", password, "~*", "&*", "+@all",
        ];
        ask::<()>(&mut node.connection(), &user);
    }
    let hosts: Vec<String> = quorum
        .nodes
        .iter()
        .map(|node| host_of(&node.url()))
        .collect();
    let url = format!(
        "redlock://service:common@{},service:own@{},service:common@{}",
        hosts[0], hosts[1], hosts[2]
    );
    let client = patient(url).connect().await.unwrap();
    let guard = hold(&client).await;
    is_on_all_nodes(&guard, &quorum).await;
    guard.release().await.unwrap();
    let without = format!("redlock://service:common@{}", hosts.join(","));
    let client = patient(without).connect().await;
    let client = client.expect("two nodes let it in");
    cycle(&client).await;
}

#[tokio::test]
async fn client_connects_to_a_majority_and_not_to_less() {
    let mut quorum = RedisQuorum::start();
    quorum.nodes[1].kill9();
    let client = patient(quorum.url()).connect().await;
    cycle(&client.expect("two nodes are a majority")).await;
    quorum.nodes[2].kill9();
    let error = patient(quorum.url()).connect().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    let text = error.to_string();
    let away = host_of(&quorum.nodes[1].url());
    assert!(text.contains("1 of 3 nodes answered"), "{text}");
    assert!(text.contains(&away) && text.contains("refused"), "{text}");
}

async fn refused(hosts: &[String], kind: LockErrorKind, words: &str) {
    let connected = patient(quorum_url(hosts, "")).connect().await;
    let error = failed(connected, kind);
    assert!(error.to_string().contains(words), "{error}");
}

#[tokio::test]
async fn nodes_on_the_same_server_are_refused() {
    let rejected = LockErrorKind::Rejected;
    let [primary, other] = [(); 2].map(|()| RedisServer::start());
    let mut hosts = [&primary, &other, &primary].map(|server| host_of(&server.url()));
    hosts[2] = hosts[2].replace("127.0.0.1", "localhost");
    refused(&hosts, rejected, "is the same server as").await;

    let [first, second] = [(); 2].map(|()| primary.replica());
    let hosts = [&primary, &first, &second].map(|server| host_of(&server.url()));
    refused(&hosts, LockErrorKind::Unavailable, "is a replica").await;

    let cluster = RedisCluster::with(3, 0);
    let hosts = cluster.nodes.iter().map(|node| host_of(&node.url()));
    let hosts: Vec<String> = hosts.collect();
    refused(&hosts, rejected, "must be a server of its own").await;
}

#[tokio::test]
async fn nodes_are_reached_over_tls() {
    let authority = Authority::new();
    let nodes: Vec<TlsServer> = (0..3).map(|_| TlsServer::start(&authority)).collect();
    let hosts: Vec<String> = nodes
        .iter()
        .map(|node| node.url().replace("rediss://", ""))
        .collect();
    let url = format!("redlocks://{}?restart_delay=0s", hosts.join(","));
    let builder = patient(url).ca_certificate(authority.pem());
    let client = builder.require_tls(true).build().unwrap();
    let guard = hold(&client).await;
    comes_to(
        &guard,
        LOCK,
        nodes.iter().map(|node| node.plain().connection()),
    )
    .await;
    guard.release().await.unwrap();
}

#[tokio::test]
async fn right_to_info_is_needed_where_a_restart_may_lose_data() {
    let quorum = RedisQuorum::start();
    let url = quorum.url_of_service();
    for node in &quorum.nodes {
        ask::<()>(
            &mut node.connection(),
            &["ACL", "SETUSER", "service", "-info"],
        );
        ask::<()>(
            &mut node.connection(),
            &["DEL", &harness::marker_name("lock:")],
        );
    }
    let error = client(url.as_str())
        .lock(KEY)
        .try_acquire()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    let text = error.to_string();
    assert!(text.contains("3 of 3 nodes refuse it"), "{text}");
    assert!(text.contains("the permission +info"), "{text}");
    cycle(&client(format!("{url}?restart_delay=0s"))).await;
}
