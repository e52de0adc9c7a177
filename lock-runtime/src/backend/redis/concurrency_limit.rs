//! Limits the number of commands in flight.

use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::backend::wire::error::WireError;
use crate::background::timers::Timers;

/// Enough to keep a distant server busy: 10 000 commands a second over 200 ms. Few enough that even the last is
/// answered in time while ten processes send as many: a server answers about 40 000 a second.
const MAX_OUTSTANDING: usize = 2048;

/// Makes further commands wait, in order, for a permit before they are sent.
///
/// If they waited in the connection, their answer timeouts would already run. An unanswered command also costs more
/// than an unsent one, since its owner must be settled.
pub(super) struct ConcurrencyLimit {
    permits: Semaphore,
    /// The maximum wait for a permit.
    timeout: Duration,
}

impl ConcurrencyLimit {
    /// Creates the limit, which leaves half of `command_timeout`, the total time of a command, for the answer.
    pub(super) fn new(command_timeout: Duration) -> ConcurrencyLimit {
        ConcurrencyLimit {
            permits: Semaphore::new(MAX_OUTSTANDING),
            timeout: command_timeout / 2,
        }
    }

    /// Returns a permit, if one is left and no command waits for it.
    pub(super) fn try_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.try_acquire().ok()
    }

    /// Returns a permit, to be kept until the command is answered. Fails after `until`.
    pub(super) async fn permit(
        &self,
        timers: &Timers,
        until: Instant,
    ) -> Result<SemaphorePermit<'_>, WireError> {
        let last = until.min(Instant::now() + self.timeout);
        match timers.timeout_at(last, self.permits.acquire()).await {
            Ok(permit) => Ok(permit.expect("the semaphore is never closed")),
            Err(_) => Err(WireError::unavailable(
                "too many commands of this client are under way",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::Background;

    #[tokio::test]
    async fn command_without_a_permit_in_time_is_an_error() {
        let background = Background::get().unwrap();
        let timers = background.timers();
        let timeout = Duration::from_millis(100);
        let limit = ConcurrencyLimit::new(2 * timeout);
        let began = Instant::now();
        let until = began + Duration::from_secs(60);
        let mut permits = Vec::new();
        for _ in 0..MAX_OUTSTANDING {
            permits.push(limit.try_permit().expect("a permit is left"));
        }
        assert!(limit.permit(timers, until).await.is_err());
        assert!((timeout..60 * timeout).contains(&began.elapsed()));
        permits.pop();
        assert!(limit.permit(timers, until).await.is_ok());
    }
}
