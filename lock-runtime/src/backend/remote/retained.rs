//! Leases that stay with their client for a while after the body, for its next caller. Time is an argument.
//!
//! No caller holds a retained lease, so it is neither renewed nor confirmed, and its loss is not reported. Its owner
//! still heads the local queue, in which no caller waits: the next caller of the lock takes the lease or ends it. A
//! connection that breaks puts the lease in doubt, and so ends its retention.

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
    /// The locks of the owners that messages and replies name.
    locks: HashMap<AcquisitionId, LockName>,
    /// Each lease by the end of its retention.
    agenda: BTreeSet<(Moment, AcquisitionId)>,
    /// The client has shut down, and retains no more leases.
    is_closed: bool,
}

#[derive(Debug)]
struct RetainedLease {
    entry: Box<LeaseEntry>,
    until: Moment,
}

impl RetainedLeases {
    /// Whether the client has shut down.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Retains a lease until then.
    pub(crate) fn insert(&mut self, entry: Box<LeaseEntry>, until: Moment) {
        let id = entry.id();
        let lock = entry.owner.names.first().lock.clone();
        self.agenda.insert((until, id));
        self.locks.insert(id, lock.clone());
        self.by_lock.insert(lock, RetainedLease { entry, until });
    }

    /// The lease of a lock, and until when it is retained.
    pub(crate) fn get(&self, lock: &LockName) -> Option<(&LeaseEntry, Moment)> {
        let lease = self.by_lock.get(lock)?;
        Some((&lease.entry, lease.until))
    }

    /// Removes the lease of a lock, which its next caller takes or ends.
    pub(crate) fn remove(&mut self, lock: &LockName) -> Option<Box<LeaseEntry>> {
        let RetainedLease { entry, until } = self.by_lock.remove(lock)?;
        self.locks.remove(&entry.id());
        self.agenda.remove(&(until, entry.id()));
        Some(entry)
    }

    /// Removes the lease of an owner, which must be released.
    pub(crate) fn remove_owner(&mut self, owner_id: OwnerId) -> Option<Box<LeaseEntry>> {
        let lock = self.locks.get(&owner_id.acquisition())?.clone();
        self.remove(&lock)
    }

    /// Removes the leases whose retention is over, which must be released.
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

    /// Ends the retention now of the leases whose locks `concerns` selects.
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

    /// Retains no lease from now on, and removes the retained ones.
    #[expect(
        clippy::vec_box,
        reason = "they are boxed where they come from and go to"
    )]
    pub(crate) fn close(&mut self) -> Vec<Box<LeaseEntry>> {
        self.is_closed = true;
        self.expire(&|_| true);
        self.remove_expired(Moment::FIRST)
    }

    /// When the first retention ends.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.agenda.first().map(|&(until, _)| until)
    }
}
