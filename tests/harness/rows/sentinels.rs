//! A primary with sentinels, and sentinels that are gone or wrong.

use super::failovers::{AT_ONCE, TTL};
use super::*;
use crate::sentinels::{RedisSentinels, sentinel_of, sentinel_url, sentinel_url_by};

rows! {
    F sentinel_failover_ordered on RedisSentinels::start, few;
    F sentinel_failover_before_a_token on RedisSentinels::start, few;
    E sentinel_primary_killed on RedisSentinels::start, few;
    F sentinel_replicas_lack_lock on RedisSentinels::start, few;
    E two_sentinels_lost on RedisSentinels::start, few;
    E sentinels_stale on RedisSentinels::start, few;
}

/// A wait that is longer than a failover on a busy machine.
const WAIT: Duration = PATIENCE.saturating_mul(4);

/// `SENTINEL FAILOVER`: the old primary still grants locks, since its clients notice only when the
/// sentinels report it.
fn sentinel_failover_ordered(round: &mut Round<'_, RedisSentinels>) {
    // The client hears nothing from the sentinels before it has the lock.
    let sentinels = round.server.sentinels.iter();
    let proxies: Vec<Proxy> = sentinels.map(|sentinel| round.proxy_to(sentinel)).collect();
    let (mut old, mut next) = (round.worker_at(&sentinel_url_by(&proxies)), round.worker());
    assert_eq!(old.ask("cycle elsewhere 8000 20000 1", PATIENCE), "ok");
    proxies.iter().for_each(|proxy| proxy.replies(Mode::Hold));
    let promoted = round.server.fail_over(0);
    persist(round, &mut old, TTL);
    proxies.iter().for_each(Proxy::heal);
    let named = Instant::now();
    round.look_at(|all| &all.servers[promoted]);
    round.comes(&mut next, LONG, named, SOON);
    usurped(round, old, next, AT_ONCE);
}

/// `SENTINEL FAILOVER` to a replica that lacks the lock. The holder, which does not hear of it, asks the old primary for
/// its token when another process has the lock.
fn sentinel_failover_before_a_token(round: &mut Round<'_, RedisSentinels>) {
    let sentinels = round.server.sentinels.iter();
    let proxies: Vec<Proxy> = sentinels.map(|sentinel| round.proxy_to(sentinel)).collect();
    let old = round.worker_at(&sentinel_url_by(&proxies));
    let mut old = taken(round, old, TTL);
    proxies.iter().for_each(|proxy| proxy.replies(Mode::Hold));
    let promoted = round.server.fail_over(0);
    // Otherwise they would make the old primary a replica.
    round.server.sentinels.iter().for_each(RedisServer::pause);
    round.look_at(|all| &all.servers[promoted]);
    round.lock.delete_record();
    let mut next = round.worker_at(&round.server.servers[promoted].url());
    asks_late(round, &mut old, &mut next);
    round.release(&mut next);
    round.server.sentinels.iter().for_each(RedisServer::resume);
    proxies.iter().for_each(Proxy::heal);
}

/// The primary is killed, and its replicas have the lock.
fn sentinel_primary_killed(round: &mut Round<'_, RedisSentinels>) {
    let (holder, waiter) = (round.holder(TTL), round.waiter_within(LONG, WAIT));
    round.server.wait_for_replication();
    round.server.servers[0].kill9();
    round.server.wait_for_failover(0);
    goes_on(round, holder, waiter, Instant::now());
}

/// The primary is killed, and neither replica has the lock.
fn sentinel_replicas_lack_lock(round: &mut Round<'_, RedisSentinels>) {
    let (mut old, mut next) = (round.worker(), round.worker());
    round.server.wait_for_replication();
    round.server.detach_replicas();
    persist(round, &mut old, TTL);
    round.server.servers[0].kill9();
    round.server.resume_replicas();
    let promoted = round.server.wait_for_failover(0);
    let named = Instant::now();
    round.look_at(|all| &all.servers[promoted]);
    round.comes(&mut next, LONG, named, SOON);
    usurped(round, old, next, AT_ONCE);
}

/// Two of three sentinels are gone, one of them silently: the primary stays in use, and newcomers
/// find it.
fn two_sentinels_lost(round: &mut Round<'_, RedisSentinels>) {
    let mut holder = round.holder(LONG);
    round.server.sentinels[0].kill9();
    round.server.sentinels[1].pause();
    let mut newcomer = round.waiter(LONG);
    round.pass(&mut holder, &mut newcomer, SOON);
    // Both have been tried in the meantime.
    wait_until("watch of the last sentinel", PATIENCE, || {
        round.server.watching(2) > 0
    });
    let mut holder = round.hold(holder, LONG);
    round.finish(&mut holder);
    round.server.sentinels[1].resume();
}

/// Most sentinels of a URL have missed a failover. The server that they name still claims to be the
/// primary.
fn sentinels_stale(round: &mut Round<'_, RedisSentinels>) {
    let promoted = round.server.fail_over(0);
    round.look_at(|all| &all.servers[promoted]);
    let old = RedisServer::start();
    let stale = [(); 2].map(|()| sentinel_of(&old, 2));
    let url = sentinel_url(&[&stale[0], &round.server.sentinels[0], &stale[1]]);
    let mut holder = round.holder(LONG);
    let mut next = round.worker_at(&url);
    round.ask(&mut next, LONG, PATIENCE);
    let early = granted_elsewhere(round, &next);
    if early {
        meet(&mut next, &mut holder);
    }
    assert!(!early, "the lock was granted by the old primary");
    round.pass(&mut holder, &mut next, SOON);
}

/// Waits until the worker queues on the right primary (false), or has an answer (true).
fn granted_elsewhere(round: &mut Round<'_, RedisSentinels>, worker: &Worker) -> bool {
    let mut answer = None;
    wait_until("waiter in the queue", PATIENCE, || {
        answer = worker.line(Duration::from_millis(20));
        answer.is_some() || round.lock.queue().len() == 1
    });
    answer.is_some()
}
