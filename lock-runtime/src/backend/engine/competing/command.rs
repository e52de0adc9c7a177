//! The next command of a competing call.

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Command {
    /// Send an acquire, with a new owner if there is none.
    Attempt,
    /// Wait until enough replicas have the lock that was granted.
    AwaitReplicas,
    /// Ask whether there are enough replicas now: without them nobody can have the lock.
    CheckReplicas,
    /// Listen for releases.
    Listen,
    /// Wait until the next attempt is due, a message names the owner, or the caller's time is up.
    Wait(Pause),
    /// End the [owner](super::Competing::give_back), and wait until that is answered.
    GiveBack,
    /// End the [owner](super::Competing::give_back), and do not wait.
    BeginAnew,
    /// The caller [has](super::Competing::win) the lock.
    Win,
    /// The caller fails with what is known, once its [owner](super::Competing::give_up) has ended.
    GiveUp,
}

/// How long to wait for the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pause {
    /// Not at all, if there is time for another attempt.
    None,
    /// Until a poll is due, by the last answer.
    Poll,
    /// As long as a poll may be put off.
    Longest,
    /// For longer with each failure in a row.
    BackOff,
    /// For longer with each owner that had a part of several locks and lost it.
    Anew,
}
