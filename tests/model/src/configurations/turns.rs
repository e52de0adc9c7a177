//! Local turns: a lease goes from caller to caller inside a client.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{self, Crash, Delete, GiveUp, Lose, Renew, Tear};
use crate::server::Ticks;

/// For how long after a grant a lease is passed on while others queue.
const MAX_LOCAL_TIME: Ticks = 2;

pub(super) fn all() -> Vec<Configuration> {
    vec![
        Configuration {
            about: "a lease goes round inside a client while another client waits; the range of \
                    tokens is exhausted; pauses and expiry in mid-chain",
            delay: 1,
            ..turns("turns", &[3, 1], &[])
        },
        Configuration {
            about: "longer ranges",
            turns: 3,
            ..turns("three turns", &[4, 1], &[])
        },
        Configuration {
            about: "callers with different ttls",
            mixed: 1,
            ..turns("turns of mixed ttls", &[3, 1], &[])
        },
        Configuration {
            about: "the caller whose turn is next gives up, before and after it is handed over",
            ..turns("turns, giving up", &[3, 1], &[(GiveUp, 1)])
        },
        Configuration {
            about: "renewal off the path, before and after a turn; an answer that comes after the \
                    loss",
            ..turns("turns, renewal", &[3, 1], &[(Renew, 1)])
        },
        Configuration {
            about: "a process ends in mid-chain",
            ..turns("turns, crash", &[3, 1], &[(Crash, 1)])
        },
        Configuration {
            about: "commands and answers are lost in mid-chain",
            ..turns("turns, lost", &[2, 1], &[(Lose, 1)])
        },
        Configuration {
            about: "the connection breaks in mid-chain",
            ..turns("turns, torn", &[3], &[(Tear, 1)])
        },
        Configuration {
            about: "two clients pass leases on inside, and to each other",
            ..turns("turns against turns", &[2, 2], &[])
        },
        Configuration {
            about: "the lock is deleted in mid-chain",
            class: Class::Fenced,
            ..turns("turns, deleted", &[2, 1], &[(Delete, 1)])
        },
    ]
}

fn turns(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        local_turns: Some(MAX_LOCAL_TIME),
        claim: 1,
        live: 2,
        delay: 0,
        ..configuration(name, calls, faults)
    }
}
