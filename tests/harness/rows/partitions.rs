//! Primaries of a cluster that still grant locks while their replicas take over.

use super::*;
use crate::cluster::NODE_TIMEOUT;

rows! {
    F cluster_replica_takes_over on RedisCluster::behind_proxies_with_quick_failover, of 2;
    F cluster_primary_cut_off on RedisCluster::behind_proxies_with_quick_failover, few;
    F cluster_primary_cut_off_before_a_token on RedisCluster::behind_proxies, few;
}

/// `CLUSTER FAILOVER` with `FORCE` or `TAKEOVER`, in turn: the replica does not wait for missing
/// data.
fn cluster_replica_takes_over(round: &mut Round<'_, RedisCluster>) {
    let direct = round.server.direct_url();
    let (mut old, mut next) = (round.worker_at(&direct), round.worker_at(&direct));
    let primary = round.server.owner(&round.lock.k);
    let replica = round.server.replica_of(primary);
    round.server.stop_replication(primary);
    persist(round, &mut old, LONG);
    let end = round.lock.lease_end();
    let option = ["FORCE", "TAKEOVER"][round.variant];
    let ordered = Instant::now();
    round.server.fail_over(primary, &[option]);
    round.look_at(|cluster| &cluster.nodes[replica]);
    round.comes(&mut next, LONG, ordered, SOON);
    let rest = end.saturating_duration_since(Instant::now());
    usurped(round, old, next, rest);
    round.server.heal();
}

/// A primary and a client are cut off from all others: it grants the client a lock, and its replica
/// grants the same lock to a client on the other side.
fn cluster_primary_cut_off(round: &mut Round<'_, RedisCluster>) {
    /// The lease outlives the promotion, and ends soon after it.
    const TTL: Duration = Duration::from_secs(5);
    /// The replica is promoted in that time.
    const PROMOTION: Duration = NODE_TIMEOUT.saturating_mul(4);
    let primary = round.server.owner(&round.lock.k);
    let replica = round.server.replica_of(primary);
    let mut old = round.worker_at(&round.server.url_inside(primary));
    let mut next = round.worker_at(&round.server.url_outside(primary));
    round.server.stop_replication(primary);
    persist(round, &mut old, TTL);
    round.server.cut_off(primary);
    let cut = Instant::now();
    round.comes(&mut next, LONG, cut, PROMOTION);
    round.look_at(|cluster| &cluster.nodes[replica]);
    // The primary refuses renewals once it notices, and the lease of its client ends.
    usurped(round, old, next, PATIENCE);
    round.server.heal();
}

/// A primary and its client are cut off, and `CLUSTER FAILOVER TAKEOVER` promotes its replica, which lacks the lock. The
/// client asks for its token when a process on the other side has the lock.
fn cluster_primary_cut_off_before_a_token(round: &mut Round<'_, RedisCluster>) {
    let primary = round.server.owner(&round.lock.k);
    let replica = round.server.replica_of(primary);
    let old = round.worker_at(&round.server.url_inside(primary));
    let mut next = round.worker_at(&round.server.url_outside(primary));
    round.server.stop_replication(primary);
    let mut old = taken(round, old, failovers::TTL);
    round.server.cut_off(primary);
    round.server.fail_over(primary, &["TAKEOVER"]);
    round.look_at(|cluster| &cluster.nodes[replica]);
    asks_late(round, &mut old, &mut next);
    round.release(&mut next);
    round.server.heal();
}
