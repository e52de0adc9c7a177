//! Configurations for walks: many clients, every combination of compatible faults, and the real
//! limits.

use super::configuration;
use super::several::several;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    self, ClockAhead, ClockBack, ClockBehind, Crash, Delete, Double, Downgrade, FailOver, Flush,
    ForeignTake, GiveUp, Impair, Lose, LoseFence, LoseQueue, LoseShares, Mint, MoveSlot, Renew,
    Replicate, Restart, Revoke, Shutdown, Tear, Timeout, Try, Unsubscribe,
};
use crate::server::{Mode, Share, ShareRules};

/// Callers that come and go.
const CALLERS: &[(Fault, u8)] = &[(GiveUp, 4), (Try, 2), (Unsubscribe, 1), (Renew, 6)];

/// Processes that end, usually early in a walk.
const PROCESSES: &[(Fault, u8)] = &[(Crash, 1), (Shutdown, 1)];

/// Commands, answers and messages that are lost, late or duplicated, and a server that restarts
/// with its records.
const NETWORK: &[(Fault, u8)] = &[
    (Lose, 3),
    (Double, 4),
    (Timeout, 4),
    (Tear, 4),
    (Flush, 1),
    (Restart, 1),
];

/// Records that are gone, without late commands: a late command that retakes the lock for a former
/// holder would give it a token that the holder never learns.
const DELETED: &[(Fault, u8)] = &[
    (Delete, 2),
    (Revoke, 2),
    (LoseFence, 1),
    (LoseQueue, 1),
    (ForeignTake, 1),
    (ClockAhead, 1),
    (ClockBack, 1),
];

const MODES: [Mode; 4] = [
    Mode::OutOfMemory,
    Mode::Migrating,
    Mode::FenceWrong,
    Mode::QueueWrong,
];

/// Every configuration for walks.
pub fn all() -> Vec<Configuration> {
    configurations! {
        "a server that forgets its fence, and other programs": walk("walk", &[NETWORK, &[(ForeignTake, 1), (LoseFence, 1)]]);
        "local queues whose callers ask for two ttls; one process stays":
            callers("walk, local queues", &[NETWORK, &[(Shutdown, 1)]]) { calls: vec![8, 4], mixed: 1 };
        "a server that cannot carry out commands":
            walk("walk, impaired", &[NETWORK, &[(Impair, 3)]]) { modes: MODES.to_vec() };
        "local turns and retained leases":
            walk("walk, turns", &[NETWORK])
                { calls: vec![6, 6, 3, 2], local_turns: Some(4), retain: 2, turns: 3, ttl: 9, deletes: true };
        "locks that stay taken for a minimum": walk("walk, reserve", &[NETWORK]) { at_least: 4 };
        "plain commands that take a free lock, and tokens that bodies ask for; a clock behind the last token":
            walk("walk, takes", &[NETWORK, &[(Mint, 8), (ClockBehind, 1)]]) { takes: true, local_turns: Some(2) };
        "shares, permits and writers; locks that become shares":
            walk("walk, shares", &[NETWORK, &[(Downgrade, 4), (LoseShares, 1), (Impair, 1)]])
                { calls: vec![3, 2, 0, 0, 0], shares: shares(), writes: true, rounding: 1, modes: MODES.to_vec() };
        "shares whose lock is deleted":
            walk("walk, shares deleted", &[DELETED, &[(Downgrade, 4), (LoseShares, 1)]])
                { calls: vec![3, 2, 0, 0, 0], shares: shares(), class: Class::Fenced };
        "records that others delete and take away, and clocks that jump":
            walk("walk, deleted", &[DELETED]) { class: Class::Fenced, local_turns: Some(2) };
        "a slot that moves":
            walk("walk, slot moves", &[NETWORK, &[(MoveSlot, 1)]]) { confirms: true, local_turns: Some(2) };
        "calls that take two locks together":
            several("walk, several", &[(GiveUp, 3), (Renew, 4), (Tear, 2), (Crash, 1), (Lose, 2), (Double, 2), (Timeout, 2)])
                {
                    // Two ticks settle an owner whose end is unanswered, so no waiter counts as alive for longer. It does
                    // for longer than a lease lasts: it may be granted the second lock after it has lost the first.
                    ttl: 1,
                    live: 2,
                    calls: vec![4, 4, 3, 3],
                    together: &[&[0, 1], &[1, 0], &[0], &[1]]
                };
        "a replica that takes over without the last changes, while the old primary goes on":
            walk("walk, two primaries", &[&[(Replicate, 2), (FailOver, 1)]])
                { confirms: true, notice: 1, class: Class::Fenced };
    }
}

/// Five clients that make several calls each, and processes that end.
fn walk(name: &'static str, faults: &[&[(Fault, u8)]]) -> Configuration {
    callers(name, &[&[PROCESSES], faults].concat())
}

/// Five clients that make several calls each.
fn callers(name: &'static str, faults: &[&[(Fault, u8)]]) -> Configuration {
    let faults = [&[CALLERS], faults].concat().concat();
    let ShareRules { window, walk, .. } = ShareRules::REAL;
    Configuration {
        share_window: window,
        walk,
        delay: 1,
        ..configuration(name, &[6, 4, 3, 2, 2], &faults)
    }
}

fn shares() -> Vec<Vec<Share>> {
    let permit = |take, limit| Share { take, limit };
    vec![
        vec![Share::READ],
        vec![permit(2, 3), Share::READ],
        vec![Share::READ; 3],
        vec![permit(1, 3), permit(2, 2), permit(1, 3)],
        vec![Share::READ, permit(1, 2), Share::READ],
    ]
}
