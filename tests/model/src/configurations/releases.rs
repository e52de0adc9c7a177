//! Releases by a command that compares and deletes, instead of the script.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{Delete, Double, FailOver, GiveUp, Lose, Renew, Replicate, Tear};

pub(super) fn all() -> Vec<Configuration> {
    let all = configurations! {
        "a waiter sets the flag before the release, or after it was sent":
            configuration("deletes, three clients", &[1, 1, 1], &[]) { live: 2 };
        "the release lost, or its answer": configuration("deletes, lost", &[1, 1], &[(Lose, 1), (Renew, 1)]);
        "the release arrives twice": configuration("deletes, doubled", &[1, 1], &[(Double, 1)]);
        "the release is delayed past a teardown, while a caller gives up":
            configuration("deletes, torn", &[1, 1], &[(Tear, 1), (GiveUp, 1)]);
        "a foreign client deletes the lock before its release":
            configuration("deletes, deleted", &[1, 1], &[(Delete, 1)]) { class: Class::Fenced };
        "a failover brings an older record back":
            configuration("deletes, failover", &[1, 1], &[(Replicate, 1), (FailOver, 1)])
                { class: Class::Fenced };
        "the record has the first token of a grant that has served several callers":
            configuration("deletes, turns", &[2, 1], &[]) { local_turns: Some(2) };
    };
    let deletes = |configuration| Configuration {
        deletes: true,
        ..configuration
    };
    all.into_iter().map(deletes).collect()
}
