//! A caller that waits behind the head of its local queue.

use std::sync::Arc;
use std::time::Instant;

use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::pass_head::Handoff;
use crate::backend::undelivered::Outcome;
use crate::background::in_flight::Counted;
use crate::background::offload::{Offloaded, Reply};
use crate::lease::Request;

/// The entry of a caller in its local queue.
pub(crate) struct LocalWaiter {
    pub(crate) request: Request,
    /// When the wait of the caller is over.
    pub(crate) until: Instant,
    pub(crate) reply: Reply<Outcome>,
    /// The slot for the caller's acquisition, which runs in the background while the caller's runtime is busy.
    pub(crate) task: Arc<Offloaded<Outcome>>,
    /// Creates this waiter's acquisition.
    pub(crate) acquisitions: Arc<dyn Acquisitions>,
    /// Makes a shutdown wait for this waiter, in the queue and as a head.
    pub(crate) counted: Counted,
}

/// Begins acquisitions for waiters. `acquisition::new_head` implements it: an acquisition is a layer above the
/// hand-over, which calls this.
pub(crate) trait Acquisitions: Send + Sync {
    /// Promotes `waiter` to the head of its local queue.
    fn make_head(
        self: Arc<Self>,
        waiter: LocalWaiter,
        handoff: Handoff,
        last_known: Option<LastKnown>,
    );
}
