//! Promotes the next caller of a local queue to its head.
//!
//! A client has one owner in Redis's queue for each key: the owner of the caller at the head of the local queue. When
//! that caller is done, the next one becomes the head and inherits its progress.

use std::sync::Arc;

use crate::backend::engine::handoff;
use crate::backend::remote::context::Context;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::reaper;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::key::LockName;
use crate::lease::Mode;

/// Promotes the next caller in the local queue of this mode. Without one, the queue and the owner end.
pub(crate) fn to_next(context: &Arc<Context>, mode: Mode, lock: &LockName, handoff: Handoff) {
    let (waiter, last_known) = loop {
        let mut queues = context.queues_of(mode);
        let Some(waiter) = queues.pop(lock) else {
            drop(queues);
            return end_unneeded(context, handoff);
        };
        let last_known = known_after(&handoff, queues.last_known(lock));
        queues.update(lock, last_known.clone());
        drop(queues);
        if !waiter.reply.is_closed() {
            break (waiter, last_known);
        }
    };
    let acquisitions = waiter.acquisitions.clone();
    acquisitions.make_head(waiter, handoff, last_known);
}

/// Ends the owner of a handoff that no caller wants.
pub(crate) fn end_unneeded(context: &Arc<Context>, handoff: Handoff) {
    if let Handoff::Queued(owner) | Handoff::Confirmed(owner) | Handoff::Granted(owner, ..) =
        handoff
    {
        drop(reaper::end(context, owner));
    }
}

/// How the next head of a local queue begins.
pub(crate) type Handoff = handoff::Handoff<RegisteredOwner>;

/// Returns the knowledge about the lock after a handoff, given the knowledge before it.
pub(crate) fn known_after(handoff: &Handoff, before: Option<LastKnown>) -> Option<LastKnown> {
    match handoff {
        Handoff::Confirmed(_) => Some(LastKnown::HandedOff),
        // A caller of this client held the lock, and no longer does.
        _ => before.filter(|known| !matches!(known, LastKnown::LocalHold(..))),
    }
}
