//! Locks that stay taken for a minimum although their bodies are over.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    self, Crash, Delete, Double, Flush, GiveUp, Impair, Lose, Renew, Revoke, Shutdown, Tear,
    Timeout,
};
use crate::server::{Mode, Share};

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "a body that is done before its minimum, or after it; pauses before and after the release":
            reserve("reserve", &[1, 1], &[]);
        "callers of the same process wait for the minimum, too": reserve("reserve, local queue", &[2, 1], &[]);
        "local turns and retained leases after the minimum":
            reserve("reserve, turns", &[3, 1], &[])
                { at_least: 1, ttl: 9, local_turns: Some(2), retain: 1, turns: 3, claim: 1, live: 2, delay: 0 };
        "a reader behind a writer with a minimum":
            reserve("reserve, reader", &[1, 0], &[]) { shares: vec![Vec::new(), vec![Share::READ]], writes: true };
        "renewals before the lock is reserved": reserve("reserve, renewal", &[1, 1], &[(Renew, 1)]);
        "the release lost, or its answer": reserve("reserve, lost", &[1, 1], &[(Lose, 1)]);
        "each command arrives twice": reserve("reserve, doubled", &[1, 1], &[(Double, 1)]);
        "answers later than the command's timeout": reserve("reserve, late", &[1, 1], &[(Timeout, 2)]);
        "commands of the holder arrive after the lock is reserved; a caller gives up before its body":
            reserve("reserve, torn", &[1, 1], &[(Tear, 1), (GiveUp, 1)]);
        "the server forgets the script": reserve("reserve, forgotten scripts", &[1, 1], &[(Flush, 2)]);
        "a process ends in its body, or while its lock is reserved": reserve("reserve, crash", &[1, 1], &[(Crash, 1)]);
        "the client is shut down in a body, or while its lock is reserved":
            reserve("reserve, shutdown", &[1, 1], &[(Shutdown, 1)]);
        "the lock deleted in a body": reserve("reserve, deleted", &[1, 1], &[(Delete, 1)]) { class: Class::Fenced };
        "an operator ends the reservation of a lock, or takes it from a body":
            reserve("reserve, revoked", &[1, 1], &[(Revoke, 1)]) { class: Class::Fenced };
        "out of memory; a slot that is being migrated":
            reserve("reserve, impaired", &[1, 1], &[(Impair, 1)]) { modes: vec![Mode::OutOfMemory, Mode::Migrating] };
    }
}

fn reserve(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        at_least: 4,
        ..configuration(name, calls, faults)
    }
}
