//! Limits how often one caller sends commands, whatever a server answers.
//!
//! A caller has its own reasons to wait between two commands: a poll, a message, an unreachable server. These times
//! depend on a server's answers, and a broken or misidentified server may answer anything. So a caller also has this
//! limit, which normal answers never reach.

use std::time::{Duration, Instant};

/// The number of attempts that a caller makes without a pause, at first and after a pause.
const AT_ONCE: u32 = 40;

/// The time between later attempts: 40 in a second. In the long run an attempt takes at most two commands, which stays
/// below the documented limit of 100 in a second.
const INTERVAL: Duration = Duration::from_millis(25);

/// The attempts of one caller.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// When the attempts so far would end if each of them took its full interval.
    spent_until: Option<Instant>,
}

impl Pace {
    /// Returns how long to wait before the next attempt; `None` if it may be made now.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        let spent = self.spent_until?.saturating_duration_since(now);
        let early = spent.saturating_sub(INTERVAL * (AT_ONCE - 1));
        (!early.is_zero()).then_some(early)
    }

    /// Counts an attempt that is made now.
    pub(crate) fn count(&mut self, now: Instant) {
        let spent_until = self.spent_until.map_or(now, |until| until.max(now));
        self.spent_until = Some(spent_until + INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the attempts within a time, by a caller that makes each as soon as it may.
    fn attempts(pace: &mut Pace, from: Instant, time: Duration) -> u32 {
        let (mut now, mut attempts) = (from, 0);
        while now < from + time {
            match pace.pause(now) {
                None => {
                    pace.count(now);
                    attempts += 1;
                }
                Some(pause) => now += pause,
            }
        }
        attempts
    }

    #[test]
    fn forty_attempts_are_made_at_once_and_then_forty_in_a_second() {
        let (mut pace, began) = (Pace::default(), Instant::now());
        assert_eq!(attempts(&mut pace, began, Duration::from_nanos(1)), AT_ONCE);
        let second = Duration::from_secs(1);
        let after = attempts(&mut pace, began, second * 10);
        assert!((390..=400).contains(&after), "{after}");
    }

    #[test]
    fn caller_that_has_paused_may_make_as_many_attempts_again() {
        let (mut pace, began) = (Pace::default(), Instant::now());
        attempts(&mut pace, began, Duration::from_nanos(1));
        let later = began + Duration::from_secs(60);
        assert_eq!(attempts(&mut pace, later, Duration::from_nanos(1)), AT_ONCE);
    }

    #[test]
    fn polls_of_a_waiter_are_never_put_off() {
        let (mut pace, began) = (Pace::default(), Instant::now());
        for poll in 0..1000 {
            assert_eq!(pace.pause(began + INTERVAL * poll), None);
            pace.count(began + INTERVAL * poll);
        }
    }
}
