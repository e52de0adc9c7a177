//! How long an owner is ended again.

use std::time::{Duration, Instant};

use crate::backend::wire::outstanding::Outstanding;

/// The time between two ends of one owner.
const INTERVAL: Duration = Duration::from_millis(500);

/// The same once an owner has been ended for [`SETTLING_TIME`], as one with a long ttl may have to be.
const LATER_INTERVAL: Duration = Duration::from_secs(5);

/// The least time for which an owner is ended again; longer if it asked for a longer ttl.
const SETTLING_TIME: Duration = Duration::from_secs(10);

/// How long one owner is ended again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settling {
    start: Instant,
    /// No command of the owner can arrive after this.
    until: Instant,
    /// Nothing stored by one can outlive this.
    gone: Instant,
}

impl Settling {
    /// The owner was ended for the first time.
    pub(crate) fn begin(outstanding: &Outstanding, now: Instant) -> Settling {
        let settling_time = SETTLING_TIME.max(outstanding.longest());
        let until = now + settling_time;
        Settling {
            start: now,
            until,
            gone: until + settling_time,
        }
    }

    /// The time to the next end; `None` if no more is needed. `jitter` is asked for a number between 0 and 1 only if one
    /// is: that is a system call.
    pub(crate) fn pause(
        &self,
        outstanding: &Outstanding,
        is_unanswered: bool,
        now: Instant,
        jitter: impl FnOnce() -> f64,
    ) -> Option<Duration> {
        let last = match outstanding.is_tainted() || outstanding.may_arrive() {
            true => self.gone,
            // The owner holds what it held at first, or nothing.
            false => self.until,
        };
        if !is_unanswered && !outstanding.is_tainted() || now >= last {
            return None;
        }
        let is_early = now.saturating_duration_since(self.start) < SETTLING_TIME;
        let interval = if is_early { INTERVAL } else { LATER_INTERVAL };
        // Spread, so that owners that failed together are not ended together again.
        Some(interval.mul_f64(0.8 + 0.4 * jitter()))
    }

    /// Whether an end that is sent now is the last one, if it is answered. The time at which it is sent counts, not that
    /// of its answer: the process may be stopped in between, for longer than any command was under way.
    pub(crate) fn is_last(&self, now: Instant) -> bool {
        now >= self.until
    }
}
