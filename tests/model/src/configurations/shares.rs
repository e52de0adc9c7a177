//! Shares: readers, permits, writers, and locks that become shares.

use super::short;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    self, ClockAhead, ClockBack, Crash, Delete, Double, Downgrade, FailOver, Flush, ForeignTake,
    GiveUp, Impair, Lose, LoseQueue, LoseShares, Renew, Replicate, Revoke, Shutdown, Tear, Timeout,
    Unsubscribe,
};
use crate::server::{Mode, Share};

const READ: Share = Share::READ;

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "two readers and a writer, in every order, by the scripts that know nothing of shares":
            shares("readers and a writer", &[1, 0, 0], &[&[], &[READ], &[READ]], &[]);
        "a writer whose end serves the readers behind it; a window of one share":
            shares("readers and a writer's end", &[1, 0, 0], &[&[], &[READ], &[READ]], &[])
                { writes: true, share_window: 1 };
        "the same while another caller of the writer's process waits: it comes behind the readers":
            shares("readers behind two writers", &[2, 0, 0], &[&[], &[READ], &[READ]], &[]) { writes: true };
        "renewals of shares": shares("readers, renewal", &[0, 0], &[&[READ], &[READ]], &[(Renew, 2)]);
        "a share with a longer lease than the others leaves first":
            shares("readers of mixed ttls", &[0, 0], &[&[READ, READ], &[READ]], &[]) { mixed: 1 };
        "permits of different takes and limits":
            shares("permits", &[0, 0, 0], &[&[permit(2, 3)], &[permit(1, 3)], &[permit(1, 2)]], &[]);
        "permits beside a lock; a lock outlives its last share for a moment":
            shares("permits and a lock", &[1, 0, 0], &[&[], &[permit(1, 2)], &[permit(1, 2)]], &[])
                { rounding: 1 };
        "more lapsed shares than a script looks at":
            shares("permits, short walks", &[0, 0, 0], &[&[permit(1, 2)], &[permit(1, 2)], &[permit(1, 2)]], &[])
                { walk: 1, rounding: 1 };
        "a process ends that shares the lock, or waits":
            shares("shares, crash", &[0, 0, 0], &[&[permit(1, 2)], &[permit(1, 2)], &[permit(1, 2)]],
                &[(Crash, 1)]);
        "a process ends, or is paused, that waits for the lock alone between readers. A window of one share, and a waiter \
            counts as alive for longer than others wait for one that is absent":
            shares("readers and an absent writer", &[0, 1, 0], &[&[READ], &[], &[READ]], &[(Crash, 1)])
                { ttl: 2, live: 5, share_window: 1, recovers: Some(16) };
        "commands, answers and announcements of shares are lost":
            shares("shares, lost", &[1, 0], &[&[], &[READ]], &[(Lose, 1)]);
        "each command of a share doubled":
            shares("shares, doubled", &[0, 0], &[&[READ], &[READ]], &[(Double, 1)]);
        "each command of a share doubled while another waits":
            shares("permits, doubled", &[0, 0], &[&[READ], &[permit(1, 1)]], &[(Double, 1)]);
        "a share gives up while others wait behind it, or after it was granted":
            shares("shares, giving up", &[0, 0], &[&[READ, permit(1, 1)], &[READ]], &[(GiveUp, 1)]);
        "commands of shares arrive after their connection broke":
            shares("shares, torn", &[0, 0], &[&[READ], &[permit(1, 1)]], &[(Tear, 1), (GiveUp, 1)])
                { late: 1 };
        "answers later than the command's timeout; announcements of owners that ended":
            shares("shares, late", &[0, 0], &[&[READ], &[permit(2, 2)]], &[(Timeout, 2), (GiveUp, 1)]);
        "announcements do not reach a client":
            shares("shares, unsubscribed", &[1, 0], &[&[], &[READ]], &[(Unsubscribe, 1)]);
        "a cluster, where an announcement that arrives counts no receiver":
            shares("shares, uncounted", &[1, 0, 0], &[&[], &[READ], &[READ]], &[]) { publish_counts: false };
        "shutdown of shares": shares("shares, shutdown", &[1, 0], &[&[], &[READ]], &[(Shutdown, 1)]);
        "the server forgets the scripts of shares":
            shares("shares, forgotten scripts", &[1, 0], &[&[], &[READ]], &[(Flush, 2), (GiveUp, 1)]);
        "shares evicted, and the queue":
            shares("shares, evicted", &[0, 0], &[&[READ], &[permit(1, 1)]], &[(LoseShares, 1), (LoseQueue, 1)]);
        "a lock deleted whose shares are left":
            shares("shares, deleted", &[0, 0], &[&[permit(1, 1)], &[permit(1, 1)]], &[(Delete, 1)])
                { class: Class::Fenced };
        "an operator takes the lock from all that share it":
            shares("shares, revoked", &[1, 0, 0], &[&[], &[READ], &[READ]], &[(Revoke, 1)])
                { class: Class::Fenced };
        "a failover brings shares back":
            shares("shares, failover", &[1, 0], &[&[], &[READ]], &[(Replicate, 1), (FailOver, 1)])
                { class: Class::Fenced };
        "the clock jumps ahead, and back: lapsed shares count again":
            shares("shares, clock", &[1, 0], &[&[], &[READ]], &[(ClockAhead, 1), (ClockBack, 1)])
                { class: Class::Fenced };
        "out of memory at each script of shares":
            shares("shares, out of memory", &[1, 0], &[&[], &[READ]], &[(Impair, 1), (Renew, 1)])
                { modes: vec![Mode::OutOfMemory] };
        "a slot that is being migrated":
            shares("shares, migration", &[0, 0], &[&[READ], &[permit(1, 1)]], &[(Impair, 1)])
                { modes: vec![Mode::Migrating], writes: true };
        "fence or queue of a wrong type":
            shares("shares, wrong records", &[1, 0], &[&[], &[READ]], &[(Impair, 1)])
                { modes: vec![Mode::FenceWrong, Mode::QueueWrong], writes: true };
        "another program takes the lock between two phases":
            shares("shares, foreign holder", &[1, 0], &[&[], &[READ]], &[(ForeignTake, 1)]);
        "a lock becomes a share, and lets readers in":
            shares("downgrade", &[1, 0, 0], &[&[], &[READ], &[READ]], &[(Downgrade, 1)]);
        "the command that makes a share of a lock is lost; renewals beside it":
            shares("downgrade, lost", &[1, 0], &[&[], &[READ]], &[(Downgrade, 1), (Lose, 1), (Renew, 1)]);
        "the connection breaks while a lock becomes a share":
            shares("downgrade, torn", &[1, 0], &[&[], &[READ]], &[(Downgrade, 1), (Tear, 1)])
                { late: 1 };
        "a local turn becomes a share":
            shares("downgrade, turns", &[2, 0], &[&[], &[READ]], &[(Downgrade, 1)]) { local_turns: Some(2) };
        "a lock becomes a share later than its lease lasts, with another writer in between":
            shares("downgrade, writers", &[1, 1], &[&[], &[]], &[(Downgrade, 1)]) { delay: 2, writes: true };
        "a lock is deleted, and another writer comes and goes, before its holder becomes a reader":
            shares("downgrade, deleted", &[1, 1], &[&[], &[]], &[(Downgrade, 1), (Delete, 1)])
                { writes: true, class: Class::Fenced };
    }
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
        ..short(name, calls, faults)
    }
}
