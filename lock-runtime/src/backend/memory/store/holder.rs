//! The holder of one lock: tracks its deadline, and the events that move it.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule, margin};

/// A lock that was granted to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) owner: OwnerId,
    pub(crate) token: FencingToken,
    pub(crate) at: Moment,
    /// Until when the holder may rely on it. `NEVER` for a lease that only its holder ends.
    pub(crate) deadline: Moment,
}

impl Grant {
    fn new(holder: &Holder, terms: &LeaseTerms) -> Grant {
        let margin = margin(terms.first_ttl());
        let span = span_of(terms).map(|span| span.saturating_sub(margin));
        Grant {
            owner: holder.owner,
            token: holder.token,
            at: holder.at,
            deadline: span.map_or(Moment::NEVER, |span| holder.at + span),
        }
    }
}

/// The duration of a lease that is not extended by hand; `None` is for ever.
fn span_of(terms: &LeaseTerms) -> Option<Duration> {
    if terms.renew {
        terms.max_hold
    } else {
        Some(terms.first_ttl())
    }
}

/// A caller that has a lock, or a waiter that was granted it.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) owner: OwnerId,
    pub(crate) token: FencingToken,
    pub(crate) label: Arc<str>,
    /// When it was granted the lock.
    pub(crate) at: Moment,
    /// When the store takes the lock away.
    pub(crate) expires_at: Moment,
    /// How long its lease lasts without a renewal.
    pub(crate) ttl: Duration,
    pub(crate) watch: Option<LeaseWatch>,
    state: State,
    /// Its caller is done, and the lock stays reserved.
    pub(crate) is_reserved: bool,
}

#[derive(Debug)]
enum State {
    /// Granted to a waiter that has not polled since.
    Claimed(LeaseTerms),
    /// Renewed by never expiring: store and holder live and die together, so no renewal can be missed.
    Renewed,
    /// Extended only by hand.
    Scheduled(RenewalSchedule),
}

impl Holder {
    /// A caller that is granted a lock by its own attempt, and its lease.
    pub(crate) fn new(
        owner: OwnerId,
        token: FencingToken,
        label: Arc<str>,
        terms: LeaseTerms,
        at: Moment,
    ) -> (Holder, Grant) {
        let mut holder = Holder::claimant(owner, token, label, terms, at);
        let grant = holder.begin(&terms);
        (holder, grant)
    }

    /// A waiter that is granted a lock. It has one ttl to confirm, since it may never be polled again.
    pub(crate) fn claimant(
        owner: OwnerId,
        token: FencingToken,
        label: Arc<str>,
        terms: LeaseTerms,
        at: Moment,
    ) -> Holder {
        Holder {
            owner,
            token,
            label,
            at,
            expires_at: at + terms.first_ttl(),
            ttl: terms.ttl,
            watch: None,
            state: State::Claimed(terms),
            is_reserved: false,
        }
    }

    /// Whether it has not confirmed its grant.
    pub(crate) fn is_claimant(&self) -> bool {
        matches!(self.state, State::Claimed(_))
    }

    /// Confirms the grant of a claimant. Its lease counts from the grant.
    pub(crate) fn confirm(&mut self) -> Option<Grant> {
        match self.state {
            State::Claimed(terms) => Some(self.begin(&terms)),
            _ => None,
        }
    }

    /// Begins a lease at `now`, on these terms, with the token that it has for all its locks.
    pub(crate) fn begin_at(
        &mut self,
        terms: LeaseTerms,
        token: FencingToken,
        now: Moment,
    ) -> Grant {
        self.at = now;
        self.token = token;
        self.begin(&terms)
    }

    fn begin(&mut self, terms: &LeaseTerms) -> Grant {
        self.ttl = terms.ttl;
        self.expires_at = span_of(terms).map_or(Moment::NEVER, |span| self.at + span);
        self.state = if terms.renew {
            State::Renewed
        } else {
            State::Scheduled(RenewalSchedule::granted(self.at, terms))
        };
        Grant::new(self, terms)
    }

    /// Reserves the lock for a time from now although its caller is done, under an id that no caller has. Returns its
    /// watch.
    pub(crate) fn rest(
        &mut self,
        owner: OwnerId,
        time: Duration,
        now: Moment,
    ) -> Option<LeaseWatch> {
        self.owner = owner;
        self.expires_at = now + time;
        self.ttl = time;
        self.label = format!("{}, reserved", self.label).into();
        self.state = State::Renewed;
        self.is_reserved = true;
        self.watch.take()
    }

    /// Extends the lease, and returns its new deadline. `None` if it is renewed anyway.
    pub(crate) fn extend(&mut self, now: Moment) -> Option<Moment> {
        let State::Scheduled(schedule) = &mut self.state else {
            return None;
        };
        let extension = schedule.extension(now);
        schedule.confirmed(now, extension);
        self.expires_at = self.expires_at.max(now + extension);
        Some(schedule.deadline())
    }
}
