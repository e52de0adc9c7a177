//! Turns a grant into the caller's lease.

use std::sync::Arc;

use crate::backend::engine::holding::Holding;
use crate::backend::remote::Remote;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::wire::reply::Answered;
use crate::lease::record::Grant;
use crate::lease::schedule::RenewalSchedule;
use crate::lease::{Lease, Request};

/// An acquired lock, and the owner that holds it.
#[derive(Debug)]
pub(crate) struct GrantedOwner {
    pub(crate) owner: RegisteredOwner,
    pub(crate) grant: Answered<Grant>,
    /// Whether a waiter queues behind the owner, or did so recently.
    pub(crate) contended: bool,
    pub(crate) heads_queue: bool,
}

/// Creates the lease of a grant, and registers it with the watchdog.
pub(crate) fn register(remote: &Remote, request: &Request, acquired: GrantedOwner) -> Arc<Lease> {
    let granted_at = acquired.grant.at;
    let number = acquired.grant.answer.token;
    let schedule = RenewalSchedule::granted(granted_at, &request.terms);
    let lease = Arc::new(Lease::new(
        request,
        acquired.owner.id(),
        number.is_minted().then_some(number),
        remote.clock,
        &schedule,
    ));
    if acquired.heads_queue {
        let holder = LastKnown::local_hold(&lease);
        remote.announce(request.mode, &request.lock().names.lock, holder);
    }
    let holding = Holding::granted(granted_at, acquired.contended, acquired.heads_queue);
    let entry = LeaseEntry::new(lease.clone(), acquired.owner, schedule, number, holding);
    let mut registry = remote.registry();
    registry.insert(entry);
    let is_earlier = registry.plan_earlier() | registry.may_confirm();
    drop(registry);
    if is_earlier {
        remote.wake_watchdog();
    }
    lease
}
