//! Tracks the outage between two connections, and decides whether its end is reported.

use std::time::{Duration, Instant};

/// After an outage this long, the next connection is always reported, so there is at most one such report in that time.
const LONG: Duration = Duration::from_secs(1);

/// The time without a connection to a server.
#[derive(Debug, Default)]
pub(super) struct Outage {
    /// When the last connection ended; `None` if there was none.
    since: Option<Instant>,
    /// The number of failed attempts to connect.
    failures: u32,
    /// Whether the end of the last connection was not reported.
    is_silent: bool,
}

/// A new connection, for reports.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Connected {
    /// The number of attempts.
    pub(super) attempts: u32,
    /// The time since the last connection ended; `None` if there was none.
    pub(super) away: Option<Duration>,
    /// Whether it is reported, not only counted.
    pub(super) is_reported: bool,
}

impl Outage {
    /// Begins an outage when a connection ends, whether or not that is reported.
    pub(super) fn begin(&mut self, now: Instant, is_reported: bool) {
        *self = Outage {
            since: Some(now),
            failures: 0,
            is_silent: !is_reported,
        };
    }

    /// Counts a failed attempt. Returns the number of failures.
    pub(super) fn note_failure(&mut self) -> u32 {
        self.failures = self.failures.saturating_add(1);
        self.failures
    }

    /// Ends an outage with a connection. It is reported if the end of the last connection was, or if the outage was
    /// long.
    pub(super) fn end(&mut self, now: Instant) -> Connected {
        let away = self.since.map(|since| now.saturating_duration_since(since));
        let is_long = away.is_none_or(|away| away >= LONG);
        let connected = Connected {
            attempts: self.failures.saturating_add(1),
            away,
            is_reported: !self.is_silent || is_long,
        };
        self.failures = 0;
        connected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_connection_was_never_away() {
        let mut outage = Outage::default();
        assert_eq!([outage.note_failure(), outage.note_failure()], [1, 2]);
        let expected = Connected {
            attempts: 3,
            away: None,
            is_reported: true,
        };
        assert_eq!(outage.end(Instant::now()), expected);
    }

    #[test]
    fn connection_is_reported_if_the_last_loss_was() {
        let (mut outage, now) = (Outage::default(), Instant::now());
        for is_reported in [true, false, true] {
            outage.begin(now, is_reported);
            let expected = Connected {
                attempts: 1,
                away: Some(Duration::from_millis(5)),
                is_reported,
            };
            assert_eq!(outage.end(now + Duration::from_millis(5)), expected);
        }
    }

    #[test]
    fn end_of_a_long_outage_is_reported() {
        let (mut outage, now) = (Outage::default(), Instant::now());
        outage.begin(now, false);
        outage.note_failure();
        let connected = outage.end(now + LONG);
        assert!(connected.is_reported);
        assert_eq!((connected.attempts, connected.away), (2, Some(LONG)));
    }
}
