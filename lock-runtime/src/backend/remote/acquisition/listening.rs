//! Waiting for a lock whose servers have no queue: for a message about its release.

use std::time::{Duration, Instant};

use super::{Acquisition, NextStep};
use crate::backend::remote::last_known::LastKnown;
use crate::backend::wire::Wire;
use crate::backend::wire::error::WireError;

impl<W: Wire> Acquisition<W> {
    /// Listens for releases of the lock, which was held at the last attempt. The lock may have become free between the
    /// attempt and the subscription, so that the owner asks once more after it.
    pub(super) async fn listen(&mut self, pause: Duration) -> NextStep {
        let Some(owner) = self.owner.as_ref().filter(|_| Instant::now() < self.until) else {
            return NextStep::Wait(pause);
        };
        if self.subscription.is_none() {
            self.subscription = self.context.wire.subscription(&owner.names.first().lock);
        }
        match self.context.wire.listen(owner).await {
            Ok(true) if Instant::now() < self.until => NextStep::Attempt,
            Err(error @ WireError::Refused(_)) => {
                self.learn(LastKnown::failed(error));
                NextStep::GiveUp
            }
            // Unless it listens, the next poll finds the lock free.
            Ok(_) | Err(WireError::Unavailable(_)) => NextStep::Wait(pause),
        }
    }
}
