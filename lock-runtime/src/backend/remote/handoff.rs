//! What the head of a local queue leaves to the next caller.

use crate::backend::engine::handoff;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::owner::RegisteredOwner;

/// What the next head of a local queue takes over.
pub(crate) type Handoff = handoff::Handoff<RegisteredOwner>;

/// What is known of the lock after a hand-off, given what was known before it.
pub(crate) fn known_after(handoff: &Handoff, before: Option<LastKnown>) -> Option<LastKnown> {
    match handoff {
        Handoff::Confirmed(_) => Some(LastKnown::HandedOff),
        // The caller of this client that held the lock does so no longer.
        _ => before.filter(|known| !matches!(known, LastKnown::HeldHere(..))),
    }
}
