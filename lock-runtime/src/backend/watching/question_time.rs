//! Decides when to ask about a watched lock.

use std::time::{Duration, Instant};

/// The shortest and the longest time between two questions about a lock, unless messages come.
pub(crate) const SHORTEST: Duration = Duration::from_millis(100);
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

/// The greatest age of a state that a new watch is told as the current one.
const CURRENT: Duration = Duration::from_secs(1);

/// Returns whether the answer to a question at `asked` is new enough for a watch that begins now, and that asks `every`
/// so often.
pub(crate) fn is_current(asked: Instant, every: Duration, now: Instant) -> bool {
    now.saturating_duration_since(asked) < every.min(CURRENT)
}

/// Returns when to ask next, `every` so often, after a question at `asked`. After a message that is at once, but messages
/// cause no more questions than the shortest interval does.
pub(crate) fn next_question(asked: Instant, every: Duration, has_message: bool) -> Instant {
    asked + if has_message { SHORTEST } else { every }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_brings_the_next_question_forward() {
        let asked = Instant::now();
        let every = Duration::from_secs(1);
        assert_eq!(next_question(asked, every, false), asked + every);
        let next = next_question(asked, every, true);
        assert_eq!(next, asked + Duration::from_millis(100));
        assert_eq!(next_question(asked, SHORTEST, true), next);
    }

    #[test]
    fn state_is_current_for_an_interval_and_at_most_a_second() {
        let asked = Instant::now();
        let ms = Duration::from_millis;
        let is_current = |every, after| is_current(asked, every, asked + after);
        assert!(is_current(SHORTEST, ms(99)) && !is_current(SHORTEST, ms(100)));
        assert!(is_current(LONGEST, ms(999)) && !is_current(LONGEST, ms(1_000)));
    }
}
