//! What is made of a connection that is driven on somebody else's runtime.
//!
//! The keeper looks at it from time to time. What it has to find out is whether that runtime still
//! runs its tasks: an answer that lies in the socket must not become a timeout because the
//! caller's runtime, or another task on it, blocks.

use std::time::Duration;

/// The time between two looks. Short against the time for a command, a second, since a blocked
/// runtime is found out by three looks; long against a round trip in a data centre, since each look
/// wakes the keeper, and a connection that comes home between two commands has come for nothing.
const LOOK: Duration = Duration::from_millis(20);

/// The time between two looks at a connection on which a command may take as long as `patience`.
pub(super) fn interval(patience: Duration) -> Duration {
    LOOK.min(patience / 4)
}

/// A runtime that did not poll in time is not driven on again for so long. Without this one that
/// always blocks, such as one whose only thread waits in somebody's `block_on`, would have every
/// command wait to be found out.
pub(super) const REST: Duration = Duration::from_secs(1);

/// What has happened on a connection until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Glance {
    /// Commands that were sent.
    pub(super) sent: u64,
    /// Commands that somebody waits for.
    pub(super) under_way: usize,
    /// How often the driver was polled.
    pub(super) polls: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is in use, and polled.
    Well,
    /// Commands wait, and it was not polled: to be woken.
    Asleep,
    /// It was woken, and not even then polled: to be called home.
    Blocked,
    /// Nobody uses it. It comes home, where a push or the end of the connection is noticed
    /// whatever becomes of that runtime.
    Idle,
}

/// `woken` says whether the last look found it asleep.
pub(super) fn judge(last: Glance, now: Glance, woken: bool) -> Verdict {
    if now.under_way == 0 && now.sent == last.sent {
        Verdict::Idle
    } else if now.under_way == 0 || now.polls != last.polls {
        Verdict::Well
    } else if woken {
        Verdict::Blocked
    } else {
        Verdict::Asleep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: Glance = Glance {
        sent: 7,
        under_way: 1,
        polls: 14,
    };

    #[test]
    fn a_connection_in_use_stays_where_it_is() {
        let answered = Glance {
            sent: 9,
            under_way: 0,
            polls: 18,
        };
        assert_eq!(judge(LAST, answered, false), Verdict::Well);
        let waiting = Glance { polls: 15, ..LAST };
        assert_eq!(judge(LAST, waiting, false), Verdict::Well);
        assert_eq!(judge(LAST, waiting, true), Verdict::Well, "it was woken");
    }

    #[test]
    fn one_that_nobody_uses_comes_home() {
        let idle = Glance {
            under_way: 0,
            ..LAST
        };
        assert_eq!(judge(LAST, idle, false), Verdict::Idle);
        let pushed = Glance { polls: 99, ..idle };
        assert_eq!(judge(LAST, pushed, true), Verdict::Idle);
    }

    #[test]
    fn one_that_is_not_polled_is_woken_and_then_comes_home() {
        assert_eq!(judge(LAST, LAST, false), Verdict::Asleep);
        assert_eq!(judge(LAST, LAST, true), Verdict::Blocked);
        let more = Glance {
            sent: 9,
            under_way: 3,
            ..LAST
        };
        assert_eq!(judge(LAST, more, true), Verdict::Blocked);
    }
}
