//! The next command of a competing call.

/// The next step for the task of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Command {
    /// Send an acquire, with a new owner if there is none.
    Attempt,
    /// Wait until enough replicas have the lock that was granted.
    AwaitReplicas,
    /// Check that there are enough replicas now. Without them nobody can hold the lock.
    CheckReplicas,
    /// Listen for releases.
    Listen,
    /// Wait until the next attempt is due, a message names the owner, or the caller's time is up.
    Wait(Pause),
    /// End the [owner](super::Competing::give_back), and wait for the answer.
    GiveBack,
    /// End the [owner](super::Competing::give_back), and do not wait.
    BeginAnew,
    /// The caller [has](super::Competing::win) the lock.
    Win,
    /// The caller fails with the last known state, once its [owner](super::Competing::give_up) has ended.
    GiveUp,
}

/// How long to wait for the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pause {
    /// No pause, if there is time for another attempt.
    None,
    /// Until the next poll, which the last answer scheduled.
    Poll,
    /// As long as a poll may be delayed.
    Longest,
    /// Longer with each failure in a row.
    BackOff,
    /// Longer each time the call has lost one of several locks and started over.
    Anew,
}
