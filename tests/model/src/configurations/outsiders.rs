//! Other programs that use the same key.

use super::configuration;
use crate::configuration::{Class, Configuration};
use crate::faults::Fault::{
    Delete, ForeignTake, ForeignTakeForever, GiveUp, Impair, LoseFence, LoseQueue, Renew, Revoke,
};
use crate::server::Mode;

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "a foreign client takes the lock at expiry or between two holders":
            configuration("foreign holder", &[1, 1], &[(ForeignTake, 2)]);
        "a foreign client holds without a ttl":
            configuration("eternal foreign holder", &[1, 1], &[(ForeignTakeForever, 1), (GiveUp, 1)]);
        "a foreign client deletes the lock":
            configuration("deleted", &[1, 1], &[(Delete, 2)]) { class: Class::Fenced };
        "an operator takes the lock away, twice":
            configuration("revoked", &[1, 1], &[(Revoke, 2), (Renew, 1)]) { class: Class::Fenced };
        "an operator takes the lock away, and the fence was lost":
            configuration("revoked, evicted", &[1, 1], &[(Revoke, 1), (LoseFence, 1), (LoseQueue, 1)])
                { class: Class::Fenced };
        "a key of another type in the lock's place":
            configuration("wrong lock", &[2, 1], &[(Impair, 1)])
                { class: Class::Fenced, modes: vec![Mode::LockWrong] };
    }
}
