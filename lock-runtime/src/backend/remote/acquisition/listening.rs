//! Waiting for a lock whose servers have no queue: for a message about its release.

use std::time::Instant;

use super::Acquisition;
use crate::backend::engine::competing::command::Command;
use crate::backend::engine::competing::event::Event;
use crate::backend::wire::Wire;
use crate::backend::wire::error::WireError;

impl<W: Wire> Acquisition<W> {
    /// Listens for releases of the lock, which was held at the last attempt. The lock may have become free between the
    /// attempt and the subscription, so that the owner asks once more after it.
    pub(super) async fn listen(&mut self) -> Command {
        if Instant::now() >= self.until {
            return self.on(Event::TimeIsUp);
        }
        let owner = self.competing.owner().expect("it has asked");
        if self.subscription.is_none() {
            self.subscription = self.context.wire.subscription(&owner.names.first().lock);
        }
        match self.context.wire.listen(owner).await {
            Ok(true) if Instant::now() < self.until => self.on(Event::MayHaveMissed),
            Ok(_) => self.on(Event::Listens),
            Err(error @ WireError::Refused(_)) => self.failed(error),
            Err(WireError::Unavailable(_)) => self.on(Event::Unavailable),
        }
    }
}
