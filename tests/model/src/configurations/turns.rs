//! Local turns: a lease goes from caller to caller inside a client.

use super::short;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{self, Crash, Delete, GiveUp, Lose, Renew, Revoke, Tear};
use crate::server::Ticks;

/// How long after a grant a lease is handed over while waiters queue in Redis.
const MAX_LOCAL_TIME: Ticks = 2;

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "a lease goes round inside a client while another client waits; the range of tokens is exhausted; \
            pauses and expiry between two turns":
            turns("turns", &[3, 1], &[]) { delay: 1 };
        "longer ranges": turns("three turns", &[4, 1], &[]) { turns: 3 };
        "callers with different ttls": turns("turns of mixed ttls", &[3, 1], &[]) { mixed: 1 };
        "the caller whose turn is next gives up, before and after the hand-over":
            turns("turns, giving up", &[3, 1], &[(GiveUp, 1)]);
        "renewal off the path, before and after a turn; an answer that comes after the loss":
            turns("turns, renewal", &[3, 1], &[(Renew, 1)]);
        "a process ends between two turns": turns("turns, crash", &[3, 1], &[(Crash, 1)]);
        "commands and answers are lost between two turns": turns("turns, lost", &[2, 1], &[(Lose, 1)]);
        "the connection breaks between two turns": turns("turns, torn", &[3], &[(Tear, 1)]);
        "two clients hand leases over inside, and to each other": turns("turns against turns", &[2, 2], &[]);
        "the lock is deleted between two turns":
            turns("turns, deleted", &[2, 1], &[(Delete, 1)]) { class: Class::Fenced };
        "an operator takes the lock away between two turns":
            turns("revoked, turns", &[2, 1], &[(Revoke, 1)]) { class: Class::Fenced };
    }
}

fn turns(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        local_turns: Some(MAX_LOCAL_TIME),
        ..short(name, calls, faults)
    }
}
