//! A lease between its backend and its caller.

use std::fmt;
use std::sync::Arc;

use crate::lease::Lease;

/// A backend to which a lease can be given back without an answer.
pub(crate) trait Abandon: Send + Sync + 'static {
    /// Releases the lock without waiting for the answer. Never blocks.
    fn abandon(self: Arc<Self>, lease: Arc<Lease>);
}

/// A lease on its way to the caller, released if it does not arrive.
pub(crate) struct Undelivered {
    /// `Some` until the lease has arrived.
    lease: Option<Arc<Lease>>,
    backend: Arc<dyn Abandon>,
}

impl Undelivered {
    pub(crate) fn new(backend: Arc<dyn Abandon>, lease: Arc<Lease>) -> Undelivered {
        Undelivered {
            lease: Some(lease),
            backend,
        }
    }

    /// The lease has arrived: from now on the caller releases it.
    pub(crate) fn deliver(mut self) -> Arc<Lease> {
        self.lease.take().expect("a lease is delivered once")
    }
}

impl Drop for Undelivered {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.backend.clone().abandon(lease);
        }
    }
}

impl fmt::Debug for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Undelivered").field(&self.lease).finish()
    }
}
