//! The holder of one lock, with its deadline and the events that move it.

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
    /// Until when the holder may rely on the lock. `NEVER` for a lease that only its holder ends.
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

/// Returns the duration of a lease that nobody extends by hand; `None` means for ever.
fn span_of(terms: &LeaseTerms) -> Option<Duration> {
    if terms.renew {
        terms.max_hold
    } else {
        Some(terms.first_ttl())
    }
}

/// A caller that has a lock, or a waiter that was granted one.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) owner: OwnerId,
    pub(crate) token: FencingToken,
    pub(crate) label: Arc<str>,
    /// When the lock was granted.
    pub(crate) at: Moment,
    /// When the store takes the lock away.
    pub(crate) expires_at: Moment,
    /// How long the lease lasts without a renewal.
    pub(crate) ttl: Duration,
    pub(crate) watch: Option<LeaseWatch>,
    state: State,
    /// Whether the caller is done, while the lock stays reserved.
    pub(crate) is_reserved: bool,
}

#[derive(Debug)]
enum State {
    /// Granted to a waiter that has not confirmed it yet.
    Claimed(LeaseTerms),
    /// Renewed, so it never expires: store and holder end together, and no renewal can fail.
    Renewed,
    /// Extended only by hand.
    Scheduled(RenewalSchedule),
}

impl Holder {
    /// Creates a holder that acquired the lock by its own attempt, with its lease.
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

    /// Creates a waiter that is granted the lock. It has one ttl to confirm, since it may never be polled again.
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

    /// Returns whether the grant is not confirmed yet.
    pub(crate) fn is_claimant(&self) -> bool {
        matches!(self.state, State::Claimed(_))
    }

    /// Confirms a claimant's grant. The lease counts from the grant.
    pub(crate) fn confirm(&mut self) -> Option<Grant> {
        match self.state {
            State::Claimed(terms) => Some(self.begin(&terms)),
            _ => None,
        }
    }

    /// Begins a lease at `now`, with these terms and the token that all its locks share.
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

    /// Keeps the lock reserved for a time although its caller is done, under an id that no caller has. Returns the
    /// caller's watch.
    pub(crate) fn reserve(
        &mut self,
        owner: OwnerId,
        time: Duration,
        now: Moment,
    ) -> Option<LeaseWatch> {
        self.owner = owner;
        self.expires_at = now + time;
        self.ttl = time;
        self.label = format!("{} (reserved)", self.label).into();
        self.state = State::Renewed;
        self.is_reserved = true;
        self.watch.take()
    }

    /// Lets the lease end, at the latest `until`. Returns the watch.
    pub(crate) fn orphan(&mut self, until: Moment) -> Option<LeaseWatch> {
        self.expires_at = self.expires_at.min(until);
        self.watch.take()
    }

    /// Extends the lease, and returns the new deadline. Returns `None` for a lease that never expires.
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
