//! What the servers of a client cannot do, by their kind.

use std::time::Duration;

use crate::error::{LockError, LockErrorKind};
use crate::key::{Lock, OneOrMore, slot_of};

/// How long a quorum node that may have lost data has no vote by default.
pub(crate) const DEFAULT_RESTART_DELAY: Duration = Duration::from_secs(60);

/// What the servers of a client cannot do; refused before anything is sent. A memory client may have the same limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limits {
    None,
    /// The locks of one call must be on one node of a cluster.
    OneSlot,
    /// One lock for one holder, as in Redlock.
    Quorum {
        /// How long a node that may have lost data has no vote.
        restart_delay: Duration,
    },
}

impl Limits {
    /// Refuses an option of a call.
    pub(crate) fn require(self, feature: &str) -> Result<(), LockError> {
        match self {
            Limits::None | Limits::OneSlot => Ok(()),
            Limits::Quorum { .. } => Err(LockError::invalid_options(format!(
                "a quorum has no {feature}: use another client, on one server, a cluster or Sentinel, with other keys"
            ))),
        }
    }

    /// Refuses a lease that lasts longer than the restart delay: a node that lost it could vote for another owner
    /// meanwhile. Without a delay, no node ever loses a lease.
    pub(crate) fn check_ttl(self, ttl: Duration) -> Result<(), LockError> {
        match self {
            Limits::Quorum { restart_delay } if !restart_delay.is_zero() && ttl > restart_delay => {
                Err(LockError::invalid_options(format!(
                    "a ttl on a quorum must be at most its restart_delay, {restart_delay:?}, not {ttl:?}"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses locks in different slots, since one script cannot access them all.
    pub(crate) fn check_slots(self, locks: &OneOrMore<Lock>) -> Result<(), LockError> {
        let slot = slot_of(&locks.first().names.lock);
        let is_one_slot = locks.iter().all(|lock| slot_of(&lock.names.lock) == slot);
        if self == Limits::OneSlot && !is_one_slot {
            return Err(LockError::new(LockErrorKind::InvalidKey)
                .with_detail("the keys are in different slots: give them one hash tag"));
        }
        Ok(())
    }
}

/// Selects the kind of servers whose limits [`LockClient::memory_like`](crate::LockClient::memory_like) applies.
///
/// A table shows [which options work where](crate::docs::topologies#which-options-work-where).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Topology {
    /// One server, or a primary with replicas, with or without Sentinel: all options.
    Server,
    /// A cluster: the keys of one call must share a hash tag.
    Cluster,
    /// A majority of independent servers with a restart delay of 60 s: no readers, permits, several keys, `min_hold` or
    /// `runs`.
    Quorum,
}

impl From<Topology> for Limits {
    fn from(topology: Topology) -> Limits {
        match topology {
            Topology::Server => Limits::None,
            Topology::Cluster => Limits::OneSlot,
            Topology::Quorum => Limits::Quorum {
                restart_delay: DEFAULT_RESTART_DELAY,
            },
        }
    }
}
