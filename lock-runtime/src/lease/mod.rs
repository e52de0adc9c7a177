//! One hold of a lock: what its guards, its bodies and its watchdog share.

pub(crate) mod fencing_token;
pub(crate) mod owner_id;
pub(crate) mod record;
pub(crate) mod schedule;

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::backend::Request;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::background::panics::catch_panics;
use crate::error::{LockError, LockErrorKind};
use crate::key::LockKey;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule, reaches};
use crate::telemetry::{self, Trace};

/// Why a hold ended before its holder ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossReason {
    /// The deadline passed without a renewal.
    Expired,
    /// The server says that somebody else, or nobody, holds the lock.
    NotOurs,
    /// `max_hold` was reached.
    MaxHold,
    /// The client was shut down.
    Shutdown,
}

impl LossReason {
    /// The label of metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LossReason::Expired => "expired",
            LossReason::NotOurs => "not_ours",
            LossReason::MaxHold => "max_hold",
            LossReason::Shutdown => "shutdown",
        }
    }

    pub(crate) fn describe(self) -> &'static str {
        match self {
            LossReason::Expired => "its lease ran out before it could be renewed",
            LossReason::NotOurs => "the server no longer has it as ours",
            LossReason::MaxHold => "its max_hold was reached",
            LossReason::Shutdown => "its client was shut down",
        }
    }
}

/// A hold that was confirmed once. It knows by itself, from a clock, when it is over; a watchdog
/// moves its deadline and may end it sooner.
pub(crate) struct Lease {
    pub(crate) key: LockKey,
    pub(crate) owner_id: OwnerId,
    pub(crate) token: FencingToken,
    pub(crate) terms: LeaseTerms,
    /// The function, for people; empty when the lock was taken by hand.
    pub(crate) function: &'static str,
    /// The key's template, for logs.
    pub(crate) template: &'static str,
    clock: Clock,
    deadline: AtomicU64,
    /// Where `max_hold` ends.
    end: Moment,
    loss: OnceLock<LossReason>,
    lost: Notify,
    /// The caller has it. Before, nobody may ever come for it.
    is_delivered: AtomicBool,
    /// It was to be confirmed before it was handed over.
    is_doubted: AtomicBool,
    /// The guards and carried futures of the hold. Frames are not what is counted: one that has
    /// ended stays in being below those that it made.
    sharers: AtomicUsize,
    /// Where what happens to it is told.
    pub(crate) trace: Trace,
}

impl Lease {
    pub(crate) fn new(
        key: LockKey,
        owner_id: OwnerId,
        token: FencingToken,
        terms: LeaseTerms,
        names: (&'static str, &'static str),
        clock: Clock,
        schedule: &RenewalSchedule,
    ) -> Lease {
        Lease {
            key,
            owner_id,
            token,
            terms,
            function: names.0,
            template: names.1,
            clock,
            deadline: AtomicU64::new(schedule.deadline().as_nanos()),
            end: schedule.end(),
            loss: OnceLock::new(),
            lost: Notify::new(),
            is_delivered: AtomicBool::new(false),
            is_doubted: AtomicBool::new(false),
            sharers: AtomicUsize::new(0),
            trace: Trace::default(),
        }
    }

    /// The hold of the caller that has the lease after this one, under the same owner and with the
    /// next of its tokens.
    pub(crate) fn successor(&self, request: &Request, schedule: &RenewalSchedule) -> Lease {
        Lease::new(
            request.key.clone(),
            self.owner_id,
            self.token.next(),
            request.terms,
            (request.function, request.template),
            self.clock,
            schedule,
        )
    }

    /// The clock that it goes by.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn deadline(&self) -> Moment {
        Moment::from_nanos(self.deadline.load(Ordering::Acquire))
    }

    pub(crate) fn delivered(&self) {
        self.is_delivered.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_delivered(&self) -> bool {
        self.is_delivered.load(Ordering::SeqCst)
    }

    /// It is to be confirmed. Said before it is seen whether it was handed over, as it is handed over
    /// before it is seen whether this was said: one of the two sees the other.
    pub(crate) fn doubt(&self) {
        self.is_doubted.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_doubted(&self) -> bool {
        self.is_doubted.load(Ordering::SeqCst)
    }

    /// Moves the deadline; it never moves back. A hold once lost stays lost.
    pub(crate) fn extend(&self, deadline: Moment) {
        self.deadline
            .fetch_max(deadline.as_nanos(), Ordering::AcqRel);
    }

    /// The time that is left, at most one ttl: zero once the hold is lost.
    pub(crate) fn remaining(&self) -> Duration {
        if self.loss.get().is_some() {
            return Duration::ZERO;
        }
        self.deadline().since(self.now()).min(self.terms.ttl)
    }

    /// Whether and why the hold is lost, by what is known and by the clock.
    ///
    /// A deadline found in the past is remembered as a loss, so that a hold that was seen lost by
    /// one is lost for all, even if an answer to an early renewal arrives after that.
    pub(crate) fn loss(&self) -> Option<LossReason> {
        self.loss_at(self.now())
    }

    /// As [`loss`](Self::loss), at a time that is known already.
    pub(crate) fn loss_at(&self, now: Moment) -> Option<LossReason> {
        if let Some(&loss) = self.loss.get() {
            return Some(loss);
        }
        (now >= self.deadline()).then(|| self.lose(self.expiry()))
    }

    /// Whether the hold is known to be lost, whatever the clock says.
    pub(crate) fn is_known_lost(&self) -> bool {
        self.loss.get().is_some()
    }

    /// Whether the hold is lost, without saying so to anybody: for those who hold a mutex.
    pub(crate) fn is_over(&self) -> bool {
        self.is_known_lost() || self.now() >= self.deadline()
    }

    /// Ends the hold. The first reason given is the one that stays, and is returned.
    ///
    /// Not to be called under a mutex: somebody else's code is told of it, which may take its time,
    /// or ask for locks.
    pub(crate) fn lose(&self, loss: LossReason) -> LossReason {
        if self.loss.set(loss).is_ok() {
            // The body first: nothing that listens may keep it from being stopped.
            catch_panics(|| self.lost.notify_waiters());
            // Nobody had the others.
            if self.is_delivered() {
                telemetry::lost(self, loss);
            }
        }
        *self.loss.get().expect("it was set above or before")
    }

    /// What it means for this hold that its deadline passed.
    pub(crate) fn expiry(&self) -> LossReason {
        if reaches(self.deadline(), self.end, self.terms.ttl) {
            LossReason::MaxHold
        } else {
            LossReason::Expired
        }
    }

    /// Completes when the hold is lost.
    pub(crate) async fn lost(&self) -> LossReason {
        let mut notified = pin!(self.notified());
        loop {
            notified.as_mut().enable();
            if let Some(loss) = self.loss() {
                return loss;
            }
            notified.as_mut().await;
            notified.set(self.notified());
        }
    }

    /// A future that is woken when the hold is lost; enable it, then ask [`loss`](Self::loss).
    pub(crate) fn notified(&self) -> Notified<'_> {
        self.lost.notified()
    }

    /// How many share the hold.
    pub(crate) fn sharers(&self) -> usize {
        self.sharers.load(Ordering::SeqCst)
    }

    pub(crate) fn lost_error(&self, loss: LossReason) -> LockError {
        LockError::new(LockErrorKind::Lost)
            .with_key(&self.key)
            .with_detail(loss.describe())
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("key", &self.key)
            .field("token", &self.token)
            .field("remaining", &self.remaining())
            .field("loss", &self.loss.get())
            .finish_non_exhaustive()
    }
}

/// One who shares a hold, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Share(Arc<Lease>);

impl Share {
    pub(crate) fn of(lease: Arc<Lease>) -> Share {
        lease.sharers.fetch_add(1, Ordering::SeqCst);
        Share(lease)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.sharers.fetch_sub(1, Ordering::SeqCst);
    }
}
