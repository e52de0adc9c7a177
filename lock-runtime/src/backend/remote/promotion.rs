//! Promotes the next caller of a local queue to its head.
//!
//! A client has one owner in Redis's queue for each key: the owner of the caller at the head of the local queue. When
//! that caller is done, the next one becomes the head and inherits its progress.

use std::sync::Arc;
use std::time::Instant;

use crate::backend::engine::handoff;
use crate::backend::remote::acquisition::Acquisition;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::remote::{Remote, reaper};
use crate::backend::undelivered::Outcome;
use crate::background::in_flight::Counted;
use crate::background::offload::{Offloaded, Reply};
use crate::key::LockName;
use crate::lease::{Mode, Request};

/// The entry of a caller in its local queue, behind the head.
pub(crate) struct LocalWaiter {
    pub(crate) request: Request,
    /// When the wait of the caller is over.
    pub(crate) until: Instant,
    pub(crate) reply: Reply<Outcome>,
    /// The slot for the caller's acquisition, which runs in the background while the caller's runtime is busy.
    pub(crate) task: Arc<Offloaded<Outcome>>,
    /// Makes a shutdown wait for this waiter, in the queue and as a head.
    pub(crate) counted: Counted,
}

/// How the next head of a local queue begins.
pub(crate) type Handoff = handoff::Handoff<RegisteredOwner>;

/// Promotes the next caller in the local queue of this mode. Without one, the queue and the owner end.
pub(crate) fn promote_next(remote: &Arc<Remote>, mode: Mode, lock: &LockName, handoff: Handoff) {
    let (waiter, last_known) = loop {
        let mut queues = remote.queues_of(mode);
        let Some(waiter) = queues.pop(lock) else {
            drop(queues);
            return end_unneeded(remote, handoff);
        };
        let last_known = known_after(&handoff, queues.last_known(lock));
        queues.update(lock, last_known.clone());
        drop(queues);
        if !waiter.reply.is_closed() {
            break (waiter, last_known);
        }
    };
    Acquisition::begin_promoted(remote, waiter, handoff, last_known);
}

/// Ends the owner of a handoff that no caller wants.
pub(crate) fn end_unneeded(remote: &Arc<Remote>, handoff: Handoff) {
    if let Handoff::Queued(owner) | Handoff::Confirmed(owner) | Handoff::Granted(owner, ..) =
        handoff
    {
        drop(reaper::end(remote, owner));
    }
}

/// Returns the knowledge about the lock after a handoff, given the knowledge before it.
pub(crate) fn known_after(handoff: &Handoff, before: Option<LastKnown>) -> Option<LastKnown> {
    match handoff {
        Handoff::Confirmed(_) => Some(LastKnown::HandedOff),
        // A caller of this client held the lock, and no longer does.
        _ => before.filter(|known| !matches!(known, LastKnown::LocalHold(..))),
    }
}
