//! The guards, bodies and carried futures of a lease, counted.

use std::sync::Arc;

use crate::lease::lease::Lease;

/// One sharer of a lease, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Share(Arc<Lease>);

impl Share {
    pub(crate) fn of(lease: Arc<Lease>) -> Share {
        lease.add_sharer();
        Share(lease)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.remove_sharer();
    }
}
