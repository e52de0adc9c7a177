//! One granted lock.

use std::borrow::Cow;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::background::panics::catch_panics;
use crate::background::sync::Mutex;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockKey, OneOrMore};
use crate::lease::fencing_token::FencingToken;
use crate::lease::loss_reason::LossReason;
use crate::lease::owner_id::OwnerId;
use crate::lease::request::Request;
use crate::lease::run_record::RunRecord;
use crate::lease::schedule::{LeaseTerms, RenewalSchedule, reaches};
use crate::telemetry::{self, LeaseTrace};

/// A lease that the server or the store has confirmed at least once; its guards, bodies and watchdog share it.
///
/// A lease compares its deadline with a clock by itself. The watchdog moves the deadline, and may end the lease
/// sooner.
pub(crate) struct Lease {
    pub(crate) keys: OneOrMore<LockKey>,
    pub(crate) owner_id: OwnerId,
    pub(crate) terms: LeaseTerms,
    /// The label of the holder.
    pub(crate) label: Arc<str>,
    clock: Clock,
    deadline: AtomicU64,
    /// Where `max_hold` ends.
    end: Moment,
    /// Where `min_hold` ends: counted from after the grant, so that the lock is not free earlier.
    reserved_until: Moment,
    loss: OnceLock<LossReason>,
    lost: Notify,
    /// What few leases have. A thin pointer, since every lease has it.
    notes: Mutex<Option<Box<Notes>>>,
    /// Whether the notes have a run.
    records_run: bool,
    /// Whether the caller has received the lease, which it may never do.
    is_delivered: AtomicBool,
    /// Whether the lease was in doubt before it was delivered.
    is_doubted: AtomicBool,
    /// Guards, bodies and carried futures. Frames are not counted: a frame that has ended lives as long as the frames
    /// below it.
    references: AtomicU32,
    /// Reports what happens to the lease.
    pub(crate) trace: LeaseTrace,
}

/// What few leases have.
#[derive(Default)]
struct Notes {
    /// Why the last renewal failed, if it did.
    failure: Option<Arc<String>>,
    /// What the call records of its run, if it does.
    run: Option<Arc<RunRecord>>,
}

impl Notes {
    fn of_run(run: Arc<RunRecord>) -> Box<Notes> {
        Box::new(Notes {
            failure: None,
            run: Some(run),
        })
    }
}

impl Lease {
    pub(crate) fn new(
        request: &Request,
        owner_id: OwnerId,
        token: Option<FencingToken>,
        clock: Clock,
        schedule: &RenewalSchedule,
    ) -> Lease {
        Lease {
            keys: request.locks.keys(),
            owner_id,
            terms: request.terms,
            label: request.label.clone(),
            clock,
            deadline: AtomicU64::new(schedule.deadline().as_nanos()),
            end: schedule.end(),
            reserved_until: match request.terms.min_hold_ms {
                0 => Moment::FIRST,
                ms => clock.now() + Duration::from_millis(ms.into()),
            },
            loss: OnceLock::new(),
            lost: Notify::new(),
            notes: Mutex::new(request.run.clone().map(Notes::of_run)),
            records_run: request.run.is_some(),
            is_delivered: AtomicBool::new(false),
            is_doubted: AtomicBool::new(false),
            references: AtomicU32::new(0),
            trace: LeaseTrace::new(request.labels.clone(), token.map(FencingToken::get)),
        }
    }

    /// Creates the lease of the caller to which this lease is handed over, with the same owner id and this token.
    pub(crate) fn for_next_turn(
        &self,
        request: &Request,
        token: Option<FencingToken>,
        schedule: &RenewalSchedule,
    ) -> Lease {
        Lease::new(request, self.owner_id, token, self.clock, schedule)
    }

    /// Creates the lease of the same owner with another token. Its remaining time, and the rest of `max_hold`, stay.
    pub(crate) fn with_token(&self, token: FencingToken) -> Lease {
        Lease {
            keys: self.keys.clone(),
            owner_id: self.owner_id,
            terms: self.terms,
            label: self.label.clone(),
            clock: self.clock,
            deadline: AtomicU64::new(self.deadline().as_nanos()),
            end: self.end,
            // A reader has no minimum.
            reserved_until: Moment::FIRST,
            loss: OnceLock::new(),
            lost: Notify::new(),
            notes: Mutex::new(self.run().map(Notes::of_run)),
            records_run: self.records_run,
            is_delivered: AtomicBool::new(self.is_delivered()),
            is_doubted: AtomicBool::new(self.is_doubted()),
            references: AtomicU32::new(0),
            trace: LeaseTrace::new(self.trace.labels.clone(), Some(token.get())),
        }
    }

    /// Returns the token of the grant, or of the local turn; `None` if nobody has asked for one.
    pub(crate) fn known_token(&self) -> Option<FencingToken> {
        self.trace.token().map(FencingToken::new)
    }

    /// Stores the token that was minted for the holder.
    pub(crate) fn minted(&self, token: FencingToken) {
        self.trace.minted(token.get());
    }

    /// Returns what the call records of its run, if it does.
    pub(crate) fn run(&self) -> Option<Arc<RunRecord>> {
        // Few leases do, and the others need no mutex.
        if !self.records_run {
            return None;
        }
        self.notes.lock().as_ref()?.run.clone()
    }

    /// Returns the clock that measures the deadline.
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

    /// Marks the lease as in doubt: it must be confirmed.
    ///
    /// The mark is set before `is_delivered` is read, and a delivery is marked before `is_doubted` is read:
    /// at least one of the two sides sees the other.
    pub(crate) fn doubt(&self) {
        self.is_doubted.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_doubted(&self) -> bool {
        self.is_doubted.load(Ordering::SeqCst)
    }

    /// Returns whether the lock may stay reserved after its holder is done; reads no clock.
    pub(crate) fn has_minimum(&self) -> bool {
        self.reserved_until != Moment::FIRST
    }

    /// Returns how long the lock stays reserved if its holder is done at `now`. A lost lease is not reserved, nor is a
    /// lease that no caller had.
    pub(crate) fn reservation(&self, now: Moment) -> Duration {
        if !self.has_minimum() {
            return Duration::ZERO;
        }
        if self.is_delivered() && !self.is_known_lost() && now < self.deadline() {
            self.reserved_until.since(now)
        } else {
            Duration::ZERO
        }
    }

    /// Notes why a renewal failed. If none succeeds until the deadline, this explains the loss.
    pub(crate) fn renewal_failed(&self, failure: Arc<String>) {
        self.notes.lock().get_or_insert_default().failure = Some(failure);
    }

    /// Moves the deadline, but never back. A lost lease stays lost.
    pub(crate) fn extend(&self, deadline: Moment) {
        if let Some(notes) = &mut *self.notes.lock() {
            notes.failure = None;
        }
        self.deadline
            .fetch_max(deadline.as_nanos(), Ordering::AcqRel);
    }

    /// Returns the remaining time, at most one ttl; zero once the lease is lost.
    pub(crate) fn remaining(&self) -> Duration {
        self.remaining_at(self.now())
    }

    /// Like [`remaining`](Self::remaining), at a time that the caller has already read.
    pub(crate) fn remaining_at(&self, now: Moment) -> Duration {
        if self.loss.get().is_some() {
            return Duration::ZERO;
        }
        self.deadline().since(now).min(self.terms.ttl)
    }

    /// Returns why the lease is lost, if it is, by its state and by the clock.
    ///
    /// A deadline found in the past is stored as a loss: a lease that is lost for one caller is lost for all, even if
    /// the answer to an earlier renewal arrives after that.
    pub(crate) fn loss(&self) -> Option<LossReason> {
        self.loss_at(self.now())
    }

    /// Like [`loss`](Self::loss), at a time that the caller has already read.
    pub(crate) fn loss_at(&self, now: Moment) -> Option<LossReason> {
        if let Some(&loss) = self.loss.get() {
            return Some(loss);
        }
        (now >= self.deadline()).then(|| self.lose(self.expiry()))
    }

    /// Returns whether a loss is stored; reads no clock.
    pub(crate) fn is_known_lost(&self) -> bool {
        self.loss.get().is_some()
    }

    /// Returns whether the lease is lost, without storing or reporting it: for callers that hold a mutex.
    pub(crate) fn is_over(&self) -> bool {
        self.is_known_lost() || self.now() >= self.deadline()
    }

    /// Ends the lease. Stores and returns the first reason given.
    ///
    /// Must not be called with a mutex held: subscribers run inside it and may block or take locks.
    pub(crate) fn lose(&self, loss: LossReason) -> LossReason {
        if self.loss.set(loss).is_ok() {
            // Stops the body first: no subscriber may prevent that.
            catch_panics(|| self.lost.notify_waiters());
            // A lease that was not delivered has no holder that could lose it.
            if self.is_delivered() {
                telemetry::lost(&self.trace, loss.name(), &self.describe(loss));
            }
        }
        *self.loss.get().expect("it was set above or before")
    }

    /// Returns the reason for a loss by a passed deadline.
    pub(crate) fn expiry(&self) -> LossReason {
        if reaches(self.deadline(), self.end, self.terms.ttl) {
            LossReason::MaxHold
        } else {
            LossReason::Expired
        }
    }

    /// Waits until the lease is lost.
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

    /// Returns a future that is woken when the lease is lost; enable it, then call [`loss`](Self::loss).
    pub(crate) fn notified(&self) -> Notified<'_> {
        self.lost.notified()
    }

    /// Returns how many guards, bodies and carried futures share the lease.
    pub(crate) fn references(&self) -> usize {
        self.references.load(Ordering::SeqCst) as usize
    }

    pub(super) fn add_reference(&self) {
        self.references.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn remove_reference(&self) {
        self.references.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn lost_error(&self, loss: LossReason) -> LockError {
        LockError::new(LockErrorKind::Lost)
            .with_key(self.keys.first())
            .with_detail(self.describe(loss))
    }

    fn describe(&self, loss: LossReason) -> Cow<'static, str> {
        let failure = match loss {
            LossReason::Expired => {
                let notes = self.notes.lock();
                notes.as_ref().and_then(|notes| notes.failure.clone())
            }
            _ => None,
        };
        match failure {
            Some(failure) => format!("{}: {failure}", loss.describe()).into(),
            None => loss.describe(),
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("keys", &self.keys)
            .field("token", &self.known_token())
            .field("remaining", &self.remaining())
            .field("loss", &self.loss.get())
            .finish_non_exhaustive()
    }
}

/// A guard, body or carried future of a lease, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct LeaseRef(Arc<Lease>);

impl LeaseRef {
    pub(crate) fn of(lease: Arc<Lease>) -> LeaseRef {
        lease.add_reference();
        LeaseRef(lease)
    }
}

impl Drop for LeaseRef {
    fn drop(&mut self) {
        self.0.remove_reference();
    }
}
