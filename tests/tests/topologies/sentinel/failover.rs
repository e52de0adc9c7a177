//! Failovers while locks are held.

use std::time::Instant;

use harness::{
    KEY, LONG, RedisSentinels, RedisServer, SLACK, ask, client, eventually, hold, ran_since,
    sentinel_of, sentinel_url, served,
};

/// The ids of the lock clients that are connected to a server. Sentinels subscribe there as well, but their connections
/// have names.
fn clients_of(server: &RedisServer) -> Vec<String> {
    let clients: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    let is_ours = |line: &&str| !line.contains(" name=sentinel-") && !line.contains(" sub=0 ");
    let id = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    clients.lines().filter(is_ours).map(id).collect()
}

/// Waits until all clients have left the old primary, which claims to be one for ten more seconds. Their writes there
/// until then would be lost.
async fn noticed(all: &RedisSentinels, promoted: usize, clients: usize) {
    let named = Instant::now();
    eventually("connections", LONG, async || {
        clients_of(&all.servers[promoted]).len() == clients
    })
    .await;
    assert!(ran_since(named) < SLACK, "after {:?}", named.elapsed());
    assert!(clients_of(&all.servers[0]).is_empty());
}

#[tokio::test]
async fn failover_is_noticed_through_the_next_sentinel_when_the_watched_sentinel_is_gone() {
    let mut all = RedisSentinels::start();
    let client = client(all.url());
    let guard = client.lock(KEY).ttl(LONG * 6).acquire().await.unwrap();
    all.wait_for_replication();
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

/// The sentinel that is watched next missed the failover. The connection stays, since another sentinel contradicts it.
#[tokio::test]
async fn stale_sentinel_does_not_end_a_connection() {
    let mut all = RedisSentinels::start();
    let (old, promoted) = (RedisServer::start(), all.fail_over(0));
    // Sentinels tell each other about a failover every two seconds.
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

/// Its sockets stay open and nothing answers.
#[tokio::test]
async fn stopped_primary_is_left_for_its_successor() {
    let all = RedisSentinels::start();
    let client = client(all.url());
    hold(&client).await.release().await.unwrap();
    all.servers[0].pause();
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG * 6).acquire());
    all.wait_for_failover(0);
    let named = Instant::now();
    let guard = served(waiting).await;
    assert!(ran_since(named) < SLACK, "after {:?}", named.elapsed());
    guard.release().await.unwrap();
    all.servers[0].resume();
}
