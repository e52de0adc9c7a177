//! Events about connections that begin and end, by server, also while the client is idle.

use harness::{LOCK, RedisCluster, RedisQuorum, RedisSentinels, RedisServer, cycle};

use super::meter::sum;
use super::{LONG, LockClient, client, eventually, ms};
use crate::journal::{Line, told_of};

fn told(event: &str, server: &str) -> Vec<Line> {
    told_of(event, "server", server)
}

fn counted(server: &str, outcome: &str) -> f64 {
    let labels = format!("{{server={server},outcome={outcome}}}");
    sum(&format!("distributed_lock_connections_total{labels}"))
}

fn open(server: &str) -> f64 {
    sum(&format!("distributed_lock_connected{{server={server}}}"))
}

/// Waits until a connection to `server` has been reported for the `times`th time.
async fn connected(server: &str, times: usize) -> Line {
    eventually("connection", LONG, async || {
        told("connected", server).len() == times
    })
    .await;
    told("connected", server).remove(times - 1)
}

/// Waits until the only connection to `server` has been reported as lost.
async fn lost(server: &str) -> Line {
    eventually("loss", LONG, async || {
        !told("connection_lost", server).is_empty()
    })
    .await;
    let [lost] = &told("connection_lost", server)[..] else {
        panic!("more than one connection to {server} was lost");
    };
    lost.clone()
}

/// A server is killed and started again while the client sends nothing.
async fn restarts_under_an_idle_client(locks: &LockClient, server: &mut RedisServer) {
    let name = server.address();
    cycle(locks).await;
    let first = connected(&name, 1).await;
    assert!(first.field("version").contains(' '), "{first:?}");
    assert_eq!(first.number("attempts"), 1);
    assert!(!first.has("away_ms"), "it was not away: {first:?}");
    assert_eq!(open(&name), 1.0);

    server.kill9();
    let lost = lost(&name).await;
    assert_eq!(lost.number("failures"), 1);
    assert!(lost.field("reason").contains("connection"), "{lost:?}");
    assert_eq!((open(&name), counted(&name, "lost")), (0.0, 1.0));

    server.restart();
    cycle(locks).await;
    let again = connected(&name, 2).await;
    assert!(again.time("away_ms") > ms(0), "{again:?}");
    assert_eq!((open(&name), counted(&name, "connected")), (1.0, 2.0));
}

#[tokio::test]
async fn restart_of_the_server_of_an_idle_client_is_reported() {
    crate::record();
    let mut server = RedisServer::start();
    let locks = client(server.url());
    restarts_under_an_idle_client(&locks, &mut server).await;

    let name = server.address();
    drop(locks);
    eventually("end of the client", LONG, async || open(&name) == 0.0).await;
    assert_eq!(
        counted(&name, "lost"),
        1.0,
        "a client that ends loses nothing"
    );
}

/// Attempts to connect within two seconds: one at first, then four with growing pauses, then at most one per quarter of
/// a second. There used to be 70.
const FEW: usize = 14;

#[tokio::test]
async fn server_that_is_down_is_tried_ever_less_often_and_each_attempt_is_counted() {
    crate::record();
    let mut server = RedisServer::start();
    let (locks, name) = (client(server.url()), server.address());
    cycle(&locks).await;
    server.kill9();
    lost(&name).await;
    let words = format!("cannot connect to {name}: ");
    let callers = (0..4).map(|n| locks.lock(format!("order:{n}")).wait(ms(2_000)).acquire());
    for caller in callers.map(tokio::spawn).collect::<Vec<_>>() {
        let error = caller.await.unwrap().unwrap_err();
        assert!(error.to_string().contains(&words), "{error}");
    }
    let failed = told("connection_failed", &name);
    assert!((3..=FEW).contains(&failed.len()), "{failed:?}");
    assert!(failed[0].field("fault").starts_with(&words), "{failed:?}");
    let failures: Vec<i64> = failed.iter().map(|line| line.number("failures")).collect();
    assert!(
        failures.iter().zip(1..).all(|(told, count)| *told == count),
        "{failures:?}"
    );

    // It is found soon after it is back.
    server.restart();
    cycle(&locks).await;
    let again = connected(&name, 2).await;
    let failed = told("connection_failed", &name).len();
    assert_eq!(again.number("attempts"), i64::try_from(failed).unwrap() + 1);
    assert_eq!(counted(&name, "failed"), failed as f64);
}

/// Neither callers nor pings wait for the node or make a connection each.
#[tokio::test]
async fn node_of_a_quorum_that_is_down_is_tried_less_and_less_often() {
    crate::record();
    const PINGS: usize = 40;
    let mut quorum = RedisQuorum::start();
    let locks = client(quorum.url());
    cycle(&locks).await;
    let name = quorum.nodes[1].address();
    quorum.nodes[1].kill9();
    lost(&name).await;
    for _ in 0..PINGS {
        locks.ping().await.unwrap();
    }
    let attempts = told("connection_failed", &name).len();
    assert!(attempts <= PINGS / 2, "{attempts} attempts");
    let began = std::time::Instant::now();
    while began.elapsed() < ms(2_000) {
        cycle(&locks).await;
    }
    let more = told("connection_failed", &name).len() - attempts;
    assert!(more <= FEW, "{more} attempts");
    quorum.nodes[1].restart();
    // Callers notice it: an idle client sends the nodes nothing.
    eventually("connection", LONG, async || {
        cycle(&locks).await;
        told("connected", &name).len() >= 2
    })
    .await;
}

#[tokio::test]
async fn primary_after_a_failover_is_named() {
    crate::record();
    let sentinels = RedisSentinels::start();
    let locks = client(sentinels.url());
    cycle(&locks).await;
    let before = sentinels.servers[sentinels.named_by(0)].address();
    connected(&before, 1).await;
    let after = sentinels.fail_over(0);
    let reason = lost(&before).await.field("reason").to_owned();
    assert!(!reason.is_empty());
    cycle(&locks).await;
    let after = sentinels.servers[after].address();
    assert!(connected(&after, 1).await.has("away_ms"));
    assert_eq!((open(&before), open(&after)), (0.0, 1.0));
}

#[tokio::test]
async fn restart_of_a_cluster_node_of_an_idle_client_is_reported() {
    crate::record();
    let mut cluster = RedisCluster::with_quick_failover();
    let locks = client(cluster.url());
    let owner = cluster.owner(LOCK);
    cycle(&locks).await;
    let name = cluster.nodes[owner].address();
    connected(&name, 1).await;
    cluster.nodes[owner].kill9();
    lost(&name).await;
    assert_eq!(open(&name), 0.0);

    // Its replica takes over all of its slots.
    let replica = cluster.replica_of(owner);
    cluster.wait_until_promoted(replica);
    cycle(&locks).await;
    let replica = cluster.nodes[replica].address();
    eventually("slots", LONG, async || {
        !told("slots_moved", &replica).is_empty()
    })
    .await;
    let [moved] = &told("slots_moved", &replica)[..] else {
        panic!("they are reported once");
    };
    assert_eq!(moved.field("from"), name);
    assert!(moved.number("slots") > 5_000, "{moved:?}");
}

#[tokio::test]
async fn restart_of_a_quorum_node_of_an_idle_client_is_reported() {
    crate::record();
    let mut quorum = RedisQuorum::start();
    let locks = client(quorum.url());
    restarts_under_an_idle_client(&locks, &mut quorum.nodes[1]).await;
}
