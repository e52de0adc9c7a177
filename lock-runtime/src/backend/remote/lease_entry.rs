//! A lease in the registry, and what its renewal, hand-over and release take.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::remote::owner::RegisteredOwner;
use crate::backend::wire::Renewal;
use crate::background::moment::Moment;
use crate::lease::Lease;
use crate::lease::Request;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::AcquisitionId;
use crate::lease::schedule::{Extension, LeaseTerms, RenewalSchedule};

/// How long one grant may be handed from caller to caller in a process while waiters queue in Redis.
pub(crate) const MAX_LOCAL_TIME: Duration = Duration::from_secs(1);

/// A lease, its owner and its schedule.
#[derive(Debug)]
pub(crate) struct LeaseEntry {
    pub(crate) lease: Arc<Lease>,
    pub(crate) owner: RegisteredOwner,
    pub(crate) schedule: RenewalSchedule,
    /// Waiters queue in Redis, as far as is known: the lock is released by hand-off.
    pub(crate) contended: bool,
    /// The holder is the head of its local queue, and passes that on when it is done.
    pub(crate) heads_queue: bool,
    /// How many callers had the grant before this holder, fewer than [`TURNS`](crate::config::TURNS).
    pub(crate) turn: u8,
    /// The number in the record, as far as is known. A caller's token is this and its turn.
    pub(crate) number: FencingToken,
    /// The time before the acquire was sent that was answered with the grant.
    pub(crate) granted_at: Moment,
    /// Renewals that were sent and not answered.
    pub(crate) unanswered: u32,
    pub(crate) doubt: Doubt,
    /// The entry's time in the registry's agenda; `None` once the lease is lost, and while it is in no registry.
    pub(crate) due: Option<Moment>,
}

/// Whether a lease was last confirmed on a connection that is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Doubt {
    #[default]
    None,
    /// It was, and is to be confirmed.
    Open,
    /// It was, and a confirmation is outstanding.
    Confirming,
}

impl LeaseEntry {
    pub(crate) fn new(
        lease: Arc<Lease>,
        owner: RegisteredOwner,
        schedule: RenewalSchedule,
        number: FencingToken,
        granted_at: Moment,
    ) -> LeaseEntry {
        LeaseEntry {
            lease,
            owner,
            schedule,
            contended: false,
            heads_queue: false,
            turn: 0,
            number,
            granted_at,
            unanswered: 0,
            doubt: Doubt::None,
            due: None,
        }
    }

    pub(crate) fn id(&self) -> AcquisitionId {
        self.owner.id().acquisition()
    }

    /// Whether a caller with these terms may have the lease as it is.
    pub(crate) fn may_hand_over(&self, terms: &LeaseTerms, turns: u32, now: Moment) -> bool {
        let ttl = terms.first_ttl();
        let is_same_ttl = ttl == self.lease.terms.first_ttl();
        let is_long = self.schedule.deadline().since(now) >= ttl * 2 / 3;
        let has_token = u32::from(self.turn) + 1 < turns;
        let contended = self.contended || self.owner.has_waiters();
        let is_fair = !contended || now.since(self.granted_at) < MAX_LOCAL_TIME;
        let rests = !self.lease.rest(now).is_zero();
        is_same_ttl && is_long && has_token && is_fair && !rests && !self.lease.is_over()
    }

    /// Hands the lease to another caller as it is.
    pub(crate) fn hand_over(&mut self, request: &Request, now: Moment) -> Arc<Lease> {
        self.turn += 1;
        self.schedule = self.schedule.handed_over(now, &request.terms);
        let token = self.token();
        self.lease = Arc::new(self.lease.for_next_turn(request, token, &self.schedule));
        self.lease.clone()
    }

    /// The token of the holder's turn, if its grant has tokens.
    pub(crate) fn token(&self) -> Option<FencingToken> {
        self.number
            .is_minted()
            .then(|| self.number.of_turn(self.turn.into()))
    }

    /// How long the lease of a holder that is done may be retained; zero is not at all. No caller could have it
    /// once less than two thirds of its ttl are left.
    pub(crate) fn retention(&self, turns: u32, now: Moment) -> Duration {
        let terms = &self.lease.terms;
        let has_token = u32::from(self.turn) + 1 < turns;
        // Every owner is notified when its connection breaks, since messages may have been missed.
        let is_wanted = self.contended || self.owner.has_waiters();
        let is_answered = self.unanswered == 0 && self.schedule.unconfirmed() == 0;
        let is_sure = is_answered && self.doubt == Doubt::None && !self.lease.is_over();
        let rests = !self.lease.rest(now).is_zero();
        if !self.lease.is_delivered() || !has_token || is_wanted || !is_sure || rests {
            return Duration::ZERO;
        }
        let left = self.schedule.deadline().since(now);
        let room = left.saturating_sub(terms.first_ttl() * 2 / 3);
        terms.retain.min(room)
    }

    pub(crate) fn renewal(&self, extension: Extension) -> Renewal {
        Renewal {
            owner_id: self.owner.id(),
            names: self.owner.names.clone(),
            mode: self.owner.mode,
            extension,
        }
    }

    /// The lease is to be confirmed, unless a confirmation is outstanding.
    pub(crate) fn doubt(&mut self) {
        self.lease.doubt();
        self.schedule.doubted();
        if self.doubt == Doubt::None {
            self.doubt = Doubt::Open;
        }
    }

    /// The renewal to send now. `confirming` counts those that are confirmations.
    pub(crate) fn renew(&mut self, extension: Extension, confirming: &mut usize) -> Renewal {
        self.unanswered += 1;
        if self.doubt == Doubt::Open {
            self.doubt = Doubt::Confirming;
            *confirming += 1;
        }
        self.renewal(extension)
    }

    /// A confirmation was answered or has failed, or its answer does not matter any more.
    pub(crate) fn confirmation_answered(&mut self, confirming: &mut usize) {
        if self.doubt == Doubt::Confirming {
            self.doubt = Doubt::Open;
            *confirming -= 1;
        }
    }
}
