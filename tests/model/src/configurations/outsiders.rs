//! Other programs that use the same key.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    Delete, ForeignTake, ForeignTakeForever, GiveUp, Impair, LoseFence, LoseQueue, Renew, Revoke,
};
use crate::server::Mode;

pub(super) fn all() -> Vec<Configuration> {
    vec![
        Configuration {
            about: "a foreign client takes the lock at expiry or between two holders",
            ..configuration("foreign holder", &[1, 1], &[(ForeignTake, 2)])
        },
        Configuration {
            about: "a foreign client holds without a ttl",
            ..configuration(
                "eternal foreign holder",
                &[1, 1],
                &[(ForeignTakeForever, 1), (GiveUp, 1)],
            )
        },
        Configuration {
            about: "a foreign client deletes the lock",
            class: Class::Fenced,
            ..configuration("deleted", &[1, 1], &[(Delete, 2)])
        },
        Configuration {
            about: "an operator takes the lock away, twice",
            class: Class::Fenced,
            ..configuration("revoked", &[1, 1], &[(Revoke, 2), (Renew, 1)])
        },
        Configuration {
            about: "an operator takes the lock away, and the fence was lost",
            class: Class::Fenced,
            ..configuration(
                "revoked, evicted",
                &[1, 1],
                &[(Revoke, 1), (LoseFence, 1), (LoseQueue, 1)],
            )
        },
        Configuration {
            about: "a key of another type in the lock's place",
            class: Class::Fenced,
            modes: vec![Mode::LockWrong],
            ..configuration("wrong lock", &[2, 1], &[(Impair, 1)])
        },
    ]
}
