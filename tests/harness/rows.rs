//! The fault table: every row that one server can show, a cluster, a primary that sentinels watch, or a quorum.
//!
//! Each file is a kind of fault. The page `lock_runtime::docs::faults` describes each row for users.

mod callers;
mod clocks;
mod connections;
mod crash;
mod crowd;
mod cuts;
mod failovers;
mod forgetting;
mod mixed;
mod moves;
mod nodes;
mod partitions;
mod pause;
mod quorum;
mod redisson;
mod refusals;
mod rest;
mod revocation;
mod scripts;
mod sentinels;
mod several;
mod shares;
mod silence;
mod slots;

use std::time::{Duration, Instant};

use crate::rounds::{Round, Row, Site};
use crate::wait::{PATIENCE, wait_until};
use crate::worker::Worker;

/// The ttl of a lease that expires in the round.
const TTL: Duration = Duration::from_secs(1);

/// The ttl of a lease that does not expire. A lost command is undone for a ttl, and at least for 10 s:
/// longer ttls would only delay the base line.
const LONG: Duration = Duration::from_secs(8);

/// The time in which a waiter has to confirm its grant.
const CLAIM: Duration = Duration::from_millis(1500);

/// Has a worker that believes it is the holder visit the resource. The answer of a fenced resource does
/// not matter, since the worker was inside.
fn intrude(worker: &mut Worker) {
    assert_eq!(worker.ask("look", PATIENCE), "looked");
    worker.ask("write", PATIENCE);
}

/// Has a process begin a body that holds the lock and visits the resource again and again, until it is dropped.
fn persist<S: Site>(round: &mut Round<'_, S>, worker: &mut Worker, ttl: Duration) {
    worker.send(&round.command("run", ttl, PATIENCE, "persist"));
    // Not only its lock must be there: the answer that it has the lock must have arrived.
    wait_until("write", PATIENCE, || round.has_written(worker));
}

/// Another process is granted a lock that an old holder still believes to have: the body of that holder is dropped before
/// `limit`, and the other process is not affected.
fn usurped<S: Site>(round: &mut Round<'_, S>, old: Worker, mut next: Worker, limit: Duration) {
    round.visit(&mut next);
    round.ended_after_grant(&old, limit);
    round.visit(&mut next);
    round.retire(old);
    assert!(round.lock.is_held_by(&next), "the new holder was touched");
    round.release(&mut next);
    round.retire(next);
}

/// The worker is granted the lock after a release, and releases it.
fn served<S: Site>(round: &mut Round<'_, S>, mut worker: Worker, released: Instant) {
    round.granted_next(&worker, released, Duration::from_secs(1));
    round.visit(&mut worker);
    round.release(&mut worker);
    round.retire(worker);
}

/// A holder and a waiter find the lock at the primary that was promoted then: the holder goes on, and after it the waiter.
fn goes_on<S: Site>(
    round: &mut Round<'_, S>,
    mut holder: Worker,
    waiter: Worker,
    promoted: Instant,
) {
    wait_until("renewal", PATIENCE, || {
        holder.ask("renew", PATIENCE) == "ok"
    });
    round.visit(&mut holder);
    round.release(&mut holder);
    served(round, waiter, promoted);
    round.retire(holder);
}

/// All rows.
pub const TABLE: &[Row] = &[
    crash::HOLDER_KILLED,
    crash::HOLDER_EXITS,
    crash::HOLDER_ABORTS,
    crash::HOLDER_LEAVES,
    crash::KILLED_WHILE_RETAINED,
    crash::SERVED_WAITER_KILLED,
    crash::WAITER_KILLED,
    crash::TWENTY_WAITERS_KILLED,
    pause::HOLDER_PAUSED,
    pause::WAITER_PAUSED,
    pause::WAITER_PAUSED_PAST_ITS_WAIT,
    callers::ACQUIRE_DROPPED,
    callers::BODY_PANICS,
    callers::BODY_BLOCKS,
    callers::BODY_BLOCKS_PAST_ITS_LEASE,
    callers::CALLER_POLLED_LATE,
    callers::CALLER_NEVER_POLLED,
    callers::FIRST_IN_LINE_GIVES_UP,
    callers::RUNTIME_DROPPED,
    callers::IN_MEMORY,
    cuts::REPLY_CUT,
    cuts::REQUEST_CUT,
    cuts::RELEASE_CUT,
    silence::REPLY_LATE,
    silence::REPLY_SLOW,
    silence::RENEWAL_SLOW,
    silence::BLACK_HOLE,
    silence::HALF_OPEN,
    connections::CLIENTS_KILLED,
    connections::SERVER_DEMOTED,
    connections::PUSH_LOST,
    connections::PUSH_DOUBLED,
    connections::PUSH_LATE,
    connections::MESSAGE_FORGED,
    moves::NAME_MOVES,
    moves::NAME_MOVES_WITHOUT_LOCK,
    moves::NAME_MOVES_WHILE_RETAINED,
    scripts::SCRIPTS_FLUSHED,
    scripts::SERVER_BUSY,
    scripts::SERVER_LOADING,
    forgetting::RESTART_WITH_AOF,
    forgetting::RESTART_WITHOUT_PERSISTENCE,
    forgetting::LOCK_DELETED,
    forgetting::ONE_OF_TWO_LOCKS_DELETED,
    forgetting::EVERYTHING_FLUSHED,
    forgetting::EVERYTHING_EVICTED,
    clocks::SERVER_CLOCK_FORWARD,
    clocks::SERVER_CLOCK_BACK,
    clocks::CLIENT_CLOCK,
    refusals::OUT_OF_MEMORY,
    refusals::WRONG_TYPE,
    refusals::NO_PERMISSION,
    refusals::WRONG_PASSWORD,
    rest::KILLED_BEFORE_ITS_MINIMUM,
    rest::REST_CUT,
    several::KEYS_IN_OPPOSITE_ORDERS,
    revocation::WHILE_RENEWING,
    revocation::WHILE_INSIDE,
    revocation::WHILE_HANDED_ON,
    revocation::TWICE,
    revocation::WITHOUT_FENCE,
    revocation::WHILE_PAUSED,
    revocation::UNHEARD,
    revocation::READERS,
    revocation::PERMITS,
    revocation::ONE_OF_TWO,
    shares::READER_KILLED,
    shares::PERMIT_HOLDER_KILLED,
    shares::MANY_SHARES_KILLED,
    shares::WAITING_READER_KILLED,
    shares::READER_PAUSED,
    shares::SHARES_EVICTED,
    shares::LOCK_DELETED_UNDER_READERS,
    mixed::WRITER_AMONG_READERS,
    mixed::DOWNGRADED_UNDER_CUTS,
    mixed::SHARERS_DISCONNECTED,
    mixed::SHARERS_KILLED,
    redisson::HOLDER_KILLED,
    redisson::MESSAGE_LOST,
    redisson::FORCED_UNLOCK,
    crowd::ORDER,
    crowd::RELEASE_AT_ONCE,
    crowd::THOUSAND_WAITERS,
    crowd::TEN_THOUSAND_KEYS,
    slots::SLOTS_MOVE_UNDER_LOAD,
    slots::RECORDS_MOVE_APART,
    slots::SLOT_HALF_MOVED,
    nodes::NODES_COME_AND_GO,
    nodes::ONE_SEED_LEFT,
    nodes::MESSAGE_LATE,
    nodes::BUS_CUT,
    failovers::FAILOVER_ORDERED,
    failovers::PRIMARY_KILLED,
    failovers::PRIMARY_STOPPED,
    failovers::RENEWAL_NOT_REPLICATED,
    failovers::REPLICA_AWAITED,
    sentinels::PRIMARY_KILLED,
    sentinels::TWO_LOST,
    sentinels::STALE,
    failovers::REPLICA_LACKS_LOCK,
    failovers::PRIMARY_RESTARTED,
    partitions::REPLICA_TAKES_OVER,
    partitions::PRIMARY_CUT_OFF,
    sentinels::FAILOVER_ORDERED,
    sentinels::REPLICAS_LACK_LOCK,
    quorum::minorities::NODE_KILLED,
    quorum::minorities::NODE_STOPPED,
    quorum::minorities::NODE_CUT,
    quorum::minorities::NODE_REFUSING,
    quorum::minorities::MINORITY_OF_FIVE,
    quorum::minorities::SLOW_NODE,
    quorum::minorities::MAJORITY_AWAY,
    quorum::minorities::MAJORITY_KILLED,
    quorum::minorities::MAJORITY_REFUSING,
    quorum::wipes::NODE_WIPED,
    quorum::wipes::MINORITY_WIPED,
    quorum::wipes::OLD_DATA,
    quorum::wipes::REPLICA_PROMOTED,
    quorum::wipes::REPLICAS_PROMOTED,
    quorum::wipes::ALL_WIPED_ONE_BY_ONE,
    quorum::wipes::ALL_WIPED,
    quorum::wipes::RESTART_WHILE_HELD,
    quorum::losses::KEY_DELETED,
    quorum::cuts::REPLY_CUT,
    quorum::late::CALL_LATE,
    quorum::late::CEDE_LATE,
    quorum::late::HOLD_LATE,
    quorum::split::SPLIT_VOTE_KILLED,
    quorum::clocks::CLOCK_OF_A_NODE,
    quorum::clocks::CLOCK_SET_AND_BACK,
    quorum::clocks::CLOCK_OF_A_WAITER,
    quorum::clocks::NODE_AHEAD_KILLED,
    quorum::foreign::FOREIGN,
    quorum::losses::KEYS_DELETED,
];
