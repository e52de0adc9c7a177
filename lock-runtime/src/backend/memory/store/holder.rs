//! The holder of one lock: until when it holds, and what moves that moment.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::memory::store::queue::{QueuedWaiter, WaiterId};
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule, margin};

/// A lock that was granted to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) token: FencingToken,
    pub(crate) at: Moment,
    /// Until when the holder may rely on it. `NEVER` for a lease that only its holder ends.
    pub(crate) deadline: Moment,
}

impl Grant {
    pub(crate) fn new(token: FencingToken, at: Moment, terms: &LeaseTerms) -> Grant {
        let margin = margin(terms.first_ttl());
        let span = span_of(terms).map(|span| span.saturating_sub(margin));
        Grant {
            token,
            at,
            deadline: span.map_or(Moment::NEVER, |span| at + span),
        }
    }
}

/// How long a lease lasts that is not extended by hand; `None` is for ever.
fn span_of(terms: &LeaseTerms) -> Option<Duration> {
    if terms.renew {
        terms.max_hold
    } else {
        Some(terms.first_ttl())
    }
}

/// A caller that has a lock, or a waiter that was granted it. `H` is the holder's handle.
#[derive(Debug)]
pub(crate) struct Holder<H> {
    pub(crate) token: FencingToken,
    pub(crate) label: Arc<str>,
    /// When the store takes the lock away.
    pub(crate) expires_at: Moment,
    pub(crate) handle: Option<H>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Granted to a waiter that has not polled since.
    Claimed {
        waiter: WaiterId,
        at: Moment,
        terms: LeaseTerms,
    },
    /// Renewed by not expiring: store and holder live and die together, so no renewal can be missed.
    Renewed,
    /// Extended by hand alone.
    Scheduled(RenewalSchedule),
}

impl<H> Holder<H> {
    /// The holder of a lease that begins `at` this moment.
    pub(crate) fn new(
        token: FencingToken,
        label: Arc<str>,
        terms: &LeaseTerms,
        at: Moment,
    ) -> Holder<H> {
        Holder {
            token,
            label,
            expires_at: span_of(terms).map_or(Moment::NEVER, |span| at + span),
            handle: None,
            state: if terms.renew {
                State::Renewed
            } else {
                State::Scheduled(RenewalSchedule::granted(at, terms))
            },
        }
    }

    /// The waiter that is granted a lock. It has one ttl to confirm, since it may never be polled again.
    pub(crate) fn claimant<W>(
        token: FencingToken,
        waiter: &QueuedWaiter<W>,
        at: Moment,
    ) -> Holder<H> {
        Holder {
            token,
            label: waiter.label.clone(),
            expires_at: at + waiter.terms.first_ttl(),
            handle: None,
            state: State::Claimed {
                waiter: waiter.id,
                at,
                terms: waiter.terms,
            },
        }
    }

    /// Whether the lock was granted to `waiter`, which has not confirmed.
    pub(crate) fn is_claimed_by(&self, waiter: WaiterId) -> bool {
        matches!(self.state, State::Claimed { waiter: claimant, .. } if claimant == waiter)
    }

    /// Confirms the grant of `waiter`, if it has one. Its lease counts from the grant.
    pub(crate) fn confirm(&mut self, waiter: WaiterId) -> Option<Grant> {
        match self.state {
            State::Claimed {
                waiter: claimant,
                at,
                terms,
            } if claimant == waiter => {
                *self = Holder::new(self.token, self.label.clone(), &terms, at);
                Some(Grant::new(self.token, at, &terms))
            }
            _ => None,
        }
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
