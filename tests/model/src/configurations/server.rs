//! A server that restarts, lacks memory, migrates or loses keys, or has a wrong clock.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    ClockAhead, ClockBack, ClockBehind, FailOver, GiveUp, Impair, LoseFence, LoseQueue, Renew,
    Replicate, Restart, RestartEmpty,
};
use crate::server::Mode;

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "a restart that keeps everything but scripts and connections":
            configuration("restart", &[1, 1], &[(Restart, 1)]);
        "a restart without data":
            configuration("empty restart", &[1, 1], &[(RestartEmpty, 1)]) { class: Class::Fenced };
        "failover dropping any suffix of history; resurrected entries":
            configuration("failover", &[1, 1], &[(Replicate, 1), (FailOver, 1)]) { class: Class::Fenced };
        "the clock jumps ahead, and back":
            configuration("clock", &[1, 1], &[(ClockAhead, 1), (ClockBack, 1)]) { class: Class::Fenced };
        "the clock is behind the last token, and the fence is kept":
            configuration("clock behind", &[1, 1], &[(ClockBehind, 1), (Renew, 1)]);
        "the fence evicted or expired, the queue evicted, the clock in order":
            configuration("evicted", &[1, 1], &[(LoseFence, 2), (LoseQueue, 1)]);
        "out of memory at each script":
            configuration("out of memory", &[1, 1], &[(Impair, 1), (Renew, 1), (GiveUp, 1)])
                { modes: vec![Mode::OutOfMemory] };
        "a slot that is being migrated, with all keys here or some of them missing":
            configuration("migration", &[1, 1], &[(Impair, 1), (Renew, 1)]) { modes: vec![Mode::Migrating] };
        "the same with a successor named":
            configuration("migration with a successor", &[2, 1], &[(Impair, 1)]) { modes: vec![Mode::Migrating] };
        "the fence of a wrong type, with a successor named":
            configuration("wrong fence", &[2, 1], &[(Impair, 1)]) { modes: vec![Mode::FenceWrong] };
        "the queue of a wrong type, with a successor named":
            configuration("wrong queue", &[2, 1], &[(Impair, 1)]) { modes: vec![Mode::QueueWrong] };
    }
}
