//! The events of a competing call.

use crate::backend::wire::reply::Answered;
use crate::lease::record::Grant;

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// No owner could be created.
    NoOwner,
    Granted(Answered<Grant>),
    /// This lock, counted from 0, is in the way. The owner has the locks before it, and may have one after it.
    Waiting {
        lock: usize,
        holds_later: bool,
    },
    /// Enough replicas have the lock that was granted, or there are enough for a grant.
    HasReplicas,
    Refused,
    /// The command was not sent or not answered, or there are too few replicas.
    Unavailable,
    /// The call may have missed an earlier release.
    MayHaveMissed,
    Listens,
    GivenBack,
    /// The pause is over.
    Due,
    /// A message names the owner.
    Notified,
    /// The caller's time is up, before or during a pause.
    TimeIsUp,
}

/// The call's knowledge about the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Knows {
    Nothing,
    /// The last attempt was answered with the holder.
    Holder,
    /// Another caller of this client has the lock, or had it.
    OneOfUs,
    /// The last attempt failed.
    Failed,
    /// The last attempt failed because the server refuses the caller.
    Refused,
}
