//! How soon to connect again after a connection is gone.
//!
//! At once, where it was of use: others wait for what is sent on the next one. But a server may let us
//! in and throw us out again, as one does that has become a replica; every command of every caller would
//! then make a connection, and a warning.

use std::time::{Duration, Instant};

/// The time from one connection of no use to the next, before jitter, which doubles it at most.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(250);

/// A connection that was of use and lasted as long as this leaves no memory of those before it.
const STEADY: Duration = Duration::from_secs(1);

/// What became of the connections to a server so far.
#[derive(Debug, Default)]
pub(super) struct ReconnectPause {
    /// Connections of no use, less those that were: one of either kind makes up for one of the other.
    useless: u32,
    /// Connections that were dropped here.
    dropped: u32,
}

impl ReconnectPause {
    /// A connection has ended that was asked for at `began`. One was of use on which a command was
    /// answered without an error. The next one may be asked for at the time that is returned, or at once.
    pub(super) fn next_attempt(
        &mut self,
        of_use: bool,
        began: Instant,
        now: Instant,
        jitter: f64,
    ) -> Option<Instant> {
        if !of_use {
            self.useless = self.useless.saturating_add(1);
        } else if now.saturating_duration_since(began) < STEADY {
            self.useless = self.useless.saturating_sub(1);
        } else {
            *self = ReconnectPause::default();
        }
        if self.useless == 0 {
            return None;
        }
        let doubled = SHORTEST_PAUSE.saturating_mul(1 << (self.useless - 1).min(10));
        // From when it was asked for: one that has taken its time needs no pause.
        Some(began + doubled.min(LONGEST).mul_f64(1.0 + jitter))
    }

    /// How many connections were dropped, this one included, since one was of use for a while.
    pub(super) fn note_dropped(&mut self) -> u32 {
        self.dropped = self.dropped.saturating_add(1);
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The pause after a connection that lasted for so long.
    fn pause(
        history: &mut ReconnectPause,
        of_use: bool,
        lasted: u64,
        jitter: f64,
    ) -> Option<Duration> {
        let began = Instant::now();
        let next = history.next_attempt(of_use, began, began + ms(lasted), jitter);
        next.map(|next| next - began)
    }

    #[test]
    fn the_pause_doubles_with_each_connection_of_no_use_up_to_half_a_second() {
        let mut history = ReconnectPause::default();
        for pauses in [20, 40, 80, 160, 250, 250] {
            assert_eq!(pause(&mut history, false, 1, 0.0), Some(ms(pauses)));
        }
        for _ in 0..100 {
            assert_eq!(pause(&mut history, false, 1, 1.0), Some(ms(500)));
        }
        history.useless = u32::MAX;
        assert_eq!(pause(&mut history, false, 1, 0.0), Some(ms(250)));
    }

    #[test]
    fn a_connection_that_was_of_use_is_made_again_at_once() {
        let mut history = ReconnectPause::default();
        for lasted in [1, 100, 10_000] {
            assert_eq!(pause(&mut history, true, lasted, 1.0), None);
        }
        for _ in 0..10 {
            pause(&mut history, false, 1, 1.0);
        }
        assert_eq!(pause(&mut history, true, 1_000, 1.0), None);
        assert_eq!(pause(&mut history, false, 1, 0.0), Some(ms(20)));
    }

    #[test]
    fn a_short_one_of_use_makes_up_for_one_of_none() {
        let mut history = ReconnectPause::default();
        for _ in 0..3 {
            pause(&mut history, false, 1, 0.0);
        }
        assert_eq!(pause(&mut history, true, 1, 0.0), Some(ms(40)));
        assert_eq!(pause(&mut history, true, 1, 0.0), Some(ms(20)));
        assert_eq!(pause(&mut history, true, 1, 0.0), None);
    }

    #[test]
    fn drops_are_counted_until_a_connection_was_of_use_for_a_while() {
        let mut history = ReconnectPause::default();
        assert_eq!([history.note_dropped(), history.note_dropped()], [1, 2]);
        pause(&mut history, true, 10, 0.0);
        assert_eq!(history.note_dropped(), 3);
        pause(&mut history, true, 1_000, 0.0);
        assert_eq!(history.note_dropped(), 1);
    }
}
