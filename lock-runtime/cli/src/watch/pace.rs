//! Decides how often the live view reads all locks.

use std::time::{Duration, Instant};

/// With many locks, reads all of them less often than the rows on the screen, so that the view takes less than one per cent of
/// a core, and of its server.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    next: Option<Instant>,
}

impl Pace {
    /// The pause after a read of all locks, as a multiple of its CPU time. The remainder of the per cent is for reads of a few
    /// locks, and for drawing.
    const PAUSE: u32 = 200;

    /// The longest pause: nobody should act on older rows.
    const LONGEST: Duration = Duration::from_secs(10);

    /// Returns whether all locks may be read.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Notes the end and the CPU time of a read of all locks. The pause counts from its end: a read can take longer than its
    /// pause, and the rows on the screen must be read in between.
    pub(crate) fn note(&mut self, ended: Instant, took: Duration) {
        self.next = Some(ended + (took * Pace::PAUSE).min(Pace::LONGEST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_read_is_followed_by_a_long_pause_that_has_a_bound() {
        let (mut pace, ended) = (Pace::default(), Instant::now());
        assert!(pace.is_due(ended));
        for (took, pause_ms) in [(2, 400), (60_000, 10_000)] {
            pace.note(ended, Duration::from_millis(took));
            assert!(!pace.is_due(ended + Duration::from_millis(pause_ms - 1)));
            assert!(pace.is_due(ended + Duration::from_millis(pause_ms)));
        }
    }
}
