//! Wrong clocks of nodes and of a client.

use super::wipes::LEASE;
use super::*;
use crate::clock::Clock;
use crate::quorum::marker_name;
use crate::scene::exists;

rows! {
    E quorum_clock_of_a_node on with_a_clock, of 2;
    F quorum_clock_set_and_back on with_a_clock;
    E quorum_clock_late_at_a_restart on with_a_short_delay, of 3;
    E quorum_clock_of_a_waiter on RedisQuorum::start, of 2;
    E quorum_node_ahead_killed on RedisQuorum::start;
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// The node whose clock the row sets.
const CLOCKED: usize = 2;

/// The clock of one node jumps by a minute, ahead or back in turn: its votes do not count.
fn quorum_clock_of_a_node(round: &mut QuorumRound<'_>) {
    let [holder, waiter, newcomer] = [(); 3].map(|()| round.worker());
    let (holder, _) = hold(round, holder, LONG);
    let waiter = round.queued(waiter, LONG, PATIENCE);
    let clocked = &round.server.nodes[CLOCKED];
    match round.variant {
        0 => clocked.forward(MINUTE),
        _ => clocked.back(MINUTE),
    }
    let mut workers = [holder, waiter, newcomer];
    go_on(round, &mut workers);
    round.server.nodes[1].pause();
    let answer = round.refused(&mut workers[0], (LONG, Duration::ZERO), "Unavailable");
    assert!(answer.contains(": its clock is "), "{answer}");
    round.server.nodes[1].resume();
}

fn with_a_clock() -> RedisQuorum {
    clocked(RedisQuorum::DELAY)
}

/// The smallest step of a clock exceeds the delay, which would be over immediately.
fn with_a_short_delay() -> RedisQuorum {
    clocked(MINUTE / 2 - LEASE)
}

fn clocked(delay: Duration) -> RedisQuorum {
    let nodes = [(); CLOCKED].map(|()| RedisServer::builder());
    let clocked = RedisServer::builder().own_clock();
    RedisQuorum::of(nodes.into_iter().chain([clocked]), delay)
}

/// The lock is held on two of three nodes. The clock of one of them jumps ahead by a minute, so
/// that its record is gone, and back before any process asks the node.
fn quorum_clock_set_and_back(round: &mut QuorumRound<'_>) {
    let kept = round.number % CLOCKED;
    let third = CLOCKED - 1 - kept;
    let ways = round.proxies();
    ways[third].refuse(true);
    let holder = round.worker_through(&ways);
    let mut next = round.worker();
    next.ask("idle", PATIENCE);
    round.look_at(|quorum| &quorum.nodes[CLOCKED]);
    let mut holder = round.hold(holder, LONG);
    wait_until("record on the node", PATIENCE, || {
        round.lock.is_held_by(&holder)
    });
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    let end = round.lock.lease_end();
    round.server.nodes[CLOCKED].forward(MINUTE);
    // A server may delete expired keys only when a command accesses them.
    assert_eq!(round.lock.value(), None);
    round.server.nodes[CLOCKED].back(MINUTE);
    let set = Instant::now();
    round.comes(&mut next, LONG, set, Duration::ZERO);
    round.visit(&mut next);
    assert_eq!(holder.ask("write", PATIENCE), "stale");
    // A single node is no majority that could report it.
    ways[third].refuse(false);
    round.told(&mut holder, end);
    round.release(&mut next);
}

/// The lock is held on two of three nodes. One of them restarts without its data, with its clock
/// behind by half a minute, a minute or an hour. The clock is corrected while another process asks
/// for the lock.
fn quorum_clock_late_at_a_restart(round: &mut QuorumRound<'_>) {
    let behind = [MINUTE / 2, MINUTE, HOUR][round.variant];
    let kept = round.number % CLOCKED;
    let third = CLOCKED - 1 - kept;
    round.look_at(|quorum| &quorum.nodes[kept]);
    let ways = [(); 2].map(|()| round.proxies());
    ways[0][third].refuse(true);
    let urls = ways.each_ref().map(|ways| round.server.url_through(ways));
    // A ttl must not exceed the restart delay.
    let urls = urls.map(|url| format!("{url} ttl={}", LEASE.as_millis()));
    let [mut old, mut next] = urls.map(|url| round.worker_at(&url));
    next.ask("idle", PATIENCE);
    persist(round, &mut old, LEASE);
    let clocked = &mut round.server.nodes[CLOCKED];
    clocked.back(behind);
    clocked.restart_empty();
    let since = Instant::now();
    round.ask(&mut next, LONG, PATIENCE);
    let clocked = &round.server.nodes[CLOCKED];
    let (connection, marker) = (&mut clocked.connection(), marker_name("lock:"));
    wait_until("marker", PATIENCE, || exists(connection, &marker));
    clocked.forward(behind);
    round.granted_next(&next, since, LEASE);
    ends_before(round, &old, &mut next);
    ways[0][third].refuse(false);
}

/// The clock of a waiter is an hour off, ahead or behind in turn: waiters are served in the order
/// in which they came.
fn quorum_clock_of_a_waiter(round: &mut QuorumRound<'_>) {
    let clock = Clock::new();
    match round.variant {
        0 => clock.forward(HOUR),
        _ => clock.back(HOUR),
    }
    let mut holder = round.holder(LONG);
    let (off, right) = (round.worker_by(&clock), round.worker());
    let mut off = round.queued(off, LONG, PATIENCE);
    // Stamps are only as precise as a round trip.
    let mut monitor = round.server.nodes[0].monitor();
    monitor.wait_for(&format!("(pid {})", off.pid()));
    let mut right = round.queued(right, LONG, PATIENCE);
    round.pass(&mut holder, &mut off, SOON);
    round.let_in(&mut right, Instant::now(), SOON);
}

/// The token of one node is ahead of the other nodes' tokens, as after a time with its clock ahead.
/// The node is killed when the lock with that token is released: the next token is higher.
fn quorum_node_ahead_killed(round: &mut QuorumRound<'_>) {
    let [ahead, stays, third] = roles(round);
    round.look_at(|quorum| &quorum.nodes[ahead]);
    let fence = round.lock.f.clone();
    let token = format!("{:016}", round.lock.now() + 60_000_000);
    round.lock.command::<()>(&["SET", &fence, &token]);
    round.look_at(|quorum| &quorum.nodes[stays]);
    let proxies = round.proxies();
    // A majority without the node ahead would not see its token.
    proxies[third].refuse(true);
    let holder = round.worker_through(&proxies);
    let mut holder = round.hold(holder, LONG);
    round.finish(&mut holder);
    round.server.nodes[ahead].kill9();
    let (mut next, asked) = (round.worker(), Instant::now());
    round.enters(&mut next, LONG, asked, SOON);
    proxies[third].refuse(false);
    round.server.nodes[ahead].restart();
}
