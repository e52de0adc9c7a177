//! Nodes that are new. Those that lose their data are rows of the fault table.

use harness::{
    KEY, LONG, RedisQuorum, ask, client_without_turns, cycle, eventually, failed, marker_name, ms,
};
use lock_runtime::{LockClient, LockErrorKind};

use super::nothing_is_left_on;

#[tokio::test]
async fn new_nodes_have_no_vote_and_say_until_when() {
    let quorum = RedisQuorum::unmarked(3);
    let url = quorum.url_with("?restart_delay=20s");
    let client = LockClient::builder().url(url).ttl(ms(1_000));
    let client = client.build().unwrap();
    let words = "3 of 3 nodes are new or restarted less than 20s ago, and a majority votes in ";
    // It may be too early for the answers of some.
    eventually("answer of all nodes", LONG, async || {
        let error = client.lock(KEY).try_acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        error.to_string().contains(words)
    })
    .await;
    for node in &quorum.nodes {
        nothing_is_left_on(node).await;
    }
}

#[tokio::test]
async fn connecting_marks_new_nodes() {
    let quorum = RedisQuorum::unmarked(3);
    let connected = LockClient::connect(&quorum.url()).await;
    connected.expect("they answer");
    for node in &quorum.nodes {
        let mut connection = node.connection();
        let marker: String = ask(&mut connection, &["GET", &marker_name("lock:")]);
        let boot = harness::boot(&mut connection);
        assert!(marker.starts_with(&format!("{boot} 60000 ")), "{marker}");
    }
}

#[tokio::test]
async fn clients_with_different_delays_are_told() {
    let quorum = RedisQuorum::start();
    cycle(&client_without_turns(quorum.url())).await;
    let other = client_without_turns(quorum.url_with("?restart_delay=90s"));
    let error = failed(other.lock(KEY).try_acquire().await, LockErrorKind::Rejected);
    let text = error.to_string();
    let words = "60000 ms on this node and 90000 ms";
    assert!(text.contains(words), "{text}");
}
