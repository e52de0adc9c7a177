//! Servers that are not a single primary, or cannot keep locks for another reason: a sentence explains the refusal at
//! once.

use std::time::Instant;

use harness::{Proxy, RedisServer, eventually, failed, figure, patient, ran_since};
use redis::Connection;

use super::warnings::{record, warnings};
use super::*;

/// Turns `server` into a replica of another server, which is returned.
async fn demote(server: &RedisServer) -> RedisServer {
    let primary = RedisServer::start();
    primary.allow(&["+psync", "+replconf"]);
    let mut admin = server.connection();
    let port = primary.port().to_string();
    let _: () = ask(&mut admin, &["REPLICAOF", "127.0.0.1", &port]);
    eventually("replication", LONG, async || {
        let info: String = ask(&mut admin, &["INFO", "replication"]);
        info.contains("master_link_status:up")
    })
    .await;
    primary
}

fn connections(admin: &mut Connection) -> u64 {
    figure(admin, "total_connections_received")
}

/// Makes several callers wait for two seconds, each for its own lock. Returns how many connections that took.
async fn asked_in_vain(client: &LockClient, server: &RedisServer) -> u64 {
    let mut admin = server.connection();
    let before = connections(&mut admin);
    let callers: Vec<_> = (0..4)
        .map(|n| tokio::spawn(client.lock(format!("order:{n}")).wait(ms(2_000)).acquire()))
        .collect();
    for caller in callers {
        failed(caller.await.unwrap(), LockErrorKind::Unavailable);
    }
    connections(&mut admin) - before
}

/// There used to be hundreds of connections, and as many warnings.
const FEW: std::ops::RangeInclusive<u64> = 3..=20;

#[tokio::test]
async fn a_replica_is_reported_and_tried_less_and_less_often() {
    record();
    let server = RedisServer::builder().rights(&["+role"]).start();
    let primary = demote(&server).await;
    let error = patient(server.url()).connect().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    let sentence = format!(
        "{} is a replica; the URL must name its primary",
        server.address()
    );
    assert!(error.to_string().contains(&sentence), "{error}");
    let named = format!(". It follows {}", primary.address());
    assert!(error.to_string().ends_with(&named), "{error}");

    let client = client(server.url());
    let connections = asked_in_vain(&client, &server).await;
    assert!(FEW.contains(&connections), "{connections} connections");
    let told = warnings("connection_failed", &server.address());
    assert!((2..=6).contains(&told.len()), "{told:#?}");
    let counts = |count: &str| {
        told.iter()
            .any(|line| line.ends_with(&format!("failures={count}")))
    };
    assert!(
        counts("1") && counts("2") && counts("4") && !counts("3"),
        "{told:#?}"
    );

    // A failover ends while a caller waits.
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    let _: () = ask(&mut server.connection(), &["REPLICAOF", "NO", "ONE"]);
    served(waiting).await.release().await.unwrap();
}

/// A route to a replica that claims to be a primary, as through a proxy that answers HELLO itself.
fn proxy_of_replica(server: &RedisServer) -> Proxy {
    let proxy = Proxy::start(server.port());
    proxy.replace_in_replies("$7\r\nreplica", "$6\r\nmaster");
    proxy
}

#[tokio::test]
async fn a_server_that_accepts_and_refuses_writes_is_tried_less_and_less_often() {
    let server = RedisServer::start();
    let _primary = demote(&server).await;
    let proxy = proxy_of_replica(&server);
    let client = client(proxy.url());
    let connections = asked_in_vain(&client, &server).await;
    assert!(FEW.contains(&connections), "{connections} connections");
    let error = client.lock(KEY).wait(ms(0)).acquire().await.unwrap_err();
    assert!(error.to_string().contains("READONLY"), "{error}");
}

/// A caller that cannot wait for the next connection learns why the last ones ended.
#[tokio::test]
async fn the_error_explains_why_connections_end_during_the_pause() {
    let server = RedisServer::start();
    let _primary = demote(&server).await;
    let proxy = proxy_of_replica(&server);
    // Soon shorter than the pause between two connections.
    let builder = patient(proxy.url());
    let client = builder.command_timeout(ms(300)).build().unwrap();
    eventually("a refusal without an attempt", LONG, async || {
        let error = client.lock(KEY).wait(ms(0)).acquire().await.unwrap_err();
        let error = error.to_string();
        // On a slow machine, this takes longer than an attempt.
        if error.contains("did not let us connect") {
            return false;
        }
        assert!(error.contains("READONLY"), "{error}");
        error.contains("each connection breaks at once: ")
    })
    .await;
}

/// Asserts that an acquire with a long wait, and `connect`, are refused at once by this sentence.
async fn refused(url: &str, port: u16, sentence: &str) {
    let proxy = Proxy::start(port);
    let url = format!("{url}@{}", proxy.url().trim_start_matches("redis://"));
    let url = url.replace("://@", "://");
    let began = Instant::now();
    for error in [
        patient(url.as_str()).connect().await.unwrap_err(),
        refusal(&client(url.as_str())).await,
    ] {
        assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
        assert!(error.to_string().contains(sentence), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
    assert!(ran_since(began) < SLACK * 2, "{:?}", began.elapsed());
    assert!(proxy.accepted() <= 4, "{} connections", proxy.accepted());
}

#[tokio::test]
async fn a_node_of_a_cluster_is_refused_even_with_all_slots() {
    let node = RedisServer::builder()
        .config("cluster-enabled", "yes")
        .start();
    let sentence = "is a node of a cluster, which divides its keys among its nodes; the URL must \
                    begin with redis-cluster://";
    refused("redis://", node.port(), sentence).await;
    let all = ["CLUSTER", "ADDSLOTSRANGE", "0", "16383"];
    let _: () = ask(&mut node.connection(), &all);
    refused("redis://", node.port(), sentence).await;
}

#[tokio::test]
async fn a_server_that_does_not_know_hello_is_refused() {
    let server = RedisServer::builder().without("HELLO").start();
    let sentence = "the server does not speak RESP3; Redis 6.2 or Valkey is needed";
    refused("redis://", server.port(), sentence).await;
    refused("redis://app:s3cret", server.port(), sentence).await;
}
