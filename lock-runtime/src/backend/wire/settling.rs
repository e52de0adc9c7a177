//! Schedules the repeated ends of an owner.
//!
//! ```text
//!         ┌─ unanswered: PAUSE of 10 ms, 20 ms, 40 ms … 500 ms ─┐   each is 5 s once the owner
//!  END ───┼─ answered, but tainted: PAUSE of 500 ms ────────────┤   has been ended for 10 s
//!   ▲     │                                                     │
//!   └─────┼─────────────────────────────────────────────────────┘
//!         ├─ answered, and not tainted ──────────────────────────► OVER
//!         ├─ answered, and sent after `until` ───────────────────► OVER: no command can arrive
//!         └─ past `gone` (past `until` if no acquire can arrive) ► OVER: nothing can be stored
//! ```

use std::time::Duration;

use crate::backend::wire::outstanding::Outstanding;
use crate::background::moment::Moment;

/// The time to the second end of an owner. It doubles with each unanswered end. It is short because a broken connection
/// is replaced at once, and waiters want the lock.
const AT_FIRST: Duration = Duration::from_millis(10);

/// The interval of later ends.
const INTERVAL: Duration = Duration::from_millis(500);

/// The interval after [`SETTLING_TIME`], if a long ttl requires more ends.
const LATER_INTERVAL: Duration = Duration::from_secs(5);

/// The minimum time of an owner's repeated ends; longer if it asked for a longer ttl.
const SETTLING_TIME: Duration = Duration::from_secs(10);

/// The schedule of one owner's repeated ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Settling {
    start: Moment,
    /// After this, none of the owner's commands can arrive.
    pub(super) until: Moment,
    /// After this, nothing that one of them stored can be left.
    pub(super) gone: Moment,
    /// The number of unanswered ends in a row.
    pub(super) unanswered: u32,
}

impl Settling {
    /// Begins when the owner was ended for the first time.
    pub(crate) fn begin(outstanding: &Outstanding, now: Moment) -> Settling {
        let settling_time = SETTLING_TIME.max(outstanding.longest());
        let until = now + settling_time;
        Settling {
            start: now,
            until,
            gone: until + settling_time,
            unanswered: 0,
        }
    }

    /// Returns the time to the next end; `None` if no more is needed. `jitter` returns a number between 0 and 1, and is
    /// only called for a pause, since it makes a system call.
    pub(crate) fn pause(
        &mut self,
        outstanding: &Outstanding,
        is_unanswered: bool,
        now: Moment,
        jitter: impl FnOnce() -> f64,
    ) -> Option<Duration> {
        let last = if outstanding.is_tainted() || outstanding.may_arrive() {
            self.gone
        } else {
            // The owner holds what it held before its first end, or nothing.
            self.until
        };
        if !is_unanswered && !outstanding.is_tainted() || now >= last {
            return None;
        }
        let is_early = now.since(self.start) < SETTLING_TIME;
        let interval = if !is_early {
            LATER_INTERVAL
        } else if is_unanswered {
            let doubled = AT_FIRST.saturating_mul(1 << self.unanswered.min(10));
            self.unanswered += 1;
            doubled.min(INTERVAL)
        } else {
            self.unanswered = 0;
            INTERVAL
        };
        // Spread, so that owners that failed together do not retry together.
        Some(interval.mul_f64(0.8 + 0.4 * jitter()))
    }

    /// Returns whether an end that is sent now is the last one, if it is answered. The time of sending counts, not that
    /// of the answer: the process may be stopped in between, for longer than any command was in flight.
    pub(crate) fn is_last(&self, now: Moment) -> bool {
        now >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::wire::outstanding::ConnectionId;

    /// Returns the pauses before the next ends, for owners whose ends are answered like this.
    fn pauses(answers: &[bool]) -> Vec<u128> {
        let mut outstanding = Outstanding::default();
        // A tainted owner is ended again whatever the answers are.
        outstanding.sending(ConnectionId(1), Duration::from_secs(30), true);
        outstanding.ending(ConnectionId(2));
        let start = Moment::FIRST;
        let mut settling = Settling::begin(&outstanding, start);
        let pause = |&is_answered: &bool| {
            let pause = settling.pause(&outstanding, !is_answered, start, || 0.5);
            pause.expect("it is ended again").as_millis()
        };
        answers.iter().map(pause).collect()
    }

    #[test]
    fn end_without_an_answer_is_sent_again_at_once_and_then_more_rarely() {
        assert_eq!(pauses(&[false; 8]), [10, 20, 40, 80, 160, 320, 500, 500]);
    }

    #[test]
    fn owner_whose_end_was_answered_is_ended_again_in_a_while() {
        assert_eq!(pauses(&[true, true]), [500, 500]);
        assert_eq!(pauses(&[false, true, false]), [10, 500, 10]);
    }
}
