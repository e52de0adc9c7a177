//! Hands a lease from one caller of a client to the next without a command: local turns.
//!
//! A grant of the server includes [`TURNS`](crate::config::TURNS) tokens, one for each caller that has the lease in
//! turn. The lease goes only to the first caller of the local queue, which keeps the order within the process. That
//! caller must ask for the same ttl, and most of the ttl must be left. A lost lease is never handed over. While waiters
//! queue in Redis, or may do so, a lease is handed around for at most a second. After its last token the lock is
//! released, and handed off to them.
//!
//! If the local queue is empty and no other client is known to want the lock, the client may retain a lease for its
//! next caller. The same rule applies to that caller ([`retained`](super::retained)).
//!
//! The owner in Redis, the deadline and the renewals belong to the grant. A turn changes none of them, so a lease
//! cannot fail in any new way. `tests/model` explores the rule.
//!
//! # Invariants
//!
//! - A turn belongs to its grant: owner, deadline and renewals stay, and the token rises by one.

use std::sync::Arc;

use crate::backend::ReleaseOutcome;
use crate::backend::remote::Remote;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_queues::LocalQueues;
use crate::backend::remote::promotion::LocalWaiter;
use crate::backend::undelivered::Undelivered;
use crate::background::panics::catch_panics;
use crate::lease::{Lease, Request};

/// Hands over the lease of a holder that is done to the next caller of its local queue. Without such a caller it
/// retains the lease, if it `may_retain` it. Returns `None` if the lease must be released.
pub(crate) fn hand_over(
    remote: &Arc<Remote>,
    lease: &Lease,
    may_retain: bool,
) -> Option<ReleaseOutcome> {
    // In a forked child, another thread of the parent may have held the mutexes during the fork.
    if remote.check_process().is_err() {
        return Some(ReleaseOutcome::Unconfirmed);
    }
    let mut queues = remote.queues();
    let mut registry = remote.registry();
    let lock = registry.headed_queue(lease)?;
    let turns = remote.local_turns;
    let next = queues.pop_if(&lock, |waiter| {
        registry.hand_over(lease, &waiter.request, turns, remote.now())
    });
    let Some((waiter, next)) = next else {
        let is_empty = queues.peek(&lock).is_none();
        // Few leases are ever retained, and the others need not read the clock.
        let may_retain = may_retain && is_empty && !lease.terms.retain.is_zero();
        if !may_retain || !registry.retain(lease, turns, remote.now()) {
            return None;
        }
        drop((queues, registry));
        remote.wire.keep_reading_messages();
        remote.wake_watchdog_if_due();
        return Some(ReleaseOutcome::Retained);
    };
    let holder = LastKnown::local_hold(&next);
    queues.update(&lock, Some(holder));
    let is_earlier = registry.plan_earlier();
    drop((queues, registry));
    if is_earlier {
        remote.wake_watchdog();
    }
    // If the caller is gone by now, the lease comes back and is dropped. Its token is spent, and the drop hands the
    // lease over or releases it.
    let undelivered = Undelivered::new(remote.clone(), next);
    catch_panics(|| drop(waiter.reply.send(Ok(undelivered))));
    Some(ReleaseOutcome::HandedOver)
}

/// Gives the retained lease of a lock to a newly arrived caller, as its next turn. Returns `None` if there is none, or
/// none that this caller may have.
pub(crate) fn resume(
    remote: &Arc<Remote>,
    queues: &mut LocalQueues<LocalWaiter, LastKnown>,
    request: &Request,
) -> Option<Undelivered> {
    let (turns, now) = (remote.local_turns, remote.now());
    let lease = remote.registry().resume(request, turns, now)?;
    let holder = LastKnown::local_hold(&lease);
    queues.update(&request.lock().names.lock, Some(holder));
    Some(Undelivered::new(remote.clone(), lease))
}
