//! Leases that stay with their client for a while after the body, for the next caller. Time is an argument.
//!
//! No caller holds a retained lease, so it is neither renewed nor confirmed, and its loss is not reported. Its owner
//! still heads the local queue, where no caller waits: the next caller of the lock takes the lease or ends it. A broken
//! connection would put the lease in doubt, and therefore ends its retention.

use std::collections::BTreeSet;

use foldhash::HashMap;

use crate::backend::remote::lease_entry::LeaseEntry;
use crate::background::moment::Moment;
use crate::key::{ByLock, LockName};
use crate::lease::owner_id::{AcquisitionId, OwnerId};

/// The retained leases of a client.
#[derive(Debug, Default)]
pub(crate) struct RetainedLeases {
    by_lock: ByLock<RetainedLease>,
    /// The locks by owner, since messages and replies name only the owner.
    locks: HashMap<AcquisitionId, LockName>,
    /// The leases, sorted by the end of their retention.
    agenda: BTreeSet<(Moment, AcquisitionId)>,
    /// Whether the client has shut down, so that it no longer retains leases.
    is_closed: bool,
}

#[derive(Debug)]
struct RetainedLease {
    entry: Box<LeaseEntry>,
    until: Moment,
}

impl RetainedLeases {
    /// Returns whether the client has shut down.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Retains a lease until `until`.
    pub(crate) fn insert(&mut self, entry: Box<LeaseEntry>, until: Moment) {
        let id = entry.id();
        let lock = entry.owner.names.first().lock.clone();
        self.agenda.insert((until, id));
        self.locks.insert(id, lock.clone());
        self.by_lock.insert(lock, RetainedLease { entry, until });
    }

    /// Returns the retained lease of a lock, and the end of its retention.
    pub(crate) fn get(&self, lock: &LockName) -> Option<(&LeaseEntry, Moment)> {
        let lease = self.by_lock.get(lock)?;
        Some((&lease.entry, lease.until))
    }

    /// Removes the retained lease of a lock. The next caller takes it or ends it.
    pub(crate) fn remove(&mut self, lock: &LockName) -> Option<Box<LeaseEntry>> {
        let RetainedLease { entry, until } = self.by_lock.remove(lock)?;
        self.locks.remove(&entry.id());
        self.agenda.remove(&(until, entry.id()));
        Some(entry)
    }

    /// Removes the retained lease of an owner. It must be released.
    pub(crate) fn remove_owner(&mut self, owner_id: OwnerId) -> Option<Box<LeaseEntry>> {
        let lock = self.locks.get(&owner_id.acquisition())?.clone();
        self.remove(&lock)
    }

    /// Removes the leases whose retention is over. They must be released.
    #[expect(
        clippy::vec_box,
        reason = "they are boxed where they come from and go to"
    )]
    pub(crate) fn remove_expired(&mut self, now: Moment) -> Vec<Box<LeaseEntry>> {
        let mut expired = Vec::new();
        while let Some(&(until, id)) = self.agenda.first()
            && until <= now
        {
            let lock = self.locks.get(&id).cloned();
            expired.extend(lock.and_then(|lock| self.remove(&lock)));
        }
        expired
    }

    /// Ends the retention of the leases whose locks `concerns` selects.
    pub(crate) fn expire(&mut self, concerns: &dyn Fn(&LockName) -> bool) {
        for (lock, lease) in &mut self.by_lock {
            if concerns(lock) {
                let id = lease.entry.id();
                self.agenda.remove(&(lease.until, id));
                lease.until = Moment::FIRST;
                self.agenda.insert((lease.until, id));
            }
        }
    }

    /// Stops retaining leases, and removes the retained ones.
    #[expect(
        clippy::vec_box,
        reason = "they are boxed where they come from and go to"
    )]
    pub(crate) fn close(&mut self) -> Vec<Box<LeaseEntry>> {
        self.is_closed = true;
        self.expire(&|_| true);
        self.remove_expired(Moment::FIRST)
    }

    /// Returns when the first retention ends.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.agenda.first().map(|&(until, _)| until)
    }
}
