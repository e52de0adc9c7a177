//! Nodes that lose their data. They do not vote until every lease that they may have lost is over.

use super::*;
use crate::scene::ask;

rows! {
    E quorum_node_wiped on RedisQuorum::start, of 2, walked;
    E quorum_minority_wiped on || RedisQuorum::with(5), of 2;
    E quorum_old_data on durable_and_patient;
    E quorum_replica_promoted on RedisQuorum::start;
    E quorum_replicas_promoted on forgetful, of 2;
    E quorum_all_wiped_one_by_one on durable, of 3;
    E quorum_all_wiped on durable, of 3;
    E quorum_restart_while_held on RedisQuorum::start, walked;
}

fn durable_and_patient() -> RedisQuorum {
    let nodes = (0..3).map(|_| RedisServer::builder().durable());
    RedisQuorum::of(nodes, RedisQuorum::DELAY)
}

/// A lease that lasts for the rest of a round, however busy the machine is.
pub(super) const LEASE: Duration = Duration::from_secs(2);

/// The restart delay of rounds that wait for its end.
const DELAY: Duration = LEASE;

/// The lock is held on two of three nodes, and one of them is emptied: in turn, by a restart and by
/// FLUSHALL. That node and the third one are no majority for another process.
fn quorum_node_wiped(round: &mut QuorumRound<'_>) {
    let wipe = LOSSES[round.variant];
    lost_on_all_but_one(round, |_, node| wipe(node));
}

/// The same with five nodes: the lock is held on three of them, and two of these are emptied.
fn quorum_minority_wiped(round: &mut QuorumRound<'_>) {
    quorum_node_wiped(round);
}

/// The same with a node that comes back with old data.
fn quorum_old_data(round: &mut QuorumRound<'_>) {
    write_no_more(round);
    lost_on_all_but_one(round, |_, node| node.restart());
}

/// The same with a lagging replica in the place of the node, which lacks the lock.
fn quorum_replica_promoted(round: &mut QuorumRound<'_>) {
    let [_, lost, _] = roles(round);
    let replica = promoted(&round.server.nodes[lost]);
    lost_on_all_but_one(round, |ways, node| {
        for way in ways {
            way.redirect(replica.port());
        }
        node.kill9();
    });
    round.server.nodes[lost].restart();
}

/// The same with two of three nodes, and in turn with all of them, that had the lock.
fn quorum_replicas_promoted(round: &mut QuorumRound<'_>) {
    let nodes: [usize; 3] = roles(round);
    let replaced = nodes[..2 + round.variant].iter().copied();
    let promoted = |node: usize| (node, promoted(&round.server.nodes[node]));
    let replicas: Vec<(usize, RedisServer)> = replaced.map(promoted).collect();
    let ways = round.proxies();
    let url = round.server.url_through(&ways);
    all_lost(round, &url, Next::Comes, |round, old| {
        // Otherwise it could renew in between, and restore its lock on the first replica while the
        // second node has it.
        old.stop();
        for (node, replica) in &replicas {
            ways[*node].redirect(replica.port());
            round.server.nodes[*node].kill9();
        }
        old.cont();
        None
    });
    for (node, _) in &replicas {
        round.server.nodes[*node].restart();
    }
}

/// A replica that has the marker of the node, and was promoted before there was a lock.
fn promoted(node: &RedisServer) -> RedisServer {
    let replica = node.replica();
    ask::<()>(&mut replica.connection(), &["REPLICAOF", "NO", "ONE"]);
    replica
}

/// Keeps the present data of the nodes on disk: later writes are not saved.
fn write_no_more(round: &QuorumRound<'_>) {
    for node in &round.server.nodes {
        node.config_set("appendonly", "no");
    }
}

/// Holds the lock on a majority of the nodes. All of these but one lose their data, one after the
/// other. Each of the two processes reaches them through one of the proxies.
fn lost_on_all_but_one(
    round: &mut QuorumRound<'_>,
    mut lose: impl FnMut([&Proxy; 2], &mut RedisServer),
) {
    let nodes = round.server.nodes.len();
    let mut order: Vec<usize> = (0..nodes)
        .map(|node| (round.number + node) % nodes)
        .collect();
    let without = order.split_off(nodes / 2 + 1);
    let lost = order.split_off(1);
    round.look_at(|quorum| &quorum.nodes[order[0]]);
    let ways = [(); 2].map(|()| round.proxies());
    let refuse = |is_refused: bool| {
        without
            .iter()
            .for_each(|&node| ways[0][node].refuse(is_refused))
    };
    refuse(true);
    let urls = ways.each_ref().map(|ways| round.server.url_through(ways));
    let [mut old, mut next] = urls.map(|url| round.worker_at(&url));
    next.ask("idle", PATIENCE);
    persist(round, &mut old, LEASE);
    for node in lost {
        let on_ways = ways.each_ref().map(|ways| &ways[node]);
        lose(on_ways, &mut round.server.nodes[node]);
    }
    let since = Instant::now();
    round.comes(&mut next, LONG, since, LEASE);
    ends_before(round, &old, &mut next);
    refuse(false);
}

/// One node after the other loses its data, until the holder learns of its loss: in turn, by a
/// restart, by FLUSHALL, and by a restart with old data.
fn quorum_all_wiped_one_by_one(round: &mut QuorumRound<'_>) {
    write_no_more(round);
    let (wipe, url) = (LOSSES[round.variant], round.server.url());
    all_lost(round, &url, Next::Waits, |round, old| {
        let (mut told, first) = (None, round.number);
        let nodes = &mut round.server.nodes;
        let count = nodes.len();
        // If renewals restore the lock in between, the holder continues for longer.
        for wiped in 0..MOST_WIPES {
            if wiped >= count && told.is_some() {
                break;
            }
            let node = &mut nodes[(first + wiped) % count];
            wipe(node);
            // Otherwise the restored record would be on its disk.
            node.config_set("appendonly", "no");
            told = told.or_else(|| old.line(Duration::from_millis(10)));
        }
        told
    });
}

/// All nodes lose their data at the same time: in turn, by an empty restart, by a flush, and by a
/// restart with old data.
fn quorum_all_wiped(round: &mut QuorumRound<'_>) {
    write_no_more(round);
    let loss = round.variant;
    let url = round.server.url();
    all_lost(round, &url, Next::Waits, |round, _| {
        let nodes = &mut round.server.nodes;
        if loss != FLUSH {
            nodes.iter_mut().for_each(RedisServer::kill9);
        }
        nodes.iter_mut().for_each(LOSSES[loss]);
        None
    });
}

/// How a node loses its data.
const LOSSES: [fn(&mut RedisServer); 3] = [RedisServer::restart_empty, flush, RedisServer::restart];
/// The loss that does not end the server.
const FLUSH: usize = 1;

fn flush(node: &mut RedisServer) {
    ask(&mut node.connection(), &["FLUSHALL"])
}

fn forgetful() -> RedisQuorum {
    RedisQuorum::of((0..3).map(|_| RedisServer::builder()), DELAY)
}

fn durable() -> RedisQuorum {
    RedisQuorum::of((0..3).map(|_| RedisServer::builder().durable()), DELAY)
}

/// This many losses take longer than a lease.
const MOST_WIPES: usize = 1_000;

/// When the other process asks for the lock.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// Before a majority loses it.
    Waits,
    /// Immediately after that.
    Comes,
}

/// A process holds the lock, another asks for it, and `lose` makes a majority of the nodes lose it.
/// `lose` returns the holder's answer if it has come by then.
fn all_lost(
    round: &mut QuorumRound<'_>,
    url: &str,
    is_next: Next,
    lose: impl FnOnce(&mut QuorumRound<'_>, &Worker) -> Option<String>,
) {
    // A ttl must not exceed the restart delay.
    let url = format!("{url} ttl={}", LEASE.as_millis());
    let [mut old, mut next] = [round.worker_at(&url), round.worker_at(&url)];
    // Long enough that the old body would write in between.
    let run = round.command("run", LEASE, PATIENCE, "sleep 100");
    next.ask("idle", PATIENCE);
    persist(round, &mut old, LEASE);
    // Otherwise a request to a slow node would be sent again to its replacement, which would then
    // have the lock.
    held_by_all(round, &old);
    if is_next == Next::Waits {
        next.send(&run);
    }
    let told = lose(round, &old);
    if is_next == Next::Comes {
        next.send(&run);
    }
    let told = told.or_else(|| old.line(PATIENCE)).expect("the call fails");
    assert!(told.starts_with("failed Lost "), "{told}");
    let visited = next.line(PATIENCE);
    assert_eq!(visited.as_deref(), Some("written"));
}

/// One node is restarted empty while the lock is held: it has the lock again after the next
/// renewal.
fn quorum_restart_while_held(round: &mut QuorumRound<'_>) {
    /// Its renewals are four seconds apart, and a busy machine adds less than that.
    const TTL: Duration = Duration::from_secs(12);
    let [wiped, stays] = roles(round);
    round.look_at(|quorum| &quorum.nodes[stays]);
    let [holder, waiter, newcomer] = [(); 3].map(|()| round.worker());
    let (holder, token) = hold(round, holder, TTL);
    round.server.nodes[wiped].restart_empty();
    round.look_at(|quorum| &quorum.nodes[wiped]);
    wait_until("record of the holder", TTL / 3 + SLACK, || {
        round.lock.is_held_by(&holder)
    });
    let record = round.lock.value().expect("it is held");
    assert_eq!(label_and_token(&record).1, token);
    // Without a vote the node has no queue either.
    round.look_at(|quorum| &quorum.nodes[stays]);
    let waiter = round.queued(waiter, LONG, PATIENCE);
    let mut workers = [holder, waiter, newcomer];
    go_on(round, &mut workers);
}
