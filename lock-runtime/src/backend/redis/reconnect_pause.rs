//! Decides how long to pause before a reconnect.
//!
//! After a useful connection there is no pause, since callers wait for the next one. But a server may accept
//! connections and refuse commands, for example a former primary that has become a replica. Without a pause, every
//! command of every caller would then make a connection and log a warning.

use std::time::{Duration, Instant};

/// The pauses after a useless connection or a failed attempt, counted from its beginning. Jitter at most doubles them.
/// The longest pause bounds how long a recovered server goes unnoticed, and how often a fleet tries a server that is
/// down.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// A useful connection that lasts this long clears the history.
const STEADY: Duration = Duration::from_secs(1);

/// The history of the connections to a server.
#[derive(Debug, Default)]
pub(super) struct ReconnectPause {
    /// The number of useless connections minus the number of useful ones, at least zero.
    useless: u32,
    /// The number of attempts in a row that did not reach the server.
    unreached: u32,
    /// The number of connections that were lost, or unused because of the server's role.
    lost: u32,
}

impl ReconnectPause {
    /// Notes an attempt, begun at `began`, that did not reach the server. Returns when the next one may begin. The
    /// pauses grow with the outage, so that a short outage is noticed quickly.
    pub(super) fn after_unreached(&mut self, began: Instant, jitter: f64) -> Instant {
        self.unreached = self.unreached.saturating_add(1);
        began + grown(self.unreached, jitter)
    }

    /// Notes the end of a connection whose attempt began at `began`. Returns when the next attempt may begin; `None`
    /// means at once. A connection was useful if a command on it was answered without an error.
    pub(super) fn next_attempt(
        &mut self,
        was_useful: bool,
        began: Instant,
        now: Instant,
        jitter: f64,
    ) -> Option<Instant> {
        self.unreached = 0;
        if !was_useful {
            self.useless = self.useless.saturating_add(1);
        } else if now.saturating_duration_since(began) < STEADY {
            self.useless = self.useless.saturating_sub(1);
        } else {
            *self = ReconnectPause::default();
        }
        if self.useless == 0 {
            return None;
        }
        // Counted from the attempt, so that no pause follows a connection that lasted longer.
        Some(began + grown(self.useless, jitter))
    }

    /// Counts a connection that was lost or not used. Returns the count since the history was last cleared.
    pub(super) fn note_lost(&mut self) -> u32 {
        self.lost = self.lost.saturating_add(1);
        self.lost
    }
}

/// Returns the pause after this many failures, at least one.
pub(super) fn grown(failures: u32, jitter: f64) -> Duration {
    let doubled = SHORTEST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10));
    doubled.min(LONGEST_PAUSE).mul_f64(1.0 + jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Returns the pause after a connection that lasted `lasted` milliseconds.
    fn pause(
        history: &mut ReconnectPause,
        was_useful: bool,
        lasted: u64,
        jitter: f64,
    ) -> Option<Duration> {
        let began = Instant::now();
        let next = history.next_attempt(was_useful, began, began + ms(lasted), jitter);
        next.map(|next| next - began)
    }

    #[test]
    fn pause_doubles_with_each_useless_connection_up_to_half_a_second() {
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
    fn attempts_at_a_server_that_is_down_are_spaced_up_to_half_a_second_and_soon_again_after_one_that_reaches_it()
     {
        let (mut history, began) = (ReconnectPause::default(), Instant::now());
        let after =
            |history: &mut ReconnectPause, jitter| history.after_unreached(began, jitter) - began;
        for pause in [20, 40, 80, 160, 250, 250] {
            assert_eq!(after(&mut history, 0.0), ms(pause));
        }
        for _ in 0..100 {
            assert_eq!(after(&mut history, 1.0), ms(500));
        }
        assert_eq!(
            pause(&mut history, true, 1, 0.0),
            None,
            "it is back, and breaks"
        );
        assert_eq!(after(&mut history, 0.0), ms(20));
    }

    #[test]
    fn useful_connection_is_followed_by_no_pause() {
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
    fn short_useful_connection_offsets_one_useless_connection() {
        let mut history = ReconnectPause::default();
        for _ in 0..3 {
            pause(&mut history, false, 1, 0.0);
        }
        assert_eq!(pause(&mut history, true, 1, 0.0), Some(ms(40)));
        assert_eq!(pause(&mut history, true, 1, 0.0), Some(ms(20)));
        assert_eq!(pause(&mut history, true, 1, 0.0), None);
    }

    #[test]
    fn lost_connections_are_counted_until_a_steady_connection() {
        let mut history = ReconnectPause::default();
        assert_eq!([history.note_lost(), history.note_lost()], [1, 2]);
        pause(&mut history, true, 10, 0.0);
        assert_eq!(history.note_lost(), 3);
        pause(&mut history, true, 1_000, 0.0);
        assert_eq!(history.note_lost(), 1);
    }
}
