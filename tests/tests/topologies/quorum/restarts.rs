//! Nodes that may have lost data have no vote for a while.

use harness::{
    Builder, KEY, LOCK, LONG, RedisQuorum, RedisServer, ask, client_without_turns, cycle,
    eventually, exists, ms,
};
use lock_runtime::{LockClient, LockErrorKind};

use super::{client_with_delay, is_on_all_nodes, nothing_is_left_on, proxies, url_behind};

/// In URLs: longer than what is done meanwhile takes.
const DELAY: &str = "?restart_delay=5s";

/// How a node loses what it has.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Restarted,
    Flushed,
    /// It has again what it had before the lock.
    Old,
}

fn lose(node: &mut RedisServer, loss: Loss) {
    match loss {
        Loss::Restarted => node.restart_empty(),
        Loss::Flushed => ask::<()>(&mut node.connection(), &["FLUSHALL"]),
        Loss::Old => node.restart(),
    }
}

/// Two of three nodes have the lock of a holder. One of them loses it: with the third one it would be a majority.
#[tokio::test]
async fn node_that_lost_a_lock_has_no_vote_while_its_lease_may_last() {
    for loss in [Loss::Restarted, Loss::Flushed, Loss::Old] {
        let mut quorum = RedisQuorum::built(3, Builder::durable);
        let other = client_with_delay(&quorum.url_with(DELAY));
        cycle(&other).await;
        // What comes from now on is not on its disk.
        quorum.nodes[1].config_set("appendonly", "no");
        let proxies = proxies(&quorum);
        proxies[2].refuse(true);
        let client = client_with_delay(&url_behind(&proxies, DELAY));
        // It is not renewed, so that no node gets its record back.
        let lock = client.lock(KEY).renew(false).wait(LONG);
        let guard = lock.acquire().await.expect("two are a majority");
        lose(&mut quorum.nodes[1], loss);
        let early = other.lock(KEY).wait(ms(500)).acquire().await;
        match early {
            Ok(_early) => assert!(!guard.is_valid(), "{loss:?}: two hold it"),
            Err(error) => {
                assert_ne!(error.kind(), LockErrorKind::Rejected, "{loss:?}: {error}");
            }
        }
        let next = other.lock(KEY).wait(LONG).acquire().await;
        let next = next.expect("the delay is over");
        assert!(!guard.is_valid(), "{loss:?}: two hold it");
        next.release().await.expect("it was held throughout");
    }
}

#[tokio::test]
async fn old_data_has_no_vote_either() {
    let mut quorum = RedisQuorum::built(3, Builder::durable);
    // As if they had run for long. A client cannot tell what the disk lacks.
    quorum.mark("lock:");
    cycle(&client_without_turns(quorum.url())).await;
    for node in &mut quorum.nodes {
        node.restart();
    }
    let client = client_without_turns(quorum.url());
    nodes_are_early(
        &client,
        "3 of 3 nodes are new or restarted less than 60s ago",
    )
    .await;
}

/// Waits until the client knows of all nodes that they have no vote yet. It may be too early for the answers of some.
async fn nodes_are_early(client: &LockClient, words: &str) {
    eventually("answer of all nodes", LONG, async || {
        let error = client.lock(KEY).try_acquire().await.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        error.to_string().contains(words)
    })
    .await;
}

#[tokio::test]
async fn new_nodes_vote_once_the_delay_is_over_and_say_when_that_is() {
    let quorum = RedisQuorum::unmarked(3);
    let url = quorum.url_with("?restart_delay=20s");
    let client = LockClient::builder()
        .url(url)
        .ttl(ms(1_000))
        .build()
        .unwrap();
    let words = "3 of 3 nodes are new or restarted less than 20s ago, and a majority votes in ";
    nodes_are_early(&client, words).await;
    for node in &quorum.nodes {
        nothing_is_left_on(node).await;
    }
}

#[tokio::test]
async fn connecting_marks_new_nodes() {
    let quorum = RedisQuorum::unmarked(3);
    LockClient::connect(&quorum.url())
        .await
        .expect("they answer");
    for node in &quorum.nodes {
        let marker: String = ask(
            &mut node.connection(),
            &["GET", &harness::marker_name("lock:")],
        );
        let boot = harness::boot(&mut node.connection());
        assert!(marker.starts_with(&format!("{boot} 60000 ")), "{marker}");
    }
}

#[tokio::test]
async fn restarted_node_has_the_record_of_a_holder_again_after_a_renewal() {
    let mut quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    let guard = client.lock(KEY).ttl(ms(1_500)).acquire().await.unwrap();
    is_on_all_nodes(&guard, &quorum).await;
    quorum.nodes[0].restart_empty();
    let mut node = quorum.nodes[0].connection();
    eventually("record of the holder", LONG, async || {
        exists(&mut node, LOCK)
    })
    .await;
    let values: Vec<String> = quorum
        .nodes
        .iter()
        .map(|node| ask(&mut node.connection(), &["GET", LOCK]))
        .collect();
    assert_eq!(values[0][..22], values[1][..22], "the holder is the same");
    // A node whose vote came late may have less.
    let token = guard.fencing_token().to_string();
    assert_eq!(values[0][23..39], token, "its token is the holder's");
    guard.release().await.expect("it was held throughout");
    for node in &quorum.nodes {
        nothing_is_left_on(node).await;
    }
}

#[tokio::test]
async fn lock_that_a_majority_lost_is_never_written_again() {
    let mut quorum = RedisQuorum::start();
    let client = client_without_turns(quorum.url());
    let guard = client.lock(KEY).ttl(ms(1_500)).acquire().await.unwrap();
    // Both are away at once, so that no renewal finds a majority in between.
    quorum.nodes[0].kill9();
    quorum.nodes[2].kill9();
    quorum.nodes[0].restart_empty();
    quorum.nodes[2].restart_empty();
    tokio::time::timeout(LONG, guard.lost())
        .await
        .expect("a renewal finds that out");
    for node in [0, 2] {
        assert!(!exists(&mut quorum.nodes[node].connection(), LOCK));
    }
    drop(guard);
    nothing_is_left_on(&quorum.nodes[1]).await;
}

#[tokio::test]
async fn clients_with_different_delays_are_told() {
    let quorum = RedisQuorum::start();
    cycle(&client_without_turns(quorum.url())).await;
    let other = client_without_turns(quorum.url_with("?restart_delay=90s"));
    let error = other.lock(KEY).try_acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("60000 ms on this node and 90000 ms"),
        "{text}"
    );
}
