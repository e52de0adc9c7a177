//! Shares: readers, permits, writers, and locks that become shares.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    self, ClockAhead, ClockBack, Crash, Delete, Double, Downgrade, FailOver, Flush, ForeignTake,
    GiveUp, Impair, Lose, LoseQueue, LoseShares, Renew, Replicate, Revoke, Shutdown, Tear, Timeout,
    Unsubscribe,
};
use crate::server::{Mode, Share};

const READ: Share = Share::READ;

pub(super) fn all() -> Vec<Configuration> {
    vec![
        Configuration {
            about: "two readers and a writer, in every order, by the scripts that know nothing of shares",
            ..shares(
                "readers and a writer",
                &[1, 0, 0],
                &[&[], &[READ], &[READ]],
                &[],
            )
        },
        Configuration {
            about: "a writer whose end serves the readers behind it; a window of one share",
            writes: true,
            share_window: 1,
            ..shares(
                "readers and a writer's end",
                &[1, 0, 0],
                &[&[], &[READ], &[READ]],
                &[],
            )
        },
        Configuration {
            about: "renewals of shares",
            ..shares(
                "readers, renewal",
                &[0, 0],
                &[&[READ], &[READ]],
                &[(Renew, 2)],
            )
        },
        Configuration {
            about: "a share with a longer lease than the others leaves first",
            mixed: 1,
            ..shares(
                "readers of mixed ttls",
                &[0, 0],
                &[&[READ, READ], &[READ]],
                &[],
            )
        },
        Configuration {
            about: "permits of different takes and limits",
            ..shares(
                "permits",
                &[0, 0, 0],
                &[&[permit(2, 3)], &[permit(1, 3)], &[permit(1, 2)]],
                &[],
            )
        },
        Configuration {
            about: "permits beside a lock; a lock outlives its last share for a moment",
            rounding: 1,
            ..shares(
                "permits and a lock",
                &[1, 0, 0],
                &[&[], &[permit(1, 2)], &[permit(1, 2)]],
                &[],
            )
        },
        Configuration {
            about: "more lapsed shares than a script looks at",
            walk: 1,
            rounding: 1,
            ..shares(
                "permits, short walks",
                &[0, 0, 0],
                &[&[permit(1, 2)], &[permit(1, 2)], &[permit(1, 2)]],
                &[],
            )
        },
        Configuration {
            about: "a process ends that shares the lock, or waits",
            ..shares(
                "shares, crash",
                &[0, 0, 0],
                &[&[permit(1, 2)], &[permit(1, 2)], &[permit(1, 2)]],
                &[(Crash, 1)],
            )
        },
        Configuration {
            about: "commands, answers and announcements of shares are lost",
            ..shares("shares, lost", &[1, 0], &[&[], &[READ]], &[(Lose, 1)])
        },
        Configuration {
            about: "each command of a share doubled",
            ..shares(
                "shares, doubled",
                &[0, 0],
                &[&[READ], &[READ]],
                &[(Double, 1)],
            )
        },
        Configuration {
            about: "each command of a share doubled while another waits",
            ..shares(
                "permits, doubled",
                &[0, 0],
                &[&[READ], &[permit(1, 1)]],
                &[(Double, 1)],
            )
        },
        Configuration {
            about: "a share gives up while others wait behind it, or after it was granted",
            ..shares(
                "shares, giving up",
                &[0, 0],
                &[&[READ, permit(1, 1)], &[READ]],
                &[(GiveUp, 1)],
            )
        },
        Configuration {
            about: "commands of shares arrive after their connection broke",
            late: 1,
            window: 2,
            ..shares(
                "shares, torn",
                &[0, 0],
                &[&[READ], &[permit(1, 1)]],
                &[(Tear, 1), (GiveUp, 1)],
            )
        },
        Configuration {
            about: "answers later than the command's timeout; announcements of owners that ended",
            ..shares(
                "shares, late",
                &[0, 0],
                &[&[READ], &[permit(2, 2)]],
                &[(Timeout, 2), (GiveUp, 1)],
            )
        },
        Configuration {
            about: "announcements do not reach a client",
            ..shares(
                "shares, unsubscribed",
                &[1, 0],
                &[&[], &[READ]],
                &[(Unsubscribe, 1)],
            )
        },
        Configuration {
            about: "a cluster, where an announcement that arrives counts no receiver",
            publish_counts: false,
            ..shares(
                "shares, uncounted",
                &[1, 0, 0],
                &[&[], &[READ], &[READ]],
                &[],
            )
        },
        Configuration {
            about: "shutdown of shares",
            ..shares(
                "shares, shutdown",
                &[1, 0],
                &[&[], &[READ]],
                &[(Shutdown, 1)],
            )
        },
        Configuration {
            about: "the server forgets the scripts of shares",
            ..shares(
                "shares, forgotten scripts",
                &[1, 0],
                &[&[], &[READ]],
                &[(Flush, 2), (GiveUp, 1)],
            )
        },
        Configuration {
            about: "shares evicted, and the queue",
            ..shares(
                "shares, evicted",
                &[0, 0],
                &[&[READ], &[permit(1, 1)]],
                &[(LoseShares, 1), (LoseQueue, 1)],
            )
        },
        Configuration {
            about: "a lock deleted whose shares are left",
            class: Class::Fenced,
            ..shares(
                "shares, deleted",
                &[0, 0],
                &[&[permit(1, 1)], &[permit(1, 1)]],
                &[(Delete, 1)],
            )
        },
        Configuration {
            about: "an operator takes the lock from all that share it",
            class: Class::Fenced,
            ..shares(
                "shares, revoked",
                &[1, 0, 0],
                &[&[], &[READ], &[READ]],
                &[(Revoke, 1)],
            )
        },
        Configuration {
            about: "a failover brings shares back",
            class: Class::Fenced,
            ..shares(
                "shares, failover",
                &[1, 0],
                &[&[], &[READ]],
                &[(Replicate, 1), (FailOver, 1)],
            )
        },
        Configuration {
            about: "the clock jumps ahead, and back: lapsed shares count again",
            class: Class::Fenced,
            ..shares(
                "shares, clock",
                &[1, 0],
                &[&[], &[READ]],
                &[(ClockAhead, 1), (ClockBack, 1)],
            )
        },
        Configuration {
            about: "out of memory at each script of shares",
            modes: vec![Mode::OutOfMemory],
            ..shares(
                "shares, out of memory",
                &[1, 0],
                &[&[], &[READ]],
                &[(Impair, 1), (Renew, 1)],
            )
        },
        Configuration {
            about: "a slot that is being migrated",
            modes: vec![Mode::Migrating],
            writes: true,
            ..shares(
                "shares, migration",
                &[0, 0],
                &[&[READ], &[permit(1, 1)]],
                &[(Impair, 1)],
            )
        },
        Configuration {
            about: "fence or queue of a wrong type",
            modes: vec![Mode::FenceWrong, Mode::QueueWrong],
            writes: true,
            ..shares(
                "shares, wrong records",
                &[1, 0],
                &[&[], &[READ]],
                &[(Impair, 1)],
            )
        },
        Configuration {
            about: "another program takes the lock between two phases",
            ..shares(
                "shares, foreign holder",
                &[1, 0],
                &[&[], &[READ]],
                &[(ForeignTake, 1)],
            )
        },
        Configuration {
            about: "a lock becomes a share, and lets readers in",
            ..shares(
                "downgrade",
                &[1, 0, 0],
                &[&[], &[READ], &[READ]],
                &[(Downgrade, 1)],
            )
        },
        Configuration {
            about: "the command that makes a share of a lock is lost; renewals beside it",
            ..shares(
                "downgrade, lost",
                &[1, 0],
                &[&[], &[READ]],
                &[(Downgrade, 1), (Lose, 1), (Renew, 1)],
            )
        },
        Configuration {
            about: "the connection breaks while a lock becomes a share",
            late: 1,
            window: 2,
            ..shares(
                "downgrade, torn",
                &[1, 0],
                &[&[], &[READ]],
                &[(Downgrade, 1), (Tear, 1)],
            )
        },
        Configuration {
            about: "a local turn becomes a share",
            local_turns: Some(2),
            ..shares(
                "downgrade, turns",
                &[2, 0],
                &[&[], &[READ]],
                &[(Downgrade, 1)],
            )
        },
        Configuration {
            about: "a lock becomes a share later than its lease lasts, with another writer in between",
            delay: 2,
            writes: true,
            ..shares(
                "downgrade, writers",
                &[1, 1],
                &[&[], &[]],
                &[(Downgrade, 1)],
            )
        },
    ]
}

fn permit(take: u8, limit: u8) -> Share {
    Share { take, limit }
}

fn shares(
    name: &'static str,
    calls: &[u8],
    shares: &[&[Share]],
    faults: &[(Fault, u8)],
) -> Configuration {
    Configuration {
        shares: shares.iter().map(|shares| shares.to_vec()).collect(),
        claim: 1,
        live: 2,
        delay: 0,
        ..configuration(name, calls, faults)
    }
}
