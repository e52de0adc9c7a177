//! The guards, bodies and carried futures of a lease, counted.

use std::sync::Arc;

use crate::lease::lease::Lease;

/// A guard, body or carried future of a lease, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct LeaseRef(Arc<Lease>);

impl LeaseRef {
    pub(crate) fn of(lease: Arc<Lease>) -> LeaseRef {
        lease.add_reference();
        LeaseRef(lease)
    }
}

impl Drop for LeaseRef {
    fn drop(&mut self) {
        self.0.remove_reference();
    }
}
