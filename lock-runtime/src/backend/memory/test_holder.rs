//! Lets a test occupy locks, or take them from their holders.

use std::time::Duration;

use crate::backend::memory::Memory;
use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::refusal::Refusal;
use crate::backend::memory::store::store_request::{Ask, LockOwner};
use crate::background::clock::Clock;
use crate::error::LockError;
use crate::lease::LossReason;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::LeaseTerms;

/// A holder without a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestHolder(OwnerId);

impl Memory {
    /// Grants a free lock to a test holder, which keeps it until its test releases it.
    pub(crate) fn occupy(
        &self,
        key: &str,
        label: &str,
        ttl: Duration,
    ) -> Result<TestHolder, LockError> {
        let ask = Ask {
            key,
            label: &label.into(),
            share: None,
            terms: LeaseTerms {
                ttl,
                renew: true,
                max_hold: None,
                retain: Duration::ZERO,
                min_hold_ms: 0,
            },
            owner: None,
            queue_with: None,
        };
        let now = Clock::Tokio.now();
        let outcome = self.store.decide(|store| store.acquire(&ask, now));
        outcome
            .map(|grant| TestHolder(grant.owner))
            .map_err(|held| Refusal::Busy(held).into_error(now))
    }

    /// Disconnects callers from the store until this is [mended](Memory::mend).
    pub(crate) fn cut(&self) {
        self.reach.cut();
    }

    /// Ends one disconnect.
    pub(crate) fn mend(&self) {
        self.reach.mend();
    }

    /// Releases the lock of a test holder.
    pub(crate) fn vacate(&self, key: &str, TestHolder(id): TestHolder) {
        let now = Clock::Tokio.now();
        self.store
            .decide(|store| store.release(LockOwner { key, id }, now));
    }

    /// Ends the leases of a lock's holders, and grants the lock to the next waiter. Returns `false` if no holder has a
    /// lease.
    pub(crate) fn revoke(&self, key: &str) -> bool {
        let now = Clock::Tokio.now();
        let mut leases: Vec<_> = self.store.decide(|store| {
            let watches = store.watches_of(key, now);
            watches.map(|watches| watches.filter_map(LeaseWatch::lease).collect())
        });
        leases.retain(|lease| lease.loss().is_none());
        // Without the mutex: subscribers run here, and may ask for locks.
        for lease in &leases {
            lease.lose(LossReason::NotOurs);
        }
        for lease in &leases {
            self.free(lease);
        }
        !leases.is_empty()
    }
}
