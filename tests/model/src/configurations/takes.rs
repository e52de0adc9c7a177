//! Locks that are taken by a plain command, and tokens that their holders request later.

use super::short;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    self, ClockBehind, Crash, Delete, Double, GiveUp, Impair, Lose, LoseFence, Mint, MoveSlot,
    Renew, Revoke, Tear, Timeout, Try,
};
use crate::server::Mode;

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "a free lock is taken at once, a taken one by the script; tokens are minted early, late, and after the lease \
            is over":
            takes("takes", &[1, 1], &[(Mint, 2), (Renew, 1)]) { delay: 1 };
        "a process ends between the command and the mint; callers come before the queue when a holder is gone":
            takes("takes, crash", &[1, 1, 1], &[(Crash, 1), (Mint, 1)]);
        "a command or a mint that is lost, or whose answer is":
            takes("takes, lost", &[1, 1], &[(Lose, 2), (Mint, 2)]);
        "a command or a mint that arrives twice, also for a caller that makes one attempt":
            takes("takes, doubled", &[1, 1], &[(Double, 1), (Try, 1), (Mint, 1)]);
        "a command that arrives after the end of its owner; a mint that does":
            takes("takes, torn", &[1, 1], &[(Tear, 1), (GiveUp, 1), (Mint, 1)]) { late: 2 };
        "a command that is not answered in time": takes("takes, late", &[1, 1], &[(Timeout, 1), (GiveUp, 1), (Mint, 1)]);
        "a release by one command, which names the token that its client knows":
            takes("takes, deletes", &[1, 1], &[(Tear, 1), (Mint, 1)]) { deletes: true };
        "a lease without a token goes round inside a client, whose next turns have it minted":
            takes("takes, turns", &[3, 1], &[(Mint, 2)]) { local_turns: Some(2), delay: 1 };
        "such a lease is retained":
            takes("takes, retained", &[3, 1], &[(Mint, 1)]) { ttl: 3, local_turns: Some(2), retain: 1, turns: 3 };
        "the clock is behind the last token":
            takes("takes, clock behind", &[1, 1], &[(ClockBehind, 1), (Mint, 2)]);
        "the fence is lost between the command and the mint":
            takes("takes, evicted", &[1, 1], &[(LoseFence, 1), (Mint, 2)]);
        "out of memory at each command":
            takes("takes, out of memory", &[1, 1], &[(Impair, 1), (Mint, 1)]) { modes: vec![Mode::OutOfMemory] };
        "the slot moves between the command and the mint":
            takes("takes, slot moves", &[1, 1], &[(MoveSlot, 1), (Mint, 1)]) { confirms: true };
        "the lock is deleted: a mint after the loss":
            takes("takes, deleted", &[1, 1], &[(Delete, 1), (Mint, 2)]) { class: Class::Fenced };
        "an operator takes away a lock without a token":
            takes("takes, revoked", &[1, 1], &[(Revoke, 2), (Mint, 1)]) { class: Class::Fenced };
    }
}

fn takes(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        takes: true,
        ttl: 2,
        late: 1,
        ..short(name, calls, faults)
    }
}
