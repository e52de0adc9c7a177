//! Acquires several locks for one call, one after the other in order, and tracks their owners.

use std::collections::HashMap;
use std::sync::Arc;

use crate::backend::memory::Memory;
use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::shared_store::SharedStore;
use crate::backend::memory::store::store_request::LockOwner;
use crate::backend::memory::waiter::Waiter;
use crate::backend::undelivered::Undelivered;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::background::sync::Mutex;
use crate::error::LockError;
use crate::key::{Lock, LockKey, OneOrMore};
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule};
use crate::lease::{Lease, LossReason, Request};

/// The owners of each lease that holds several locks, one for each lock. The first of them identifies the lease.
#[derive(Debug, Default)]
pub(crate) struct SeveralOwners(Mutex<HashMap<OwnerId, Arc<[Owner]>>>);

/// An owner of one lock.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) key: LockKey,
    pub(crate) id: OwnerId,
}

impl<'a> From<&'a Owner> for LockOwner<'a> {
    fn from(owner: &'a Owner) -> Self {
        LockOwner {
            key: owner.key.as_str(),
            id: owner.id,
        }
    }
}

impl SeveralOwners {
    pub(crate) fn insert(&self, owners: &Arc<[Owner]>) {
        self.0.lock().insert(owners[0].id, owners.clone());
    }

    pub(crate) fn of(&self, lease: &Lease) -> Option<Arc<[Owner]>> {
        self.0.lock().get(&lease.owner_id).cloned()
    }

    pub(crate) fn remove(&self, lease: &Lease) -> Option<Arc<[Owner]>> {
        self.0.lock().remove(&lease.owner_id)
    }
}

/// The locks that a call holds while it waits for the next one. Dropping this releases them.
struct HeldSoFar<'a> {
    store: &'a SharedStore,
    clock: Clock,
    owners: Vec<Owner>,
}

impl Drop for HeldSoFar<'_> {
    fn drop(&mut self) {
        let now = self.clock.now();
        for owner in &self.owners {
            self.store.decide(|store| store.release(owner.into(), now));
        }
    }
}

impl Memory {
    /// Acquires the locks of the request in order. Until the caller has all of them, none expires: on a server its
    /// polls would renew them.
    pub(super) async fn acquire_several(
        self: Arc<Memory>,
        clock: Clock,
        request: Request,
    ) -> Result<Undelivered, LockError> {
        let until = clock.now() + request.wait;
        let mut held = HeldSoFar {
            store: &self.store,
            clock,
            owners: Vec::new(),
        };
        let mut token = None;
        for lock in request.locks.iter() {
            let one = Request {
                locks: OneOrMore::from(Lock {
                    key: lock.key.clone(),
                    names: lock.names.clone(),
                }),
                terms: LeaseTerms {
                    renew: true,
                    max_hold: None,
                    ..request.terms
                },
                ..request.clone()
            };
            let named = |error: LockError| error.with_key(&lock.key);
            let grant = match self.attempt(&one, clock.now()).map_err(named)? {
                Some(grant) => grant,
                None => {
                    let mut waiter = Waiter::new((&self.store, &self.reach), &one, clock)?;
                    let outcome = waiter.wait(until).await;
                    outcome.map_err(|refusal| named(refusal.into_error(clock.now())))?
                }
            };
            let (key, id) = (lock.key.clone(), grant.owner);
            held.owners.push(Owner { key, id });
            // Tokens rise over all locks of the store, so the last one is the highest.
            token = Some(grant.token);
        }
        let owners: Arc<[Owner]> = std::mem::take(&mut held.owners).into();
        drop(held);
        let token = token.expect("a request has at least one lock");
        let schedule = RenewalSchedule::granted(clock.now(), &request.terms);
        let lease = Arc::new(Lease::new(
            &request,
            owners[0].id,
            Some(token),
            clock,
            &schedule,
        ));
        self.several.insert(&owners);
        let undelivered = Undelivered::new(self.clone(), lease.clone());
        let now = clock.now();
        for owner in owners.iter() {
            let grant = self
                .store
                .decide(|store| store.begin(owner.into(), request.terms, token, now));
            let Some(grant) = grant else {
                return Err(lease.lost_error(lease.lose(LossReason::NotOurs)));
            };
            lease.extend(grant.deadline);
        }
        for owner in owners.iter() {
            self.store.register(owner.into(), LeaseWatch::start(&lease));
        }
        self.note_process(&lease);
        Ok(undelivered)
    }

    /// Releases all locks of a lease. Returns `false` if any of them was lost.
    pub(super) fn free_several(&self, lease: &Lease, now: Moment) -> bool {
        let owners = self.several.remove(lease).into_iter();
        let mut all = true;
        for owner in owners.flat_map(|owners| owners.to_vec()) {
            all &= self.free_owner((&owner).into(), lease, now);
        }
        all
    }

    /// Confirms all locks of a lease. Returns `false` if any of them was lost.
    pub(super) fn renew_several(&self, lease: &Arc<Lease>, now: Moment) -> bool {
        let owners = self.several.of(lease);
        owners.is_some_and(|owners| {
            let mut owners = owners.iter();
            owners.all(|owner| self.renew_owner(owner.into(), lease, now))
        })
    }
}
