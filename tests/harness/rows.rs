//! The fault table: every row that can be shown on one server, a cluster, a primary with sentinels,
//! or a quorum.
//!
//! Each file covers one kind of fault. The page `lock_runtime::docs::faults` describes each row for
//! users.

/// The rows of a file: the class, and the script of a round, whose name is also the row's name. The
/// expression after `on` starts the servers of a round; the default is a server without special
/// settings.
///
/// `of N` declares that the script has `N` **variants**: distinct promises, one of which a round
/// plays ([`Round::variant`]). Both forms have a round of each. Values that merely vary (which node
/// is away, how long something takes) come from [`Round::number`] instead, which begins at the
/// printed `LOCK_TEST_SEED`: each run tries other values.
///
/// `walked` declares that a round forces one order of commands, answers, messages and faults, and
/// that random walks through `tests/model` explore other orders: a configuration for walks has this
/// fault and the row's other events. It does not apply to events that only a process, a socket or a
/// server produces, to storms, to random moments, and to rows whose mistake walks do not find.
macro_rules! rows {
    (@start) => { $crate::server::RedisServer::start };
    (@start $start:expr) => { $start };
    ($($class:ident $name:ident $(on $start:expr)? $(, $setting:ident $($value:literal)?)*;)+) => {
        pub(in crate::rows) fn rows() -> Vec<$crate::rounds::Row> {
            use $crate::rounds::{Class, Row};
            vec![$(
                Row::new(stringify!($name), Class::$class, rows!(@start $($start)?), $name)$(.$setting($($value)?))*
            ),+]
        }
    };
}

mod callers;
mod clocks;
mod connections;
mod crash;
mod crowd;
mod cuts;
mod failovers;
mod forgetting;
mod leaders;
mod minting;
mod mixed;
mod moves;
mod nodes;
mod partitions;
mod pause;
mod quorum;
mod redisson;
mod refusals;
mod reserve;
mod revocation;
mod scripts;
mod sentinels;
mod several;
mod shares;
mod silence;
mod slots;

// The vocabulary of all rows.
use std::time::{Duration, Instant};

use crate::cluster::RedisCluster;
use crate::proxy::{Mode, Proxy};
use crate::raw::RawLock;
use crate::rounds::{Round, Row, Site};
use crate::scene::SLACK;
use crate::server::RedisServer;
use crate::stalls::ran_since;
use crate::wait::{PATIENCE, wait_until};
use crate::worker::Worker;

pub fn table() -> Vec<Row> {
    [
        crash::rows(),
        pause::rows(),
        callers::rows(),
        cuts::rows(),
        silence::rows(),
        connections::rows(),
        minting::rows(),
        moves::rows(),
        scripts::rows(),
        forgetting::rows(),
        clocks::rows(),
        refusals::rows(),
        reserve::rows(),
        several::rows(),
        revocation::rows(),
        shares::rows(),
        mixed::rows(),
        leaders::rows(),
        redisson::rows(),
        crowd::rows(),
        slots::rows(),
        nodes::rows(),
        failovers::rows(),
        partitions::rows(),
        sentinels::rows(),
        quorum::rows(),
    ]
    .concat()
}

/// The ttl of a lease that expires in the round.
const TTL: Duration = Duration::from_secs(1);

/// The ttl of a lease that renewals keep alive: a busy machine may stall a process for two seconds.
const KEPT: Duration = Duration::from_secs(3);

/// The ttl of a lease that does not expire. A lost command is undone for a ttl, and for at least 10
/// s: longer ttls would only delay the base line.
const LONG: Duration = Duration::from_secs(8);

/// The time to the next grant if it takes a new connection or another attempt.
const SOON: Duration = Duration::from_secs(1);

/// The time that a waiter has to confirm its grant.
const CLAIM: Duration = Duration::from_millis(1500);

/// This process has the lock once, so that it is connected, and the server knows its scripts: each
/// later attempt is a single command.
fn warmed<S: Site>(round: &mut Round<'_, S>, worker: Worker) -> Worker {
    let mut worker = round.hold(worker, LONG);
    round.release(&mut worker);
    worker
}

/// This process takes the lock without a token.
fn taken<S: Site>(round: &mut Round<'_, S>, mut worker: Worker, ttl: Duration) -> Worker {
    let answer = worker.ask(&round.command("take", ttl, PATIENCE, ""), PATIENCE);
    assert_eq!(answer, "held 0");
    let record = round.lock.value().expect("it is held");
    let has_token = record.as_bytes()[23] != b'0';
    assert!(!has_token, "it was taken by a plain command");
    worker
}

/// The next process is granted a lock that the old holder has at another server, which still answers it. The old holder
/// asks for its token only now, and does not get in the way of the next one.
fn asks_late<S: Site>(round: &mut Round<'_, S>, old: &mut Worker, next: &mut Worker) {
    let token = granted_elsewhere(round, next);
    old.send("mint");
    gets_a_lower_token(round, old, next, token);
}

/// The next process is granted the lock at another server. Returns its token.
fn granted_elsewhere<S: Site>(round: &mut Round<'_, S>, next: &mut Worker) -> u64 {
    let asked = Instant::now();
    round.ask(next, LONG, PATIENCE);
    let token = round.granted_next(next, asked, SOON);
    round.visit(next);
    token
}

/// The token for which the old holder has asked is lower than that of the next holder, which it does not disturb.
fn gets_a_lower_token<S: Site>(
    round: &mut Round<'_, S>,
    old: &mut Worker,
    next: &mut Worker,
    token: u64,
) {
    let answer = old.line(PATIENCE).unwrap_or_default();
    let late = answer.strip_prefix("held ").map(str::parse::<u64>);
    let Some(Ok(late)) = late else {
        panic!("the old server does not answer: {answer}");
    };
    assert!(late < token, "a late token is above the next holder's");
    intrude(old);
    round.visit(next);
    round.release(old);
}

/// A worker that believes it is the holder visits the resource. The answer of a fenced resource
/// does not matter, since the worker was inside.
fn intrude(worker: &mut Worker) {
    assert_eq!(worker.ask("look", PATIENCE), "looked");
    worker.ask("write", PATIENCE);
}

/// A process begins a body that holds the lock and visits the resource repeatedly, until it is
/// dropped.
fn persist<S: Site>(round: &mut Round<'_, S>, worker: &mut Worker, ttl: Duration) {
    worker.send(&round.command("run", ttl, PATIENCE, "persist"));
    // The lock's record is not enough: the answer to the holder must have arrived, too.
    wait_until("write", PATIENCE, || round.has_written(worker));
}

/// Another process is granted a lock that an old holder still believes it has: the body of the old
/// holder is dropped before `limit`, without an effect on the other process.
fn usurped<S: Site>(round: &mut Round<'_, S>, old: Worker, mut next: Worker, limit: Duration) {
    round.visit(&mut next);
    round.ended_after_grant(&old, limit);
    round.visit(&mut next);
    round.replaced(old, next);
}

/// Waits until a renewal of the holder succeeds.
#[track_caller]
fn renewed(holder: &mut Worker) {
    wait_until("renewal", PATIENCE, || {
        holder.ask("renew", PATIENCE) == "ok"
    });
}

/// A worker that was let in, and the holder of the lock, visit the resource at the same time, which
/// its history shows.
#[track_caller]
fn meet(inside: &mut Worker, holder: &mut Worker) {
    assert_eq!(inside.ask("look", PATIENCE), "looked");
    intrude(holder);
    assert_eq!(inside.ask("write", PATIENCE), "written");
}

/// For this time, the worker is not granted the lock that another one holds.
#[track_caller]
fn stays_out(worker: &mut Worker, holder: &mut Worker, time: Duration, otherwise: &str) {
    let granted = worker.line(time);
    if granted.is_some() {
        meet(worker, holder);
    }
    assert_eq!(granted, None, "{otherwise}");
}

/// A holder and a waiter find the lock at the promoted primary: the holder continues, and after it
/// the waiter.
fn goes_on<S: Site>(
    round: &mut Round<'_, S>,
    mut holder: Worker,
    mut waiter: Worker,
    promoted: Instant,
) {
    renewed(&mut holder);
    round.finish(&mut holder);
    round.let_in(&mut waiter, promoted, SOON);
}
