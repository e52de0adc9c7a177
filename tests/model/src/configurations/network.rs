//! Messages that are lost, doubled, late, or on their way when a connection breaks.

use super::configuration;
use crate::configuration::Configuration;
use crate::faults::Fault::{Double, Flush, GiveUp, Lose, Renew, Tear, Timeout};

pub(super) fn all() -> Vec<Configuration> {
    vec![
        Configuration {
            about: "each command lost, each reply lost; a release unanswered past the deadline",
            ..configuration("lost", &[1, 1], &[(Lose, 2)])
        },
        Configuration {
            about: "an end that names a successor, lost or unanswered",
            ttl: 2,
            live: 2,
            ..configuration("lost with a successor", &[2, 1], &[(Lose, 1)])
        },
        Configuration {
            about: "renewals lost, late, and after the release",
            ..configuration("lost renewals", &[1, 1], &[(Lose, 1), (Renew, 2)])
        },
        Configuration {
            about: "each command doubled",
            ..configuration("doubled", &[1, 1, 1], &[(Double, 1)])
        },
        Configuration {
            about: "an end that names a successor doubled, and its first answer lost",
            live: 2,
            ..configuration("doubled with a successor", &[2, 1], &[(Double, 1)])
        },
        Configuration {
            about: "answers later than the command's timeout; a late acquire before its own end",
            ..configuration("late", &[1, 1], &[(Timeout, 1), (GiveUp, 1)])
        },
        unknown("unknown announcements", false),
        unknown("unknown announcements, forgotten", true),
        Configuration {
            about: "each command delayed past a teardown or lost with it; a late acquire after its \
                    own confirmed release",
            ..configuration("torn", &[1, 1], &[(Tear, 2)])
        },
        Configuration {
            about: "the same while a caller gives up",
            ..configuration("torn, giving up", &[1, 1], &[(Tear, 1), (GiveUp, 1)])
        },
        Configuration {
            about: "the same with a successor named",
            ttl: 2,
            claim: 1,
            live: 2,
            late: 1,
            window: 2,
            delay: 0,
            ..configuration("torn with a successor", &[2, 1], &[(Tear, 1)])
        },
        Configuration {
            about: "the same with a next caller that asks for a longer ttl",
            ttl: 4,
            mixed: -1,
            claim: 1,
            live: 2,
            late: 1,
            window: 2,
            delay: 0,
            ..configuration("torn, mixed ttls", &[2], &[(Tear, 1), (GiveUp, 1)])
        },
        Configuration {
            about: "the server forgets its scripts at any time: between an acquire and its dropped \
                    future's end, too",
            ..configuration("forgotten scripts", &[1, 1], &[(Flush, 2), (GiveUp, 1)])
        },
    ]
}

/// An owner is forgotten while a message that names it is on its way.
fn unknown(name: &'static str, forgets: bool) -> Configuration {
    Configuration {
        about: "announcements of owners that ended, which are ended again or ignored",
        forgets,
        ttl: 2,
        claim: 1,
        live: 2,
        delay: 0,
        ..configuration(name, &[1, 1], &[(Timeout, 2), (GiveUp, 1)])
    }
}
