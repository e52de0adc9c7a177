//! Retained leases: a lease stays with its client after the body, for the next caller.

use super::short;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{self, Crash, Delete, GiveUp, Lose, Renew, Shutdown, Tear, Try};
use crate::server::Ticks;

/// How long after a grant a lease is handed over while waiters queue in Redis.
const MAX_LOCAL_TIME: Ticks = 2;

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "a lease is retained and taken again while another client comes; its range of tokens is exhausted; a \
            message before, while and after it is retained; pauses and expiry while it is":
            retained("retained", &[4, 1], &[]);
        "two clients retain leases": retained("retained by both", &[2, 2], &[]);
        "the next caller asks for another ttl": retained("retained, mixed ttls", &[3, 1], &[]) { mixed: 1 };
        "callers that do not wait, in the client that retains the lease and in another":
            retained("retained, attempts", &[2, 1], &[(Try, 1)]);
        "callers give up, before and after they have the retained lease":
            retained("retained, giving up", &[2, 1], &[(GiveUp, 1)]);
        "renewals before a lease is retained and after it is taken":
            retained("retained, renewal", &[2, 1], &[(Renew, 1)]);
        "a process ends while it retains a lease": retained("retained, crash", &[2, 1], &[(Crash, 1)]);
        "commands, answers and messages are lost around it": retained("retained, lost", &[2, 1], &[(Lose, 1)]);
        "the connection breaks before, while and after a lease is retained":
            retained("retained, torn", &[2, 1], &[(Tear, 1)]);
        "the client is shut down while it retains a lease":
            retained("retained, shutdown", &[2, 1], &[(Shutdown, 1)]);
        "the lock is deleted while its lease is retained":
            retained("retained, deleted", &[2, 1], &[(Delete, 1)]) { class: Class::Fenced };
    }
}

fn retained(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        local_turns: Some(MAX_LOCAL_TIME),
        retain: 1,
        turns: 3,
        ..short(name, calls, faults)
    }
}
