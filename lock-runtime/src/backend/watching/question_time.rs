//! Decides when to ask about a watched lock.

use std::time::{Duration, Instant};

/// The shortest and the longest time between two questions about a lock, unless messages come.
pub(crate) const SHORTEST: Duration = Duration::from_millis(100);
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

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
}
