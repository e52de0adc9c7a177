//! The leases of writers that become readers.

use std::sync::Arc;

use crate::background::sync::Mutex;
use crate::lease::Lease;

/// The leases of writers that become readers. Nothing is due for them, so the registry does not have them, but a
/// shutdown ends them.
#[derive(Debug)]
pub(crate) struct Downgrading {
    process: u32,
    leases: Mutex<Vec<Arc<Lease>>>,
}

impl Default for Downgrading {
    fn default() -> Downgrading {
        Downgrading {
            process: std::process::id(),
            leases: Mutex::default(),
        }
    }
}

impl Downgrading {
    /// Adds a lease, before the registry loses it. It is removed when the returned value is dropped, after the registry
    /// has the lease of the reader.
    pub(crate) fn begin(self: &Arc<Self>, lease: &Arc<Lease>) -> Downgrade {
        self.leases.lock().push(lease.clone());
        Downgrade {
            all: self.clone(),
            lease: lease.clone(),
        }
    }

    pub(crate) fn leases(&self) -> Vec<Arc<Lease>> {
        self.leases.lock().clone()
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
        // In a forked child another thread may have held the mutex when the process was forked.
        if let Some(mut leases) = self.all.leases.lock_unless_forked(self.all.process) {
            leases.retain(|other| !Arc::ptr_eq(other, &self.lease));
        }
    }
}
