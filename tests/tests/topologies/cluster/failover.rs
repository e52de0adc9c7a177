//! Replicas that take over.

use std::time::Instant;

use harness::{
    KEY, LOCK, LONG, NODE_TIMEOUT, QUEUE, RedisCluster, SLACK, client, eventually, exists, hold,
    ms, served, soon,
};

#[tokio::test]
async fn planned_failover_loses_nothing() {
    let cluster = RedisCluster::start();
    let clients = [(); 2].map(|()| client(cluster.url()));
    let guard = hold(&clients[0]).await;
    let waiting = tokio::spawn(clients[1].lock(KEY).wait(LONG).acquire());
    let primary = cluster.first_owner(LOCK);
    let mut admin = cluster.nodes[primary].connection();
    eventually("waiter", LONG, async || exists(&mut admin, QUEUE)).await;
    cluster.fail_over(primary, &[]);
    guard.renew().await.unwrap();
    let token = guard.fencing_token();
    guard.release().await.unwrap();
    let served = served(waiting).await;
    assert!(served.fencing_token() > token);
    served.release().await.unwrap();
}

#[tokio::test]
async fn lock_outlives_its_primary() {
    let mut cluster = RedisCluster::start();
    let client = client(cluster.url());
    let guard = client.lock(KEY).ttl(LONG * 2).acquire().await.unwrap();
    let primary = cluster.first_owner(LOCK);
    wait_for_replication(&cluster, primary).await;
    cluster.nodes[primary].kill9();
    cluster.wait_until_promoted(cluster.replica_of(primary));
    let promoted = Instant::now();
    eventually("renewal", LONG, async || guard.renew().await.is_ok()).await;
    assert!(promoted.elapsed() < SLACK, "after {:?}", promoted.elapsed());
    guard.release().await.unwrap();
    hold(&client).await.release().await.unwrap();
}

/// Its sockets stay open and nothing is answered: the clients must ask another node.
#[tokio::test]
async fn primary_that_is_stopped_is_left_for_the_one_that_took_over() {
    let cluster = RedisCluster::start();
    let client = client(cluster.url());
    hold(&client).await.release().await.unwrap();
    let primary = cluster.first_owner(LOCK);
    cluster.nodes[primary].pause();
    let stopped = Instant::now();
    let acquiring = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    let guard = served(acquiring).await;
    assert!(
        stopped.elapsed() < NODE_TIMEOUT * 3 + SLACK,
        "{:?}",
        stopped.elapsed()
    );
    guard.release().await.unwrap();
    cluster.nodes[primary].resume();
}

/// The replica that took over never had the lock: its holder learns that at once, and not at the next regular renewal.
#[tokio::test]
async fn holder_learns_at_once_that_the_new_primary_lacks_its_lock() {
    let mut cluster = RedisCluster::start();
    let client = client(cluster.url());
    hold(&client).await.release().await.unwrap();
    let primary = cluster.first_owner(LOCK);
    let replica = cluster.replica_of(primary);
    wait_for_replication(&cluster, primary).await;
    cluster.nodes[replica].pause();
    // Or the replica would read on from its socket.
    let _: i64 = cluster.ask(primary, &["CLIENT", "KILL", "TYPE", "replica"]);
    let ttl = LONG * 3;
    let guard = client.lock(KEY).ttl(ttl).acquire().await.unwrap();
    let token = guard.fencing_token();
    cluster.nodes[primary].kill9();
    cluster.nodes[replica].resume();
    cluster.wait_until_promoted(replica);
    let promoted = Instant::now();
    soon(guard.lost()).await;
    assert!(promoted.elapsed() < SLACK, "after {:?}", promoted.elapsed());
    let next = hold(&client).await;
    assert!(next.fencing_token() > token);
    next.release().await.unwrap();
}

/// Waits until the replica of a primary has all that was written.
async fn wait_for_replication(cluster: &RedisCluster, primary: usize) {
    let acknowledged: i64 = cluster.ask(primary, &["WAIT", "1", "5000"]);
    assert_eq!(acknowledged, 1);
    tokio::time::sleep(ms(20)).await;
}
