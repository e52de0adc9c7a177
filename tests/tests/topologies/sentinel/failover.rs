//! Failovers while locks are held.

use std::time::Instant;

use harness::{
    KEY, LOCK, LONG, QUEUE, RedisSentinels, RedisServer, SLACK, ask, client, eventually, exists,
    hold, sentinel_of, sentinel_url, served, soon,
};

/// The ids of the lock clients that are connected to a server. Sentinels, which subscribe there as well, have names.
fn clients_of(server: &RedisServer) -> Vec<String> {
    let clients: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    let is_ours = |line: &&str| line.contains(" name= ") && !line.contains(" sub=0 ");
    let id = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    clients.lines().filter(is_ours).map(id).collect()
}

/// Waits until all clients have left the old primary, which says for ten seconds more that it is one. What they did
/// there until then would be lost.
async fn noticed(all: &RedisSentinels, promoted: usize, clients: usize) {
    let named = Instant::now();
    eventually("connections", LONG, async || {
        clients_of(&all.servers[promoted]).len() == clients
    })
    .await;
    assert!(named.elapsed() < SLACK, "after {:?}", named.elapsed());
    assert!(clients_of(&all.servers[0]).is_empty());
}

/// Waits until all replicas have all that was written: they are sent it in order.
async fn wait_for_replication(all: &RedisSentinels) {
    let _: () = ask(&mut all.servers[0].connection(), &["SET", "last", "1"]);
    for replica in &all.servers[1..] {
        let mut admin = replica.connection();
        eventually("replication", LONG, async || exists(&mut admin, "last")).await;
    }
}

#[tokio::test]
async fn ordered_failover_is_noticed_by_holder_and_waiter() {
    let all = RedisSentinels::start();
    let clients = [(); 2].map(|()| client(all.url()));
    let guard = clients[0].lock(KEY).ttl(LONG * 6).acquire().await.unwrap();
    let waiting = tokio::spawn(clients[1].lock(KEY).wait(LONG * 6).acquire());
    let mut admin = all.servers[0].connection();
    eventually("waiter", LONG, async || exists(&mut admin, QUEUE)).await;
    wait_for_replication(&all).await;
    let promoted = all.fail_over(0);
    noticed(&all, promoted, 2).await;
    guard.renew().await.unwrap();
    let token = guard.fencing_token();
    guard.release().await.unwrap();
    let next = served(waiting).await;
    assert!(next.fencing_token() > token);
    assert!(exists(&mut all.servers[promoted].connection(), LOCK));
    next.release().await.unwrap();
}

#[tokio::test]
async fn failover_is_noticed_by_the_next_sentinel_when_the_watched_one_is_gone() {
    let mut all = RedisSentinels::start();
    let client = client(all.url());
    let guard = client.lock(KEY).ttl(LONG * 6).acquire().await.unwrap();
    wait_for_replication(&all).await;
    eventually("watch", LONG, async || {
        (0..3).any(|number| all.watching(number) == 1)
    })
    .await;
    let watched = (0..3).find(|&number| all.watching(number) == 1).unwrap();
    all.sentinels[watched].kill9();
    let rest = [(watched + 1) % 3, (watched + 2) % 3];
    eventually("watch of another sentinel", LONG, async || {
        rest.iter().any(|&number| all.watching(number) == 1)
    })
    .await;
    let promoted = all.fail_over(rest[0]);
    noticed(&all, promoted, 1).await;
    guard.release().await.unwrap();
}

/// The sentinel that is watched next missed the failover. The connection stays, since another one contradicts it.
#[tokio::test]
async fn stale_sentinel_does_not_end_a_connection() {
    let mut all = RedisSentinels::start();
    let (old, promoted) = (RedisServer::start(), all.fail_over(0));
    // Sentinels tell each other of a failover once in two seconds.
    assert_eq!(all.wait_for_failover(1), promoted);
    let stale = [(); 2].map(|()| sentinel_of(&old, 2));
    let [one, other, _] = &all.sentinels[..] else {
        panic!("there are three")
    };
    let client = client(sentinel_url(&[one, &stale[0], other, &stale[1]]));
    let guard = client.lock(KEY).ttl(LONG * 6).acquire().await.unwrap();
    eventually("watch", LONG, async || {
        (0..2).any(|number| all.watching(number) == 1)
    })
    .await;
    let connection = clients_of(&all.servers[promoted]);
    let watched = (0..2).find(|&number| all.watching(number) == 1).unwrap();
    all.sentinels[watched].kill9();
    eventually("watch of the other sentinel", LONG, async || {
        all.watching(1 - watched) == 1
    })
    .await;
    assert_eq!(clients_of(&all.servers[promoted]), connection);
    guard.release().await.unwrap();
}

#[tokio::test]
async fn lock_outlives_its_primary() {
    let mut all = RedisSentinels::start();
    let client = client(all.url());
    let guard = client.lock(KEY).ttl(LONG * 6).acquire().await.unwrap();
    wait_for_replication(&all).await;
    all.servers[0].kill9();
    all.wait_for_failover(0);
    let named = Instant::now();
    eventually("renewal", LONG, async || guard.renew().await.is_ok()).await;
    assert!(named.elapsed() < SLACK, "after {:?}", named.elapsed());
    guard.release().await.unwrap();
    hold(&client).await.release().await.unwrap();
}

/// Its sockets stay open and nothing is answered.
#[tokio::test]
async fn primary_that_is_stopped_is_left_for_the_one_that_took_over() {
    let all = RedisSentinels::start();
    let client = client(all.url());
    hold(&client).await.release().await.unwrap();
    all.servers[0].pause();
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG * 6).acquire());
    all.wait_for_failover(0);
    let named = Instant::now();
    let guard = served(waiting).await;
    assert!(named.elapsed() < SLACK, "after {:?}", named.elapsed());
    guard.release().await.unwrap();
    all.servers[0].resume();
}

/// Neither replica has the lock: its holder learns that at once, and not at the next regular renewal.
#[tokio::test]
async fn holder_learns_at_once_that_the_new_primary_lacks_its_lock() {
    let mut all = RedisSentinels::start();
    let client = client(all.url());
    hold(&client).await.release().await.unwrap();
    wait_for_replication(&all).await;
    all.servers[1..].iter().for_each(RedisServer::pause);
    // Or the replicas would read on from their sockets.
    let mut admin = all.servers[0].connection();
    let _: i64 = ask(&mut admin, &["CLIENT", "KILL", "TYPE", "replica"]);
    let guard = client.lock(KEY).ttl(LONG * 6).acquire().await.unwrap();
    let token = guard.fencing_token();
    all.servers[0].kill9();
    all.servers[1..].iter().for_each(RedisServer::resume);
    all.wait_for_failover(0);
    let named = Instant::now();
    soon(guard.lost()).await;
    assert!(named.elapsed() < SLACK, "after {:?}", named.elapsed());
    let next = hold(&client).await;
    assert!(next.fencing_token() > token);
    next.release().await.unwrap();
}
