//! Keeps locks in this process.
//!
//! [`store`] decides, with the time as an argument. [`shared_store`] keeps it in a mutex, and carries out what a
//! decision means for other callers. [`waiter`] waits in a queue, [`lease_watch`] reports the end of a lease at its
//! deadline. For tests, a [`test_holder`] occupies a lock, and an [`interruption`] stops a body at one of its awaits.
//!
//! A caller on a runtime waits there, with that runtime's timers, so paused time works. A renewed lease has no
//! deadline: store and holder are in one process and end together. Only a lease without renewal or with `max_hold` can
//! expire. A task on the holder's runtime notifies the holder, and each waiter has a timer of its own, so neither
//! depends on the other's runtime.
//!
//! A caller that blocks its thread, or has no runtime, acquires and waits on its own thread. It uses the real clock and
//! the timers of the background thread, but nothing else of that thread: a release wakes the next caller's thread
//! directly.

pub(crate) mod interruption;
mod lease_watch;
pub(crate) mod memory_inspection;
mod pattern;
mod reach;
mod refusal;
mod run_history;
mod several_locks;
mod shared_store;
mod store;
pub(crate) mod test_holder;
#[cfg(test)]
mod tests;
mod waiter;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::Handle;

use crate::backend::memory::interruption::Interruption;
use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::reach::Reach;
use crate::backend::memory::refusal::Refusal;
use crate::backend::memory::run_history::RunHistories;
use crate::backend::memory::several_locks::SeveralOwners;
use crate::backend::memory::shared_store::SharedStore;
use crate::backend::memory::store::holder::Grant;
use crate::backend::memory::store::store_request::{Ask, LockOwner, RenewOutcome};
use crate::backend::memory::waiter::Waiter;
use crate::backend::undelivered::{Abandon, Acquiring, Outcome, Undelivered};
use crate::backend::{Backend, ReleaseOutcome};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::background::sync::Mutex;
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;
use crate::lease::schedule::RenewalSchedule;
use crate::lease::{Lease, LossReason, Request};
use crate::state::AuditEntry;

/// The backend of a memory client.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    store: SharedStore,
    several: SeveralOwners,
    /// Whether callers can reach the store.
    reach: Reach,
    audit: Mutex<VecDeque<AuditEntry>>,
    histories: RunHistories,
    /// `Some` in some tests.
    interruption: Option<Interruption>,
}

impl Memory {
    pub(crate) fn new() -> Arc<Memory> {
        Arc::default()
    }

    /// Checks that callers can reach the store.
    pub(crate) fn ping(&self) -> Result<(), LockError> {
        self.reach.check()
    }

    /// Acquires for a caller on `clock`. A free lock is taken at once, without boxing a future.
    pub(crate) fn acquire_by(self: Arc<Memory>, clock: Clock, request: Request) -> Acquiring {
        if clock != Clock::Tokio
            && let Err(error) = Background::refuse_forked()
        {
            return Acquiring::ended(Err(error));
        }
        if request.locks.len() > 1 {
            return Acquiring::boxed(self.acquire_several(clock, request));
        }
        let now = clock.now();
        match self.attempt(&request, now) {
            Ok(Some(grant)) => Acquiring::ended(Ok(self.granted(&request, clock, grant))),
            Ok(None) => Acquiring::boxed(self.wait_until(now + request.wait, clock, request)),
            Err(error) => Acquiring::ended(Err(error)),
        }
    }

    async fn wait_until(
        self: Arc<Memory>,
        until: Moment,
        clock: Clock,
        request: Request,
    ) -> Outcome {
        let grant = {
            let mut waiter = Waiter::new((&self.store, &self.reach), &request, clock)?;
            let outcome = waiter.wait(until).await;
            outcome.map_err(|refusal| refusal.into_error(clock.now()))?
        };
        Ok(self.granted(&request, clock, grant))
    }

    fn granted(self: Arc<Memory>, request: &Request, clock: Clock, grant: Grant) -> Undelivered {
        let lease = self.lease(request, clock, grant);
        Undelivered::new(self, lease)
    }

    /// Makes the first attempt. Returns `None` if the caller must wait. A separate function, since an async function
    /// would keep room for request and answer while it waits.
    fn attempt(&self, request: &Request, now: Moment) -> Result<Option<Grant>, LockError> {
        let ask = Ask::from(request);
        let outcome = if self.reach.is_cut() {
            Err(Refusal::Away)
        } else {
            let outcome = self.store.decide(|store| store.acquire(&ask, now));
            outcome.map_err(Refusal::Busy)
        };
        match outcome {
            Ok(grant) => Ok(Some(grant)),
            Err(_) if !request.wait.is_zero() => Ok(None),
            Err(refusal) => Err(refusal.into_error(now)),
        }
    }

    /// Creates the lease of a grant, and watches it.
    fn lease(&self, request: &Request, clock: Clock, grant: Grant) -> Arc<Lease> {
        let lease = Arc::new(Lease::new(
            request,
            grant.owner,
            Some(grant.token),
            clock,
            &RenewalSchedule::granted(grant.at, &request.terms),
        ));
        // The schedule counts one ttl; the grant's deadline includes all renewals.
        lease.extend(grant.deadline);
        let owner = LockOwner::from(&*lease);
        self.store.register(owner, LeaseWatch::start(&lease));
        self.note_process(&lease);
        lease
    }

    /// Confirms one lock of a lease, and extends the lease. Returns `false` if the lock was lost.
    fn renew_owner(&self, owner: LockOwner<'_>, lease: &Arc<Lease>, now: Moment) -> bool {
        self.store.decide(|store| {
            store.renew(owner, now).map(|renewal| match renewal {
                RenewOutcome::NotHeld => false,
                RenewOutcome::Unchanged => true,
                // Under the mutex, so that the later of two renewals sets the timer last.
                RenewOutcome::Extended { deadline, watch } => {
                    lease.extend(deadline);
                    if let Some(watch) = watch {
                        watch.restart(lease);
                    }
                    true
                }
            })
        })
    }

    /// Releases the locks of a lease. Returns `false` if the lease was lost before.
    fn free(&self, lease: &Lease) -> bool {
        let now = lease.now();
        if lease.keys.is_one() {
            self.free_owner(lease.into(), lease, now)
        } else {
            self.free_several(lease, now)
        }
    }

    fn free_owner(&self, owner: LockOwner<'_>, lease: &Lease, now: Moment) -> bool {
        let reservation = lease.reservation(now);
        self.store.decide(|store| {
            if reservation.is_zero() {
                store.release(owner, now)
            } else {
                store.reserve(owner, reservation, now)
            }
        })
    }
}

impl Abandon for Memory {
    fn abandon(self: Arc<Memory>, lease: Arc<Lease>) {
        self.free(&lease);
    }
}

impl Backend for Memory {
    fn clock(&self) -> Clock {
        Clock::Tokio
    }

    fn acquire(self: Arc<Memory>, request: Request) -> Acquiring {
        // tokio's timers need a runtime.
        let clock = Handle::try_current().map_or(Clock::Real, |_| Clock::Tokio);
        self.acquire_by(clock, request)
    }

    fn delivered(&self, lease: &Lease) {
        lease.delivered();
    }

    /// Every grant of this backend has a token.
    async fn token(
        self: Arc<Memory>,
        lease: Arc<Lease>,
        _: Option<Instant>,
    ) -> Result<FencingToken, LockError> {
        let token = lease.known_token();
        Ok(token.expect("the store gives each holder a token"))
    }

    async fn renew(self: Arc<Memory>, lease: Arc<Lease>) -> Result<(), LockError> {
        if let Some(loss) = lease.loss() {
            return Err(lease.lost_error(loss));
        }
        let away = |error: LockError| error.with_key(lease.keys.first());
        self.reach.check().map_err(away)?;
        let now = lease.now();
        let is_held = if lease.keys.is_one() {
            self.renew_owner(LockOwner::from(&*lease), &lease, now)
        } else {
            self.renew_several(&lease, now)
        };
        if is_held {
            Ok(())
        } else {
            Err(lease.lost_error(lease.lose(LossReason::NotOurs)))
        }
    }

    async fn downgrade(self: Arc<Memory>, lease: Arc<Lease>) -> Result<Undelivered, LockError> {
        let now = lease.now();
        if let Some(loss) = lease.loss_at(now) {
            // A shutdown makes the client lose leases that the store still has.
            self.free(&lease);
            return Err(lease.lost_error(loss));
        }
        if self.reach.is_cut() {
            // On a server the command would be retried until the lease is over.
            let loss = lease.lose(lease.expiry());
            self.free(&lease);
            return Err(lease.lost_error(loss));
        }
        let owner = LockOwner::from(&*lease);
        let token = self.store.decide(|store| store.downgrade(owner, now));
        let Some(token) = token else {
            return Err(lease.lost_error(lease.lose(LossReason::NotOurs)));
        };
        let reader = Arc::new(lease.with_token(token));
        self.store
            .register(LockOwner::from(&*reader), LeaseWatch::start(&reader));
        self.note_process(&reader);
        Ok(Undelivered::new(self, reader))
    }

    async fn release(self: Arc<Memory>, lease: Arc<Lease>) -> ReleaseOutcome {
        let reserves = !lease.reservation(lease.now()).is_zero();
        if self.free(&lease) {
            if reserves {
                ReleaseOutcome::Reserved
            } else {
                ReleaseOutcome::Freed
            }
        } else {
            ReleaseOutcome::NotOurs
        }
    }

    fn live(&self) -> Vec<Arc<Lease>> {
        self.store.leases()
    }

    async fn settled(&self) {}
}

impl<'a> From<&'a Request> for Ask<'a> {
    /// One attempt, which does not queue.
    fn from(request: &'a Request) -> Self {
        Ask {
            key: request.lock().key.as_str(),
            label: &request.label,
            share: request.mode.share(),
            terms: request.terms,
            owner: None,
            queue_with: None,
        }
    }
}

impl<'a> From<&'a Lease> for LockOwner<'a> {
    fn from(lease: &'a Lease) -> Self {
        LockOwner {
            key: lease.keys.first().as_str(),
            id: lease.owner_id,
        }
    }
}
