//! Messages that are lost, duplicated, late, or in flight when a connection breaks.

use super::{configuration, short};
use crate::configuration::Configuration;
use crate::faults::Fault::{Double, Flush, GiveUp, Lose, Renew, Tear, Timeout};

pub(super) fn all() -> Vec<Configuration> {
    let unknown = [false, true].map(unknown).to_vec();
    let others = configurations! {
        "each command lost, each reply lost; a release unanswered past the deadline":
            configuration("lost", &[1, 1], &[(Lose, 2)]);
        "an end that names a successor, lost or unanswered":
            configuration("lost with a successor", &[2, 1], &[(Lose, 1)]) { ttl: 2, live: 2 };
        "renewals lost, late, and after the release":
            configuration("lost renewals", &[1, 1], &[(Lose, 1), (Renew, 2)]);
        "each command doubled": configuration("doubled", &[1, 1, 1], &[(Double, 1)]);
        "an end that names a successor doubled, and its first answer lost":
            configuration("doubled with a successor", &[2, 1], &[(Double, 1)]) { live: 2 };
        "answers later than the command's timeout; a late acquire before its own end":
            configuration("late", &[1, 1], &[(Timeout, 1), (GiveUp, 1)]);
        "each command delayed past a teardown or lost with it; a late acquire after its own confirmed release":
            configuration("torn", &[1, 1], &[(Tear, 2)]);
        "the same while a caller gives up": configuration("torn, giving up", &[1, 1], &[(Tear, 1), (GiveUp, 1)]);
        "the same with a successor named":
            configuration("torn with a successor", &[2, 1], &[(Tear, 1)])
                { ttl: 2, claim: 1, live: 2, late: 1, delay: 0 };
        "the same with a next caller that asks for a longer ttl":
            configuration("torn, mixed ttls", &[2], &[(Tear, 1), (GiveUp, 1)])
                { ttl: 4, mixed: -1, claim: 1, live: 2, late: 1, delay: 0 };
        "the server forgets its scripts at any time: between an acquire and its dropped future's end, too":
            configuration("forgotten scripts", &[1, 1], &[(Flush, 2), (GiveUp, 1)]);
    };
    [others, unknown].concat()
}

/// An owner is forgotten while a message that names it is in flight.
fn unknown(forgets: bool) -> Configuration {
    let name = if forgets {
        "unknown announcements, forgotten"
    } else {
        "unknown announcements"
    };
    Configuration {
        about: "announcements of owners that ended, which are ended again or ignored",
        forgets,
        ttl: 2,
        ..short(name, &[1, 1], &[(Timeout, 2), (GiveUp, 1)])
    }
}
