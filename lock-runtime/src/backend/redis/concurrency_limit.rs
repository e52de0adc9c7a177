//! How many commands may be under way at once.

use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::backend::wire::error::WireError;
use crate::background::timers::Timers;

/// Enough to keep a server busy that is far away: 10 000 commands a second over 200 ms. Few enough
/// that it has answered the last before its time is up, also if ten processes do the same: a server
/// answers some 40 000 a second.
const SIZE: usize = 2048;

/// Commands beyond this wait here, in order, and not in the connection: there the time for their
/// answer would run, and one that has been sent and not been answered costs more than one that has
/// not been sent.
pub(super) struct ConcurrencyLimit {
    places: Semaphore,
    /// How long to wait for a place.
    patience: Duration,
}

impl ConcurrencyLimit {
    /// `command_timeout` is the time for all of a command; half of it is left for the answer.
    pub(super) fn new(command_timeout: Duration) -> ConcurrencyLimit {
        ConcurrencyLimit {
            places: Semaphore::new(SIZE),
            patience: command_timeout / 2,
        }
    }

    /// A place, if there is one and nobody waits for it.
    pub(super) fn try_enter(&self) -> Option<SemaphorePermit<'_>> {
        self.places.try_acquire().ok()
    }

    /// A place, to be kept for as long as an answer is waited for. There must be time left for that:
    /// none is given after `until`.
    pub(super) async fn enter(
        &self,
        timers: &Timers,
        until: Instant,
    ) -> Result<SemaphorePermit<'_>, WireError> {
        let last = until.min(Instant::now() + self.patience);
        match timers.timeout_at(last, self.places.acquire()).await {
            Ok(place) => Ok(place.expect("a window is never closed")),
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
    async fn whoever_finds_no_place_in_time_is_told() {
        let background = Background::get().unwrap();
        let timers = background.timers();
        let patience = Duration::from_millis(100);
        let window = ConcurrencyLimit::new(2 * patience);
        let begun = Instant::now();
        let until = begun + Duration::from_secs(60);
        let mut places = Vec::new();
        for _ in 0..SIZE {
            places.push(window.try_enter().expect("there is room"));
        }
        assert!(window.enter(timers, until).await.is_err());
        assert!((patience..60 * patience).contains(&begun.elapsed()));
        places.pop();
        assert!(window.enter(timers, until).await.is_ok());
    }
}
