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
            rest("rest", &[1, 1], &[]);
        "callers of the same process wait for the minimum, too": rest("rest, local queue", &[2, 1], &[]);
        "local turns and retained leases after the minimum":
            rest("rest, turns", &[3, 1], &[])
                { at_least: 1, ttl: 9, local_turns: Some(2), retain: 1, turns: 3, claim: 1, live: 2, delay: 0 };
        "a reader behind a writer with a minimum":
            rest("rest, reader", &[1, 0], &[]) { shares: vec![Vec::new(), vec![Share::READ]], writes: true };
        "renewals before the lock rests": rest("rest, renewal", &[1, 1], &[(Renew, 1)]);
        "the release lost, or its answer": rest("rest, lost", &[1, 1], &[(Lose, 1)]);
        "each command arrives twice": rest("rest, doubled", &[1, 1], &[(Double, 1)]);
        "answers later than the command's timeout": rest("rest, late", &[1, 1], &[(Timeout, 2)]);
        "commands of the holder arrive after the lock rests; a caller gives up before its body":
            rest("rest, torn", &[1, 1], &[(Tear, 1), (GiveUp, 1)]);
        "the server forgets the script": rest("rest, forgotten scripts", &[1, 1], &[(Flush, 2)]);
        "a process ends in its body, or while its lock rests": rest("rest, crash", &[1, 1], &[(Crash, 1)]);
        "the client is shut down in a body, or while its lock rests":
            rest("rest, shutdown", &[1, 1], &[(Shutdown, 1)]);
        "the lock deleted in a body": rest("rest, deleted", &[1, 1], &[(Delete, 1)]) { class: Class::Fenced };
        "an operator ends the rest of a lock, or takes it from a body":
            rest("rest, revoked", &[1, 1], &[(Revoke, 1)]) { class: Class::Fenced };
        "out of memory; a slot that is being migrated":
            rest("rest, impaired", &[1, 1], &[(Impair, 1)]) { modes: vec![Mode::OutOfMemory, Mode::Migrating] };
    }
}

fn rest(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        at_least: 4,
        ..configuration(name, calls, faults)
    }
}
