//! Locks on a majority of independent servers.

mod callers;
mod minorities;
mod operators;
mod restarts;
mod rights;
mod split;
mod tokens;
mod urls;

use harness::{
    LOCK, LONG, Proxy, QUEUE, RedisQuorum, RedisServer, ask, eventually, exists, owner_on,
};
use lock_runtime::LockGuard;
use redis::Connection;

/// A proxy in front of each node.
fn proxies(quorum: &RedisQuorum) -> Vec<Proxy> {
    let nodes = quorum.nodes.iter();
    nodes.map(|node| Proxy::start(node.port())).collect()
}

/// Waits until the node has nothing but fences and its marker.
async fn nothing_is_left_on(node: &RedisServer) {
    let mut connection = node.connection();
    eventually("empty node", LONG, async || {
        let keys: Vec<String> = ask(&mut connection, &["KEYS", "*"]);
        keys.iter()
            .all(|key| key.ends_with(":f") || key.ends_with(":n"))
    })
    .await;
}

/// Waits until all nodes have the lock.
async fn is_on_all_nodes(guard: &LockGuard, quorum: &RedisQuorum) {
    let nodes = quorum.nodes.iter().map(RedisServer::connection);
    comes_to(guard, LOCK, nodes).await;
}

/// Waits until all these nodes have the lock of this name. A majority has it, and a renewal brings it to the others.
async fn comes_to(guard: &LockGuard, lock: &str, nodes: impl Iterator<Item = Connection>) {
    guard.renew().await.expect("it is held");
    for mut node in nodes {
        eventually("lock on each node", LONG, async || exists(&mut node, lock)).await;
    }
}

/// Waits until this many waiters queue on all nodes at once.
async fn so_many_wait(quorum: &RedisQuorum, waiters: i64) {
    let count = ["ZCOUNT", QUEUE, "0", "+inf"];
    let mut nodes: Vec<_> = quorum.nodes.iter().map(RedisServer::connection).collect();
    eventually("waiters", LONG, async || {
        let mut nodes = nodes.iter_mut();
        nodes.all(|node| ask::<i64>(node, &count) == waiters)
    })
    .await;
}
