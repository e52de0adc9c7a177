//! Nodes that join or leave a cluster, or that do not know each other.

use super::*;

rows! {
    E nodes_come_and_go on RedisCluster::start, few;
    E one_seed_left on RedisCluster::start;
    E message_late on RedisCluster::behind_proxies;
    E bus_cut on RedisCluster::behind_proxies;
}

/// So long that no renewal is due in a round.
const TTL: Duration = Duration::from_secs(120);

/// A node joins the cluster, has the slot of the lock for a while, and is removed.
fn nodes_come_and_go(round: &mut Round<'_, RedisCluster>) {
    const TIME: Duration = Duration::from_secs(5);
    let mut workers = [round.worker(), round.worker(), round.worker()];
    for worker in &mut workers {
        round.start_hammer(worker, LONG, TIME);
    }
    let (cluster, lock) = (&mut round.server, &round.lock.k);
    let (slot, source) = (cluster.slot(lock), cluster.owner(lock));
    let new = cluster.add_node();
    cluster.move_slot(slot, source, new, || ());
    cluster.wait_until_whole();
    cluster.move_slot(slot, new, source, || ());
    cluster.wait_until_whole();
    cluster.remove_node();
    for worker in &workers {
        round.end_hammer(worker);
    }
}

/// Of the nodes in the URL, only a replica is left.
fn one_seed_left(round: &mut Round<'_, RedisCluster>) {
    let cluster = &round.server;
    let replica = cluster.replica_of(cluster.owner(&round.lock.k));
    let seed = cluster.nodes[replica].port();
    // Nothing listens on the others.
    let url = format!("redis-cluster://127.0.0.1:1,127.0.0.1:2,127.0.0.1:{seed}");
    let [holder, waiter] = [round.worker_at(&url), round.worker_at(&url)];
    let mut holder = round.hold(holder, LONG);
    let mut waiter = round.queued(waiter, LONG, PATIENCE);
    round.pass(&mut holder, &mut waiter, SOON);
}

/// A client is subscribed on each node, and gets the duplicate of a message from one of them after
/// it has released the lock: it sends nothing, without an effect on the next holder.
fn message_late(round: &mut Round<'_, RedisCluster>) {
    let owner = round.server.owner(&round.lock.k);
    let late = round.server.other_primary(owner);
    let elsewhere = (0..).map(|number| format!("elsewhere:{number}"));
    let mut elsewhere = elsewhere.filter(|key| round.server.owner(&format!("lock:{key}")) == late);
    let elsewhere = elsewhere.next().expect("each primary has keys");
    // Its answer comes after everything that the node has sent before.
    let cycle = format!("cycle {elsewhere} 8000 20000 1");
    let (mut waiter, next) = (round.worker(), round.worker());
    assert_eq!(waiter.ask(&cycle, PATIENCE), "ok");
    let mut holder = round.holder(LONG);
    let mut waiter = round.queued(waiter, LONG, PATIENCE);
    round.server.hold_replies(late);
    round.pass(&mut holder, &mut waiter, SOON);
    let mut next = round.hold(next, TTL);
    let mut monitor = round.server.nodes[owner].monitor();
    round.server.heal();
    assert_eq!(waiter.ask(&cycle, PATIENCE), "ok");
    let sent = monitor.take();
    let scripts = sent
        .iter()
        .filter(|command| command.name.starts_with("EVAL"));
    assert_eq!(scripts.count(), 0, "{sent:?}");
    round.finish(&mut next);
}

/// The slot of a lock has moved, and the message about the release is lost with the bus: the
/// waiter, which may still be subscribed at the old node, notices by a poll.
fn bus_cut(round: &mut Round<'_, RedisCluster>) {
    let direct = round.server.direct_url();
    let [holder, waiter] = [round.worker_at(&direct), round.worker_at(&direct)];
    let mut holder = round.hold(holder, LONG);
    let mut waiter = round.queued(waiter, LONG, PATIENCE);
    let (cluster, lock) = (&round.server, &round.lock.k);
    let source = cluster.owner(lock);
    let target = cluster.other_primary(source);
    cluster.cut_bus();
    cluster.move_slot(cluster.slot(lock), source, target, || ());
    round.pass(&mut holder, &mut waiter, SOON);
    round.server.heal();
}
