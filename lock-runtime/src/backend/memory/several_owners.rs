//! Tracks the owners of leases that hold several locks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::backend::memory::store::request::LockOwner;
use crate::background::sync::Mutex;
use crate::key::LockKey;
use crate::lease::Lease;
use crate::lease::owner_id::OwnerId;

/// The owners of each lease that holds several locks, one for each lock. The first of them identifies the lease.
#[derive(Debug, Default)]
pub(crate) struct SeveralOwners(Mutex<HashMap<OwnerId, Arc<[Owner]>>>);

/// An owner of one lock.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) key: LockKey,
    pub(crate) id: OwnerId,
}

impl<'a> From<&'a Owner> for LockOwner<'a> {
    fn from(owner: &'a Owner) -> Self {
        LockOwner {
            key: owner.key.as_str(),
            id: owner.id,
        }
    }
}

impl SeveralOwners {
    pub(crate) fn insert(&self, owners: &Arc<[Owner]>) {
        self.0.lock().insert(owners[0].id, owners.clone());
    }

    pub(crate) fn of(&self, lease: &Lease) -> Option<Arc<[Owner]>> {
        self.0.lock().get(&lease.owner_id).cloned()
    }

    pub(crate) fn remove(&self, lease: &Lease) -> Option<Arc<[Owner]>> {
        self.0.lock().remove(&lease.owner_id)
    }
}
