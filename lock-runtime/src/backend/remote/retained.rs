//! Leases that stay with their client for a while after the body, for its next caller. Time is an
//! argument.
//!
//! No caller has a retained lease, so it is not renewed, not confirmed, and no caller is told of its
//! loss. Its owner still heads its line, and nobody waits behind it: the next caller of the lock takes
//! the lease or ends it. What makes it doubtful, a connection that breaks, ends its time.

use std::collections::BTreeSet;

use foldhash::HashMap;

use crate::backend::remote::registry::{Entry, Tenure};
use crate::background::moment::Moment;
use crate::key::{ByLock, LockName};
use crate::lease::owner_id::{AcquisitionId, OwnerId};

/// The retained leases of a client.
#[derive(Debug, Default)]
pub(crate) struct RetainedLeases {
    by_lock: ByLock<RetainedLease>,
    /// The locks of the owners that messages and answers name.
    locks: HashMap<AcquisitionId, LockName>,
    /// Each lease by the moment in which its time is over.
    agenda: BTreeSet<(Moment, AcquisitionId)>,
    /// The client ends: no lease is retained any more.
    is_closed: bool,
}

#[derive(Debug)]
struct RetainedLease {
    entry: Box<Entry>,
    until: Moment,
}

impl RetainedLeases {
    /// Whether the client ends.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Retains a lease until then.
    pub(crate) fn insert(&mut self, entry: Box<Entry>, until: Moment) {
        let owner = &entry.tenure.owner;
        let acquisition = owner.id().acquisition();
        let lock = owner.names.lock.clone();
        self.agenda.insert((until, acquisition));
        self.locks.insert(acquisition, lock.clone());
        self.by_lock.insert(lock, RetainedLease { entry, until });
    }

    /// The lease of a lock, and until when it is retained.
    pub(crate) fn get(&self, lock: &LockName) -> Option<(&Tenure, Moment)> {
        let schedule = self.by_lock.get(lock)?;
        Some((&schedule.entry.tenure, schedule.until))
    }

    /// Takes the lease of a lock out, for its next caller.
    pub(crate) fn take(&mut self, lock: &LockName) -> Option<Box<Entry>> {
        let RetainedLease { entry, until } = self.by_lock.remove(lock)?;
        let acquisition = entry.tenure.owner.id().acquisition();
        self.locks.remove(&acquisition);
        self.agenda.remove(&(until, acquisition));
        Some(entry)
    }

    /// Takes the lease of a lock out, to be ended.
    pub(crate) fn remove(&mut self, lock: &LockName) -> Option<Tenure> {
        self.take(lock).map(|entry| entry.tenure)
    }

    /// Takes the lease of an owner out, to be ended.
    pub(crate) fn remove_owner(&mut self, owner_id: OwnerId) -> Option<Tenure> {
        let lock = self.locks.get(&owner_id.acquisition())?.clone();
        self.remove(&lock)
    }

    /// Takes those out whose time is over, to be ended.
    pub(crate) fn remove_expired(&mut self, now: Moment) -> Vec<Tenure> {
        let mut expired = Vec::new();
        while let Some(&(until, acquisition)) = self.agenda.first()
            && until <= now
        {
            let lock = self.locks.get(&acquisition).cloned();
            expired.extend(lock.and_then(|lock| self.remove(&lock)));
        }
        expired
    }

    /// The time of all of them is over.
    pub(crate) fn expire(&mut self) {
        for schedule in self.by_lock.values_mut() {
            schedule.until = Moment::FIRST;
        }
        let agenda = std::mem::take(&mut self.agenda).into_iter();
        self.agenda = agenda
            .map(|(_, acquisition)| (Moment::FIRST, acquisition))
            .collect();
    }

    /// Retains no lease from now on, and takes those out that there are.
    pub(crate) fn close(&mut self) -> Vec<Tenure> {
        self.is_closed = true;
        self.expire();
        self.remove_expired(Moment::FIRST)
    }

    /// When the time of the first one is over.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.agenda.first().map(|&(until, _)| until)
    }
}
