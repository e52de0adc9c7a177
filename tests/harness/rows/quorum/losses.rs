//! The record of a lock is deleted on some nodes.

use super::*;
use crate::quorum::boot;

rows! {
    E quorum_key_deleted on RedisQuorum::start;
    F quorum_keys_deleted on RedisQuorum::start;
}

/// On one node, which another process takes then: that process keeps it, and the holder continues.
fn quorum_key_deleted(round: &mut QuorumRound<'_>) {
    let [deleted, stays] = roles(round);
    let [next, newcomer] = [round.worker(), round.worker()];
    let holder = round.worker();
    let (mut holder, token) = hold(round, holder, LONG);
    let record = delete(round, deleted);
    let mut monitor = round.server.nodes[deleted].monitor();
    round.look_at(|quorum| &quorum.nodes[stays]);
    let next = round.queued(next, LONG, PATIENCE);
    round.look_at(|quorum| &quorum.nodes[deleted]);
    wait_until("next owner of the node", PATIENCE, || {
        round.lock.is_held_by(&next)
    });
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    // The command that restores the record has its ttl and its token, and then the boot of the
    // node.
    let (label, _) = label_and_token(&record);
    let boot = boot(&mut *round.lock.connection);
    let ttl = LONG.as_millis();
    let command = format!("{label}\" \"{ttl}\" \"{token}\" \"{boot}");
    monitor.wait_for(&command);
    let is_left = round.lock.is_held_by(&next);
    assert!(is_left, "the node was taken from its owner");
    let mut workers = [holder, next, newcomer];
    go_on(round, &mut workers);
}

/// On two nodes of three: the next process gets the lock immediately.
fn quorum_keys_deleted(round: &mut QuorumRound<'_>) {
    let [first, second, stays] = roles(round);
    let [holder, mut next] = [round.worker(), round.worker()];
    let (mut holder, _) = hold(round, holder, LONG);
    assert_eq!(holder.ask("look", PATIENCE), "looked");
    round.look_at(|quorum| &quorum.nodes[stays]);
    let end = round.lock.lease_end();
    delete(round, first);
    delete(round, second);
    let deleted = Instant::now();
    round.comes(&mut next, LONG, deleted, Duration::ZERO);
    round.visit(&mut next);
    assert_eq!(holder.ask("write", PATIENCE), "stale");
    round.told(&mut holder, end);
    round.look_at(|quorum| &quorum.nodes[first]);
    assert!(round.lock.is_held_by(&next), "the new holder was affected");
    round.release(&mut next);
}

/// Deletes the lock on one node, and returns its record.
fn delete(round: &mut QuorumRound<'_>, node: usize) -> String {
    round.look_at(|quorum| &quorum.nodes[node]);
    let record = round.lock.value().expect("it is held");
    round.lock.delete_record();
    record
}
