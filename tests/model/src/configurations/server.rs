//! A server that restarts, lacks memory, migrates or loses keys, or has a wrong clock.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    ClockAhead, ClockBack, ClockBehind, FailOver, GiveUp, Impair, LoseFence, LoseQueue, Renew,
    Replicate, Restart, RestartEmpty,
};
use crate::server::Mode;

pub(super) fn all() -> Vec<Configuration> {
    vec![
        Configuration {
            about: "a restart that keeps everything but scripts and connections",
            ..configuration("restart", &[1, 1], &[(Restart, 1)])
        },
        Configuration {
            about: "a restart without data",
            class: Class::Fenced,
            ..configuration("empty restart", &[1, 1], &[(RestartEmpty, 1)])
        },
        Configuration {
            about: "failover dropping any suffix of history; resurrected entries",
            class: Class::Fenced,
            ..configuration("failover", &[1, 1], &[(Replicate, 1), (FailOver, 1)])
        },
        Configuration {
            about: "the clock jumps ahead, and back",
            class: Class::Fenced,
            ..configuration("clock", &[1, 1], &[(ClockAhead, 1), (ClockBack, 1)])
        },
        Configuration {
            about: "the clock is behind the last token, and the fence is kept",
            ..configuration("clock behind", &[1, 1], &[(ClockBehind, 1), (Renew, 1)])
        },
        Configuration {
            about: "the fence evicted or expired, the queue evicted, the clock in order",
            ..configuration("evicted", &[1, 1], &[(LoseFence, 2), (LoseQueue, 1)])
        },
        Configuration {
            about: "out of memory at each script",
            modes: vec![Mode::OutOfMemory],
            ..configuration(
                "out of memory",
                &[1, 1],
                &[(Impair, 1), (Renew, 1), (GiveUp, 1)],
            )
        },
        Configuration {
            about: "a slot that is being migrated, with all keys here or some of them missing",
            modes: vec![Mode::Migrating],
            ..configuration("migration", &[1, 1], &[(Impair, 1), (Renew, 1)])
        },
        Configuration {
            about: "the same with a successor named",
            modes: vec![Mode::Migrating],
            ..configuration("migration with a successor", &[2, 1], &[(Impair, 1)])
        },
        Configuration {
            about: "the fence of a wrong type, with a successor named",
            modes: vec![Mode::FenceWrong],
            ..configuration("wrong fence", &[2, 1], &[(Impair, 1)])
        },
        Configuration {
            about: "the queue of a wrong type, with a successor named",
            modes: vec![Mode::QueueWrong],
            ..configuration("wrong queue", &[2, 1], &[(Impair, 1)])
        },
    ]
}
