//! A registered lease, with the state to renew, hand over and release it.

use std::sync::Arc;

use crate::backend::engine::holding::{Done, Facts, Holding};
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::wire::Renewal;
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::AcquisitionId;
use crate::lease::schedule::{Extension, LeaseTerms, RenewalSchedule};
use crate::lease::{Lease, Request};

/// A lease, its owner and its schedule.
#[derive(Debug)]
pub(crate) struct LeaseEntry {
    pub(crate) lease: Arc<Lease>,
    pub(crate) owner: RegisteredOwner,
    pub(crate) schedule: RenewalSchedule,
    pub(crate) holding: Holding,
    /// The number in the record, as far as is known. A caller's token is this number plus its turn.
    pub(crate) number: FencingToken,
    /// The entry's time in the registry's agenda; `None` once the lease is lost, or while it is in no registry.
    pub(crate) due: Option<Moment>,
}

impl LeaseEntry {
    pub(crate) fn new(
        lease: Arc<Lease>,
        owner: RegisteredOwner,
        schedule: RenewalSchedule,
        number: FencingToken,
        holding: Holding,
    ) -> LeaseEntry {
        LeaseEntry {
            lease,
            owner,
            schedule,
            holding,
            number,
            due: None,
        }
    }

    pub(crate) fn id(&self) -> AcquisitionId {
        self.owner.id().acquisition()
    }

    /// Decides what happens to the lock when its holder is done. `next` has the terms of the next caller, if there is
    /// one.
    pub(crate) fn done(&self, next: Option<&LeaseTerms>, turns: u32, now: Moment) -> Done {
        let retain = self.lease.terms.retain;
        let ttl = next.map(LeaseTerms::first_ttl);
        self.holding.done(ttl, retain, &self.facts(turns, now))
    }

    /// Returns whether a caller with these terms may have the lease as it is.
    pub(crate) fn may_go_to(&self, terms: &LeaseTerms, turns: u32, now: Moment) -> bool {
        let facts = self.facts(turns, now);
        self.holding.may_go_to(terms.first_ttl(), &facts)
    }

    fn facts(&self, turns: u32, now: Moment) -> Facts {
        let lease = &self.lease;
        Facts {
            now,
            deadline: self.schedule.deadline(),
            ttl: lease.terms.first_ttl(),
            is_named: self.owner.has_waiters(),
            reserves: !lease.reservation(now).is_zero(),
            is_over: lease.is_over(),
            is_sure: lease.is_delivered() && self.schedule.unconfirmed() == 0,
            turns,
        }
    }

    /// Hands the lease over to another caller, as it is.
    pub(crate) fn hand_over(
        &mut self,
        request: &Request,
        now: Moment,
        confirming: &mut usize,
    ) -> Arc<Lease> {
        let was_outstanding = self.holding.handed_over();
        *confirming -= usize::from(was_outstanding);
        self.schedule = self.schedule.handed_over(now, &request.terms);
        let token = self.token();
        self.lease = Arc::new(self.lease.for_next_turn(request, token, &self.schedule));
        self.lease.clone()
    }

    /// Returns the token of the holder's turn, if its grant has tokens.
    pub(crate) fn token(&self) -> Option<FencingToken> {
        self.number
            .is_minted()
            .then(|| self.number.of_turn(self.holding.turn().into()))
    }

    pub(crate) fn renewal(&self, extension: Extension) -> Renewal {
        Renewal {
            lease: Some(self.lease.clone()),
            owner_id: self.owner.id(),
            names: self.owner.names.clone(),
            mode: self.owner.mode,
            extension,
        }
    }

    /// Puts the lease in doubt, unless a confirmation is outstanding.
    pub(crate) fn doubt(&mut self) {
        self.lease.doubt();
        self.schedule.doubted();
        self.holding.doubted();
    }

    /// Returns the renewal to send now, and adds it to `confirming` if it is a confirmation.
    pub(crate) fn renew(&mut self, extension: Extension, confirming: &mut usize) -> Renewal {
        *confirming += usize::from(self.holding.renews());
        self.renewal(extension)
    }
}
