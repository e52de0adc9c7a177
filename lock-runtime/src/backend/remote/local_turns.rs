//! Local turns: a lease goes from one caller of a client to the next without a command.
//!
//! A grant of the server owns [`TURNS`](crate::config::TURNS) tokens, one for each caller that has
//! it in turn. It passes to the first in line and to nobody else, so that order inside the process
//! stays, and only as a lease that this caller could have been granted: for the ttl that it asks for,
//! with most of it left. What is lost is never passed on. While others queue in Redis, or may, it
//! passes for a second at most, and after its last token it is ended in their favour.
//!
//! Where nobody is in line and nobody else is known to want the lock, a lease may be retained for its
//! client's next caller, which takes it by the same rule (`retained`).
//!
//! The owner in Redis, the deadline and the renewals belong to the grant: a turn changes none of
//! them, so nothing that can go wrong with a lease is new here. The rule was explored as a model
//! first, which is in the repository with the scenarios that it met.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::remote::Remote;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_queue::LocalQueues;
use crate::backend::remote::local_waiter::LocalWaiter;
use crate::backend::wire::Wire;
use crate::backend::{ReleaseOutcome, Request, Undelivered};
use crate::background::panics::catch_panics;
use crate::lease::Lease;

/// How long one grant may go round in a process while others queue for it.
pub(crate) const MAX_LOCAL_TIME: Duration = Duration::from_secs(1);

/// Passes the lease of a hold whose holder is done to the next caller in its line or, if there is none and
/// it `may_retain` the lease, keeps that for the next one who comes. `None` if the lease is to be given
/// back.
pub(crate) fn hand_over_locally<W: Wire>(
    remote: &Arc<Remote<W>>,
    lease: &Lease,
    may_retain: bool,
) -> Option<ReleaseOutcome> {
    let mut queues = remote.queues();
    let mut registry = remote.registry();
    let lock = registry.queue(lease)?;
    let turns = remote.local_turns;
    let passed = queues.pop_if(&lock, |waiter| {
        registry.pass(lease, &waiter.request, turns, remote.now())
    });
    let Some((waiter, next)) = passed else {
        let is_last = queues.peek(&lock).is_none();
        if !may_retain || !is_last || !registry.retain(lease, turns, remote.now()) {
            return None;
        }
        drop((queues, registry));
        remote.wire().listen();
        remote.wake_watchdog_if_due();
        return Some(ReleaseOutcome::Retained);
    };
    let holder = LastKnown::HeldHere(waiter.request.label.clone());
    queues.update(&lock, Some(holder));
    let is_earlier = registry.is_due_earlier();
    // A waker is somebody else's code.
    drop((queues, registry));
    if is_earlier {
        remote.wake_watchdog();
    }
    // If the caller is gone by now, the delivery comes back and is dropped: its token is spent, and
    // the lease passes on from there or is given back.
    let undelivered = Undelivered::new(remote, next);
    catch_panics(|| drop(waiter.reply.send(Ok(undelivered))));
    Some(ReleaseOutcome::HandedOver)
}

/// Takes the lease that is retained of a lock, as the next turn of a caller that has come. `None` if there
/// is none, or none that this caller may have.
pub(crate) fn resume<W: Wire>(
    remote: &Arc<Remote<W>>,
    queues: &mut LocalQueues<LocalWaiter<W>, LastKnown>,
    request: &Request,
) -> Option<Undelivered<Remote<W>>> {
    let (turns, now) = (remote.local_turns, remote.now());
    let lease = remote.registry().resume(request, turns, now)?;
    let holder = LastKnown::HeldHere(request.label.clone());
    queues.update(&request.names.lock, Some(holder));
    Some(Undelivered::new(remote, lease))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::backend::redis::CLOCK;
    use crate::backend::remote::local_waiter::Joined;
    use crate::backend::remote::registry::{Doubt, Tenure};
    use crate::config::Options;
    use crate::key::{LockKey, LockSet, RecordNames};
    use crate::lease::Mode;
    use crate::lease::fencing_token::FencingToken;
    use crate::lease::schedule::{LeaseTerms, RenewalSchedule};

    /// The holder passes its lease at the very moment in which the caller goes: its seat was called,
    /// so it cannot give it up any more, and nobody will read the reply.
    #[test]
    fn what_is_passed_to_a_caller_that_has_just_gone_is_given_back() {
        let remote = Remote::open("redis://127.0.0.1:1", &Options::default()).unwrap();
        let key = LockKey::from("key".to_owned());
        let names = RecordNames::new("lock:", &key).unwrap();
        let terms = LeaseTerms {
            ttl: Duration::from_secs(3600),
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
        };
        let schedule = RenewalSchedule::granted(remote.now(), &terms);
        let owner = remote.owner(&Arc::default(), &names).unwrap();
        let owner_id = owner.id();
        let token = FencingToken::new(1600);
        let lease = Lease::new(
            key.clone(),
            owner_id,
            token,
            terms,
            ("", "key"),
            CLOCK,
            &schedule,
        );
        let lease = Arc::new(lease);
        assert!(remote.queues().head(&names.lock).is_none());
        let tenure = Tenure {
            lease: lease.clone(),
            owner,
            schedule,
            contended: false,
            heads_queue: true,
            handoff: 0,
            since: remote.now(),
            under_way: 0,
            doubt: Doubt::None,
        };
        remote.registry().insert(tenure, remote.now());
        let request = Request {
            locks: LockSet::one(key, names),
            mode: Mode::Exclusive,
            terms,
            wait: Duration::from_secs(9),
            label: "".into(),
            function: "",
            template: "key",
        };
        let until = Instant::now() + request.wait;
        let Joined::LocalQueue(position) = Joined::of(&remote, request, until) else {
            panic!("the line has a head");
        };
        position.forget_place();
        assert_eq!(
            hand_over_locally(&remote, &lease, true),
            Some(ReleaseOutcome::HandedOver)
        );
        assert_eq!(remote.registry().leases().count(), 0, "held by nobody");
    }
}
