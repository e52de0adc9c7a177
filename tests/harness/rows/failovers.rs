//! Replicas of a cluster that take over.

use super::*;

rows! {
    E cluster_failover_ordered on RedisCluster::with_quick_failover;
    E cluster_primary_killed on RedisCluster::with_quick_failover, few;
    E cluster_primary_stopped on RedisCluster::with_quick_failover, few;
    E renewal_not_replicated on RedisCluster::with_quick_failover, few;
    E replica_awaited on RedisCluster::with_quick_failover, few;
    F cluster_replica_lacks_lock on RedisCluster::with_quick_failover, few;
    F cluster_primary_restarted on RedisCluster::with_quick_failover, few;
}

/// So long that no renewal is due in a round: the first one comes after a twelfth of it.
pub(super) const TTL: Duration = Duration::from_secs(120);

/// The time after a grant in which a regular renewal cannot yet have reported a loss.
pub(super) const AT_ONCE: Duration = Duration::from_secs(9);

/// The numbers of the primary that has the lock, and of its replica, which has all of its data.
fn pair(round: &Round<'_, RedisCluster>) -> (usize, usize) {
    let primary = round.server.owner(&round.lock.k);
    round.server.wait_for_replication(primary);
    (primary, round.server.replica_of(primary))
}

/// `CLUSTER FAILOVER`: the primary waits until its replica has everything.
fn cluster_failover_ordered(round: &mut Round<'_, RedisCluster>) {
    let (holder, waiter) = (round.holder(TTL), round.waiter(LONG));
    let (primary, _) = pair(round);
    let ordered = Instant::now();
    round.server.fail_over(primary, &[]);
    goes_on(round, holder, waiter, ordered);
}

/// The primary is killed, and its replica has the lock.
fn cluster_primary_killed(round: &mut Round<'_, RedisCluster>) {
    let (holder, waiter) = (round.holder(TTL), round.waiter(LONG));
    let (primary, replica) = pair(round);
    round.server.nodes[primary].kill9();
    round.server.wait_until_promoted(replica);
    goes_on(round, holder, waiter, Instant::now());
    round.server.nodes[primary].restart();
}

/// The primary is stopped: its sockets stay open, but answer nothing. It resumes once its replica
/// has taken over.
fn cluster_primary_stopped(round: &mut Round<'_, RedisCluster>) {
    let (holder, waiter) = (round.holder(TTL), round.waiter(LONG));
    let (primary, replica) = pair(round);
    round.server.nodes[primary].pause();
    round.server.wait_until_promoted(replica);
    goes_on(round, holder, waiter, Instant::now());
    round.server.nodes[primary].resume();
}

/// The primary is killed, and its replica lacks a renewal: the holder renews immediately, before
/// the lease ends there.
fn renewal_not_replicated(round: &mut Round<'_, RedisCluster>) {
    const REST: Duration = Duration::from_secs(12);
    let mut holder = round.holder(TTL);
    let mut next = round.worker();
    let (lock, rest) = (round.lock.k.clone(), REST.as_millis().to_string());
    assert_eq!(round.lock.command::<i64>(&["PEXPIRE", &lock, &rest]), 1);
    let (primary, replica) = pair(round);
    round.server.detach(replica);
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    round.server.nodes[primary].kill9();
    round.server.nodes[replica].resume();
    round.server.wait_until_promoted(replica);
    round.look_at(|cluster| &cluster.nodes[replica]);
    let promoted = Instant::now();
    let is_longer = |rest: i64| Duration::from_millis(rest.unsigned_abs()) > REST;
    let mut is_restored = false;
    wait_until("lease that is restored or over", PATIENCE, || {
        let rest = round.lock.pttl();
        is_restored = rest > 0 && is_longer(rest);
        is_restored || rest < 0 || promoted.elapsed() > AT_ONCE
    });
    round.ask(&mut next, LONG, PATIENCE);
    if !is_restored {
        round.granted(&next);
        meet(&mut next, &mut holder);
    }
    assert!(is_restored, "the lease was not restored");
    round.pass(&mut holder, &mut next, SOON);
    round.server.nodes[primary].restart();
}

/// The primary is killed, and its replica lacks the lock, whose caller waits for a replica: the
/// caller never had the lock.
fn replica_awaited(round: &mut Round<'_, RedisCluster>) {
    let url = format!("{} replicas=1", round.server.url());
    let (waiting, mut next) = (round.worker_at(&url), round.worker());
    let mut waiting = warmed(round, waiting);
    let (primary, replica) = pair(round);
    round.server.detach(replica);
    let refused = round.refused(&mut waiting, (LONG, Duration::ZERO), "Unavailable");
    assert!(
        refused.contains("0 of 1 replicas acknowledged"),
        "{refused}"
    );
    round.server.nodes[primary].kill9();
    round.server.nodes[replica].resume();
    round.server.wait_until_promoted(replica);
    round.enters(&mut next, LONG, Instant::now(), SOON);
    round.server.nodes[primary].restart();
}

/// The primary is killed, and its replica lacks the lock: the next process is granted it
/// immediately, and the old holder learns of its loss immediately.
fn cluster_replica_lacks_lock(round: &mut Round<'_, RedisCluster>) {
    let (mut old, mut next) = (round.worker(), round.worker());
    let (primary, replica) = pair(round);
    round.server.detach(replica);
    persist(round, &mut old, TTL);
    round.server.nodes[primary].kill9();
    round.server.nodes[replica].resume();
    round.server.wait_until_promoted(replica);
    let promoted = Instant::now();
    round.look_at(|cluster| &cluster.nodes[replica]);
    round.comes(&mut next, LONG, promoted, SOON);
    usurped(round, old, next, AT_ONCE);
    round.server.nodes[primary].restart();
}

/// A primary without persistence is back before its replica takes over.
fn cluster_primary_restarted(round: &mut Round<'_, RedisCluster>) {
    const NO_FAILOVER: &str = "cluster-replica-no-failover";
    let (mut old, mut next) = (round.worker(), round.worker());
    persist(round, &mut old, TTL);
    let (primary, replica) = pair(round);
    // However slowly the primary starts on a busy machine.
    round.server.nodes[replica].config_set(NO_FAILOVER, "yes");
    round.server.nodes[primary].restart();
    round.look_at(|cluster| &cluster.nodes[primary]);
    let restarted = Instant::now();
    round.ask(&mut next, LONG, PATIENCE);
    // A newly started primary waits for 2 s.
    round.granted_next(&next, restarted, Duration::from_secs(2));
    usurped(round, old, next, AT_ONCE);
    round.server.nodes[replica].config_set(NO_FAILOVER, "no");
}
