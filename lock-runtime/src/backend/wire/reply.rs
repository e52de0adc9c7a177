//! The answers to commands.

use std::time::Duration;

use crate::background::moment::Moment;
use crate::lease::record::{Grant, Holder};

/// An answer, and the time just before its command was sent. A lease may be counted from then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Answered<T> {
    pub(crate) at: Moment,
    pub(crate) answer: T,
}

/// The answer to `acquire`.
#[derive(Clone, Debug)]
pub(crate) enum AcquireReply {
    Granted(Grant),
    Waiting(Waiting),
}

/// The state of an owner that does not hold the lock.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// The remaining time of the holder's lease; `None` if it never expires.
    pub(crate) remaining: Option<Duration>,
    /// 1 is the head of the queue; 0 means that the owner is not in it.
    pub(crate) position: u32,
    pub(crate) holder: Holder,
    /// The index of the lock in the way. The owner has the locks before it.
    pub(crate) lock: usize,
    /// The owner also has a lock after that one: an earlier answer was lost, and later a lock.
    pub(crate) holds_later: bool,
}

/// The answer to `release` and to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReply {
    /// The owner held the lock, which is free now.
    Freed,
    /// The owner held the lock, which stays reserved for a time.
    Reserved,
    /// The owner held the lock, which was handed off to a waiter of the queue.
    HandedOff,
    /// The owner held the lock, which the named successor holds now.
    SuccessorHolds(Grant),
    /// The command did nothing, and `end` must be sent: a waiter queues, or the server compared another record. Only
    /// `release` has this answer.
    Contended,
    /// The owner did not hold the lock, and has left its queue.
    LeftQueue,
    /// The owner neither held the lock nor queued for it.
    NotOurs,
}
