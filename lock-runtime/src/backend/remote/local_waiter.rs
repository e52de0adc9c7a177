//! A caller that waits behind the head of its local queue.

use std::sync::Arc;
use std::time::Instant;

use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::pass_head::Handoff;
use crate::backend::undelivered::Outcome;
use crate::background::in_flight::Counted;
use crate::background::offload::{Offloaded, Reply};
use crate::lease::Request;

/// What a caller leaves in its local queue.
pub(crate) struct LocalWaiter {
    pub(crate) request: Request,
    /// When the caller's wait is over.
    pub(crate) until: Instant,
    pub(crate) reply: Reply<Outcome>,
    /// The slot for the caller's acquisition, which runs elsewhere while the caller's runtime is busy.
    pub(crate) task: Arc<Offloaded<Outcome>>,
    /// Makes this waiter's acquisition.
    pub(crate) acquisitions: Arc<dyn Acquisitions>,
    /// A shutdown waits for it, here and once it is a head.
    pub(crate) counted: Counted,
}

/// Begins acquisitions for waiters. The acquisition is a layer above the hand-over that calls this, and implements it
/// in `acquisition::new_head`.
pub(crate) trait Acquisitions: Send + Sync {
    /// Promotes `waiter` to the head of its local queue.
    fn make_head(
        self: Arc<Self>,
        waiter: LocalWaiter,
        handoff: Handoff,
        last_known: Option<LastKnown>,
    );
}
