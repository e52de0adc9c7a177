//! Nodes of a quorum that are away, lose their data, or disagree.

mod clocks;
mod cuts;
mod foreign;
mod late;
mod losses;
mod minorities;
mod split;
mod wipes;

use super::*;
use crate::quorum::RedisQuorum;
use crate::rounds::Row;

pub(super) fn rows() -> Vec<Row> {
    [
        minorities::rows(),
        wipes::rows(),
        losses::rows(),
        cuts::rows(),
        late::rows(),
        split::rows(),
        clocks::rows(),
        foreign::rows(),
    ]
    .concat()
}

/// A round on a quorum.
type QuorumRound<'a> = Round<'a, RedisQuorum>;

/// The number of a node, different in each round, and the numbers of the nodes after it.
fn roles<const NODES: usize>(round: &QuorumRound<'_>) -> [usize; NODES] {
    let nodes = round.server.nodes.len();
    std::array::from_fn(|node| (round.number + node) % nodes)
}

/// The lock's record on a node.
fn lock_at(round: &QuorumRound<'_>, node: usize) -> RawLock {
    RawLock::new(&round.server.nodes[node], &round.key)
}

/// This process acquires the lock. Waits until all nodes have it: otherwise a waiter may take a
/// slower node, which the holder would need when another node is away. Also returns the 16 digits
/// of its token; slower nodes may have a different one.
fn hold(round: &mut QuorumRound<'_>, mut worker: Worker, ttl: Duration) -> (Worker, String) {
    round.ask(&mut worker, ttl, PATIENCE);
    let token = round.granted(&worker);
    held_by_all(round, &worker);
    (worker, format!("{token:016}"))
}

/// Waits until this process is the holder on all nodes.
fn held_by_all(round: &QuorumRound<'_>, worker: &Worker) {
    for node in 0..round.server.nodes.len() {
        let mut lock = lock_at(round, node);
        wait_until("holder on each node", PATIENCE, || lock.is_held_by(worker));
    }
}

/// The holder continues, then the waiter, then a newcomer, and then the first one again.
fn go_on(round: &mut QuorumRound<'_>, workers: &mut [Worker; 3]) {
    let [holder, waiter, newcomer] = workers;
    renewed(holder);
    round.pass(holder, waiter, SOON);
    for worker in [newcomer, holder] {
        round.enters(worker, LONG, Instant::now(), SOON);
    }
}

/// The body of a holder ends as lost, and no other process was inside while it ran.
fn ends_before(round: &mut QuorumRound<'_>, old: &Worker, next: &mut Worker) {
    assert_eq!(next.ask("look", PATIENCE), "looked");
    round.call_fails(old, "Lost");
    assert_eq!(next.ask("write", PATIENCE), "written");
    round.release(next);
}

/// The label of a record's owner, at the end of its entry, and the record's token.
fn label_and_token(record: &str) -> (&str, &str) {
    (&record[39..], &record[23..39])
}
