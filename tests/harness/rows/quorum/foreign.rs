//! Redlock clients that do not know queues and tokens.

use super::*;
use crate::worker::Kind;

rows! {
    E quorum_foreign on RedisQuorum::start;
}

/// Clients with `SET NX PX` on each node, and processes of this crate: they exclude each other.
fn quorum_foreign(round: &mut QuorumRound<'_>) {
    let mut theirs = round.worker_of(Kind::Plain);
    let ours = round.worker();
    round.ask(&mut theirs, LONG, PATIENCE);
    assert_eq!(theirs.line(PATIENCE).as_deref(), Some("held 0"));
    let mut ours = round.queued(ours, LONG, PATIENCE);
    round.pass(&mut theirs, &mut ours, SOON);

    let mut ours = round.hold(ours, LONG);
    round.refused(&mut theirs, (LONG, Duration::ZERO), "Busy");
    round.finish(&mut ours);

    // One task of this crate: with several waiters, the lock would be handed off and never be free.
    let mut workers = [theirs, round.worker_of(Kind::Plain), ours];
    for worker in &mut workers {
        worker.send(&round.command("hammer", LONG, PATIENCE, "1 700"));
    }
    for worker in &workers {
        round.end_hammer(worker);
    }
}
