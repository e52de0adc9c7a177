//! Calls that take two locks together, in one order everywhere.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{self, Crash, Delete, DeleteBeside, GiveUp, Renew, Tear};

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "callers that name the locks in opposite orders":
            several("several, opposite orders", &[])
                { calls: vec![2, 2], together: &[BOTH, REVERSED], recovers: Some(1) };
        "a caller of both against one of each":
            several("several, one lock each", &[])
                { calls: vec![1, 1, 1], together: &[BOTH, &[0], &[1]], recovers: Some(256) };
        "renewals of both": several("several, renewal", &[(Renew, 2)]) { together: &[BOTH, &[1]] };
        "a caller gives up that has the first lock":
            several("several, giving up", &[(GiveUp, 1)]) { together: &[BOTH, &[1]] };
        "a process ends that has one lock, or both":
            several("several, crash", &[(Crash, 1)]) { together: &[BOTH, REVERSED] };
        "answers are lost, and commands arrive late":
            several("several, torn", &[(Tear, 1)]) { together: &[BOTH, &[1]], recovers: Some(256) };
        "either lock is deleted":
            several("several, deleted", DELETED) { together: &[BOTH, REVERSED], class: Class::Fenced };
        "either lock is deleted, and a renewal finds the other one":
            several("several, deleted, renewal", &[DELETED, &[(Renew, 1)]].concat())
                { together: &[BOTH, &[1]], class: Class::Fenced };
    }
}

const BOTH: &[u8] = &[0, 1];
const REVERSED: &[u8] = &[1, 0];

const DELETED: &[(Fault, u8)] = &[(Delete, 1), (DeleteBeside, 1)];

/// Polls come at any time, so no message about a grant is needed.
pub(super) fn several(name: &'static str, faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        ttl: 2,
        claim: 1,
        late: 1,
        recovers: Some(16),
        ..configuration(name, &[1, 1], faults)
    }
}
