//! What the head of a local queue leaves to the next caller.

use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::owner::RegisteredOwner;
use crate::backend::wire::reply::Answered;
use crate::lease::record::Grant;

/// What the next head of a local queue takes over.
#[derive(Debug)]
pub(crate) enum Handoff {
    /// Nothing: it begins with an owner of its own.
    Fresh,
    /// An owner that may be in the queue, whose place is to be kept.
    Queued(RegisteredOwner),
    /// An owner whose place in the queue the server has just confirmed.
    Confirmed(RegisteredOwner),
    /// An owner that has the lock, granted for the ttl that the owner asked for.
    Granted(RegisteredOwner, Answered<Grant>),
}

impl Handoff {
    /// What is known of the lock after this hand-off, given what was known before it.
    pub(crate) fn last_known(&self, before: Option<LastKnown>) -> Option<LastKnown> {
        match self {
            Handoff::Confirmed(_) => Some(LastKnown::HandedOff),
            // The caller of this client that held the lock does so no longer.
            _ => before.filter(|known| !matches!(known, LastKnown::HeldHere(..))),
        }
    }
}
