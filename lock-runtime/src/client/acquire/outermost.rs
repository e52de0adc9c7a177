//! Acquires a lock that the call tree does not hold.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::Acquire;
use crate::backend::caller::Caller;
use crate::backend::held_lease::HeldLease;
use crate::background::clock::Clock;
use crate::call_tree::Nesting;
use crate::client::campaign::observer;
use crate::control::is_removed;
use crate::error::{LockError, LockErrorKind};
use crate::key::{Lock, LockKey, OneOrMore};
use crate::lease::run_record::RunRecord;
use crate::lease::{Mode, Request};
use crate::telemetry::{Acquiring, CallLabels};

impl Acquire {
    /// Acquires locks that the call tree does not hold. Starts at once; the caller must await it in the same poll.
    pub(super) fn outermost(
        &self,
        caller: Caller,
        locks: Result<OneOrMore<Lock>, LockError>,
        nesting: Nesting,
    ) -> impl Future<Output = Result<HeldLease, LockError>> + Send + '_ {
        let labels = self.labels();
        let acquiring = self.acquiring(labels.clone(), self.core.backend.clock(caller));
        let begun = self.request(locks, nesting, labels).map(|request| {
            HeldLease::acquire(&self.core.backend, &self.core.admission, caller, request)
        });
        async move {
            let lease = match begun {
                Ok(begun) => begun.await,
                Err(error) => Err(error),
            };
            let lease = self.deliver(lease, acquiring)?;
            // Subscribers ran during the delivery and may have blocked. Nothing else checks the lease before a body
            // that cannot be stopped.
            if caller == Caller::Thread
                && let Some(loss) = lease.loss()
            {
                return Err(lease.lost_error(loss));
            }
            Ok(lease)
        }
    }

    fn acquiring(&self, labels: CallLabels, clock: Clock) -> Acquiring {
        // Options that contradict each other fail after this.
        let mode = || self.options.mode().map_or("", Mode::name);
        Acquiring::begin(labels, mode, clock)
    }

    /// Returns the names of the call for reports.
    fn labels(&self) -> CallLabels {
        CallLabels {
            key: self
                .core
                .options
                .log_keys
                .then(|| Arc::new(self.logged_key())),
            place: self.place,
            ..CallLabels::new(self.function, self.template)
        }
    }

    /// Returns the key as logs show it; with several keys, the first and the number of others.
    fn logged_key(&self) -> String {
        match self.others.as_deref().map_or(0, <[LockKey]>::len) {
            0 => self.key.to_string(),
            others => format!("{} +{others}", self.key),
        }
    }

    /// Checks the lease once more before the caller gets it: the caller may not have been polled for longer than the
    /// lease lasts, and a body must not begin without it.
    fn deliver(
        &self,
        acquired: Result<HeldLease, LockError>,
        acquiring: Acquiring,
    ) -> Result<HeldLease, LockError> {
        let now = acquiring.now();
        let waited = acquiring.waited(now);
        let outcome = acquired.and_then(|lease| match lease.loss_at(now) {
            Some(loss) if !is_removed!(check_before_the_hand_over) => Err(lease.lost_error(loss)),
            _ => Ok(lease),
        });
        match outcome {
            Ok(mut lease) => {
                acquiring.granted(&lease.trace, waited);
                lease.delivered(now);
                observer::granted(&lease.keys);
                Ok(lease)
            }
            Err(error) => {
                acquiring.refused(&error, waited);
                let error = self.complete(error, waited);
                observer::failed(&error, Some(&self.core.backend));
                Err(error)
            }
        }
    }

    /// Returns all locks of the call, in the order of acquisition.
    pub(super) fn lock_set(&self) -> Result<OneOrMore<Lock>, LockError> {
        if let Some(problem) = self.key.problem().filter(|_| self.key.is_missing()) {
            return Err(LockError::invalid_options(problem.to_string()));
        }
        let named = |key: &LockKey| self.core.names_of(key);
        let names = named(&self.key)?;
        let Some(others) = &self.others else {
            return Ok(OneOrMore::from(Lock {
                key: self.key.clone(),
                names,
            }));
        };
        let key = self.key.clone();
        let mut locks = vec![Lock { key, names }];
        for key in others.iter() {
            let names = named(key)?;
            let key = key.clone();
            locks.push(Lock { key, names });
        }
        Ok(Lock::in_order(locks).expect("there is a first lock"))
    }

    /// Returns the request with all defaults filled in, checked.
    fn request(
        &self,
        locks: Result<OneOrMore<Lock>, LockError>,
        nesting: Nesting,
        labels: CallLabels,
    ) -> Result<Request, LockError> {
        let terms = self.terms()?;
        let mode = self.mode()?;
        let locks = locks?;
        if nesting == Nesting::Locks || !locks.is_one() {
            self.check_order(&locks, mode, &labels)?;
        }
        let run = self.options.runs.map(|runs| {
            let kept = u16::try_from(runs).expect("the terms are checked");
            RunRecord::new(locks.names(), kept)
        });
        Ok(Request {
            locks,
            mode,
            terms,
            fenced: self.options.fenced,
            wait: self.bounded_wait(),
            label: self.core.labels.of(self.function_or_name()),
            labels,
            run,
        })
    }

    /// Adds the key, if the call has one.
    pub(super) fn about_the_key(&self, error: LockError) -> LockError {
        if self.key.is_missing() {
            error
        } else {
            error.with_key(&self.key)
        }
    }

    /// Adds the key and the time waited to an error of the backend.
    pub(super) fn complete(&self, error: LockError, waited: Duration) -> LockError {
        // With several locks, the error names the lock in the way.
        let error = match error.key() {
            None => self.about_the_key(error),
            Some(_) => error,
        };
        match error.kind() {
            LockErrorKind::Busy | LockErrorKind::Unavailable => error.with_waited(waited),
            _ => error,
        }
    }
}
