//! The leases of writers that become readers.

use std::sync::Arc;

use crate::background::sync::Mutex;
use crate::lease::Lease;

/// The leases of writers that become readers. Nothing is due for them, so the registry does not have them, but a
/// shutdown ends them.
#[derive(Debug, Default)]
pub(crate) struct Downgrading(Mutex<Vec<Arc<Lease>>>);

impl Downgrading {
    /// Adds a lease, before the registry loses it. It is removed when the returned value is dropped, after the registry
    /// has the lease of the reader.
    pub(crate) fn begin(self: &Arc<Self>, lease: &Arc<Lease>) -> Downgrade {
        self.0.lock().push(lease.clone());
        Downgrade {
            all: self.clone(),
            lease: lease.clone(),
        }
    }

    pub(crate) fn leases(&self) -> Vec<Arc<Lease>> {
        self.0.lock().clone()
    }
}

/// A writer that becomes a reader, until this is dropped.
#[derive(Debug)]
pub(crate) struct Downgrade {
    all: Arc<Downgrading>,
    lease: Arc<Lease>,
}

impl Drop for Downgrade {
    fn drop(&mut self) {
        let mut leases = self.all.0.lock();
        leases.retain(|other| !Arc::ptr_eq(other, &self.lease));
    }
}
