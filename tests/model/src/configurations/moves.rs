//! The lock moves to another server: its slot moves, or a replica takes over.

use super::short;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    self, Downgrade, FailOver, GiveUp, Mint, MoveSlot, Renew, Replicate, TakeOver, Tear,
};

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "each key arrives at any time, renewals and releases in between":
            moves("slot moves", &[1, 1], &[(MoveSlot, 1), (Renew, 1)]);
        "an end that names a successor while the slot moves":
            moves("slot moves with a successor", &[2, 1], &[(MoveSlot, 1)]);
        "a caller gives up while its command is redirected":
            moves("slot moves, giving up", &[1, 1], &[(MoveSlot, 1), (GiveUp, 1)]);
        "the release by one command while the slot moves":
            moves("slot moves, deletes", &[1, 1], &[(MoveSlot, 1)]) { deletes: true };
        "the next node's clock is behind the last token: heartbeats last longer there":
            moves("slot moves, clock behind", &[1, 1], &[(MoveSlot, 1)]) { skew: 1 };
        "a replica with every change takes over, and its clock is behind":
            moves("takeover, clock behind", &[1, 1], &[(TakeOver, 1)]) { skew: 1, delay: 1 };
        "a replica with every change takes over, and its clock is ahead":
            moves("takeover, clock ahead", &[1, 1], &[(TakeOver, 1)])
                { class: Class::Fenced, skew: -1, delay: 1 };
        "a replica takes over without the last grants, releases, renewals and entries":
            failover("lost suffix", &[1, 1], &[(Renew, 1)]);
        "the same while a caller gives up: its owner is back":
            failover("lost suffix, giving up", &[1, 1], &[(GiveUp, 1)]);
        "the same with a clock behind: a grant that was lost may have had a higher token":
            failover("lost suffix, clock behind", &[1, 1], &[]) { skew: 1, delay: 1 };
        "the old primary serves its clients until they notice":
            failover("two primaries", &[1, 1], &[]) { notice: 1, delay: 1 };
        "the same while leases are renewed":
            failover("two primaries, renewal", &[1, 1], &[(Renew, 1)]) { notice: 1 };
        "the same while a connection breaks, and leads to the old primary once more":
            failover("two primaries, torn", &[1, 1], &[(Tear, 1)]) { notice: 1 };
        "the same with tokens that are asked for later, on either primary":
            failover("two primaries, takes", &[1, 1], &[(Mint, 2)]) { notice: 1, takes: true };
        "the same while a lock becomes a share, on either primary":
            failover("two primaries, downgrade", &[1, 1], &[(Downgrade, 1)]) { notice: 1 };
        "the same with locks that have no token":
            failover("two primaries, downgraded takes", &[1, 1], &[(Downgrade, 1)]) { notice: 1, takes: true };
        "the same with a successor named": failover("two primaries, successor", &[2, 1], &[]) { notice: 1 };
    }
}

/// Short times, since the steps of a move come at every point of a history.
fn moves(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        confirms: true,
        ttl: 2,
        late: 1,
        ..short(name, calls, faults)
    }
}

/// A replica takes over that has missed any number of the last changes.
fn failover(name: &'static str, calls: &[u8], more: &[(Fault, u8)]) -> Configuration {
    let faults = [&[(Replicate, 1), (FailOver, 1)], more].concat();
    Configuration {
        class: Class::Fenced,
        ..moves(name, calls, &faults)
    }
}
