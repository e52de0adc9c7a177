//! How often the live view looks at all locks.

use std::time::{Duration, Instant};

/// With many locks, all of them are looked at less often than those on the screen, so that the view takes less than one per
/// cent of a core, and as little of its server.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    next: Option<Instant>,
}

impl Pace {
    /// The rest after a look at all locks, as a multiple of its CPU time. What is left of the per cent is for the looks at a
    /// few locks, and for drawing.
    const REST: u32 = 200;

    /// The longest rest: what is older is no ground to act on.
    const LONGEST: Duration = Duration::from_secs(10);

    /// Whether all locks may be looked at.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// A look at all locks has ended, and has taken this CPU time. The rest counts from its end: a look can take longer than
    /// its rest, and those on the screen are to be looked at in between.
    pub(crate) fn note(&mut self, ended: Instant, took: Duration) {
        self.next = Some(ended + (took * Pace::REST).min(Pace::LONGEST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_look_is_followed_by_a_long_rest_that_has_a_bound() {
        let (mut pace, ended) = (Pace::default(), Instant::now());
        assert!(pace.is_due(ended));
        for (took, rest) in [(2, 400), (60_000, 10_000)] {
            pace.note(ended, Duration::from_millis(took));
            assert!(!pace.is_due(ended + Duration::from_millis(rest - 1)));
            assert!(pace.is_due(ended + Duration::from_millis(rest)));
        }
    }
}
