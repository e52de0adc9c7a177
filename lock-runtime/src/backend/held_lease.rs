//! Owns a lease, and releases it when dropped.

mod dropped_leases;

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

pub(crate) use self::dropped_leases::keep_dropped;
use crate::backend::ReleaseOutcome;
use crate::backend::admission::Admission;
use crate::backend::any::AnyBackend;
use crate::backend::caller::Caller;
use crate::backend::memory::Memory;
use crate::background::in_flight::Counted;
use crate::background::moment::Moment;
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;
use crate::lease::run_record::{Finish, HoldEnd};
use crate::lease::{Lease, LossReason, Request};
use crate::telemetry::{self, LeaseSpan};

/// A lease and the duty to release it: dropping this releases.
#[derive(Debug)]
pub(crate) struct HeldLease {
    /// `Some` until it is released.
    lease: Option<Arc<Lease>>,
    backend: AnyBackend,
    /// `Some` from delivery to the end.
    span: Option<LeaseSpan>,
    _in_flight: Counted,
}

impl HeldLease {
    /// Begins at once. The caller must await it in the same poll.
    pub(crate) fn acquire<'a>(
        backend: &'a AnyBackend,
        admission: &'a Admission,
        caller: Caller,
        request: Request,
    ) -> impl Future<Output = Result<HeldLease, LockError>> + Send + 'a {
        let key = request.locks.first().key.clone();
        let wait_ends = request.fenced.then(|| Instant::now() + request.wait);
        // Begun outside the future, since a request is large.
        let begun = admission
            .enter(&key)
            .map(|in_flight| (backend.acquire(caller, request), in_flight));
        async move {
            let (acquiring, in_flight) = begun?;
            let acquiring = admission.unless_closed(&key, acquiring);
            let undelivered = caller.wait(acquiring).await?;
            let lease = HeldLease::new(backend, in_flight, undelivered.deliver());
            // A lease that was handed over or retained may have no token yet.
            if wait_ends.is_some() && lease.known_token().is_none() {
                // Boxed: otherwise each acquisition's future would have room for it.
                Box::pin(lease.token(caller, wait_ends)).await?;
            }
            Ok(lease)
        }
    }

    fn new(backend: &AnyBackend, in_flight: Counted, lease: Arc<Lease>) -> HeldLease {
        HeldLease {
            lease: Some(lease),
            backend: backend.clone(),
            span: None,
            _in_flight: in_flight,
        }
    }

    /// Notes that the caller has the lease.
    pub(crate) fn delivered(&mut self, now: Moment) {
        self.backend.delivered(self);
        if let Some(run) = self.run()
            && run.begin(now)
        {
            self.backend.begin_run(self, &run);
        }
        self.span = Some(LeaseSpan::begin(&self.trace, now));
    }

    /// Returns the fencing token, and asks the store if there is none yet: until `wait_ends`, if the caller waits for the
    /// lock until then.
    pub(crate) async fn token(
        &self,
        caller: Caller,
        wait_ends: Option<Instant>,
    ) -> Result<FencingToken, LockError> {
        match self.known_token() {
            Some(token) => Ok(token),
            None => {
                let token = self.backend.token(self.shared(), wait_ends);
                caller.wait(token).await
            }
        }
    }

    /// Returns the store of a test that interrupts bodies at their awaits.
    pub(crate) fn interrupting(&self) -> Option<&Memory> {
        match &self.backend {
            AnyBackend::Memory(memory) if memory.interruption().is_some() => Some(memory),
            _ => None,
        }
    }

    pub(crate) async fn renew(&self) -> Result<(), LockError> {
        self.backend.renew(self.shared()).await
    }

    /// Atomically turns the holder into a reader. After an error the lock is no longer held.
    pub(crate) async fn downgrade(mut self, caller: Caller) -> Result<HeldLease, LockError> {
        let old = self.take();
        let ending = EndsRun::of(&self.backend, &old.lease);
        let outcome = caller.wait(self.backend.downgrade(old.lease.clone())).await;
        let downgraded = self.downgraded(old, outcome);
        if downgraded.is_ok() {
            ending.disarm();
        }
        downgraded
    }

    fn downgraded(
        mut self,
        old: Hold,
        outcome: Result<Arc<Lease>, LockError>,
    ) -> Result<HeldLease, LockError> {
        let now = old.lease.now();
        let label = match &outcome {
            Ok(_) => "downgraded",
            Err(error) if error.is_lost() => "lost",
            Err(_) => "dropped",
        };
        let old = old.end(label, now);
        self.lease = Some(outcome?);
        self.delivered(now);
        if old.is_known_lost() {
            // A shutdown that came during the downgrade could not see the reader's lease, which did not exist yet.
            self.lose(LossReason::Shutdown);
        }
        match self.loss() {
            None => Ok(self),
            Some(loss) => Err(self.lost_error(loss)),
        }
    }

    /// Takes the lease out, for the backend.
    fn take(&mut self) -> Hold {
        let lease = self.lease.take();
        Hold {
            lease: lease.expect("a lease is taken only when it ends"),
            span: self.span.take(),
        }
    }

    /// Releases the lock. `Ok` means that it was held until `ended`, as far as is known.
    ///
    /// If this is dropped early, the release continues in the background.
    pub(crate) async fn release(self, caller: Caller, ended: Moment) -> Result<(), LockError> {
        let report = ReleaseReport::of(self.shared(), ended);
        let hold = match report.loss {
            None if report.in_time => HoldEnd::Released,
            _ => HoldEnd::Lost,
        };
        self.backend.record_end(&report.lease, hold, ended);
        let released = caller
            .wait(self.backend.release(report.lease.clone()))
            .await;
        self.finish(report, released)
    }

    fn finish(mut self, report: ReleaseReport, released: ReleaseOutcome) -> Result<(), LockError> {
        self.lease = None;
        let outcome = report.outcome(released);
        let ReleaseReport { lease, ended, .. } = report;
        if let Some(run) = lease.run() {
            if outcome.is_err()
                && let Some(finish) = run.correct()
            {
                self.backend.end_run(&lease, &run, finish);
            }
            report_run(&lease);
        }
        if let Some(span) = self.span.take() {
            span.end(&lease.trace, outcome.unwrap_or("lost"), ended);
        }
        outcome.map(drop).map_err(|loss| lease.lost_error(loss))
    }

    pub(crate) fn shared(&self) -> Arc<Lease> {
        self.lease
            .clone()
            .expect("a lease is taken only when it is released")
    }
}

impl HeldLease {
    /// Moves the duty to release the lease out of a value that is being dropped.
    fn moved(&mut self) -> HeldLease {
        HeldLease {
            lease: self.lease.take(),
            backend: self.backend.clone(),
            span: self.span.take(),
            _in_flight: self._in_flight.clone(),
        }
    }
}

/// A caller's time with a lease. The backend has the duty to release the lease. Dropping this ends the time, even if
/// the caller goes away.
#[derive(Debug)]
struct Hold {
    lease: Arc<Lease>,
    span: Option<LeaseSpan>,
}

impl Hold {
    fn end(mut self, outcome: &'static str, ended: Moment) -> Arc<Lease> {
        if let Some(span) = self.span.take() {
            span.end(&self.lease.trace, outcome, ended);
        }
        self.lease.clone()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let lease = &self.lease;
        if let Some(span) = self.span.take() {
            span.dropped(&lease.trace, || {
                let outcome = lease.loss().map_or("dropped", |_| "lost");
                (outcome, lease.now())
            });
        }
    }
}

/// Ends the run of a call whose lease ends early, when this is dropped.
struct EndsRun(Option<(AnyBackend, Arc<Lease>)>);

impl EndsRun {
    fn of(backend: &AnyBackend, lease: &Arc<Lease>) -> EndsRun {
        EndsRun(
            lease
                .run()
                .is_some()
                .then(|| (backend.clone(), lease.clone())),
        )
    }

    fn disarm(mut self) {
        self.0 = None;
    }

    /// Records the end, unless that was done before. Runs no code of the user.
    fn record(&self) {
        let Some((backend, lease)) = &self.0 else {
            return;
        };
        let hold = if std::thread::panicking() {
            HoldEnd::Panicked
        } else if lease.is_over() {
            HoldEnd::Lost
        } else {
            HoldEnd::Dropped
        };
        backend.record_end(lease, hold, lease.now());
    }
}

impl Drop for EndsRun {
    fn drop(&mut self) {
        self.record();
        if let Some((_, lease)) = &self.0 {
            report_run(lease);
        }
    }
}

/// Reports a run that has ended, unless that was done before.
fn report_run(lease: &Lease) {
    if let Some(Finish { end, took }) = lease.run().and_then(|run| run.report()) {
        telemetry::run_ended(&lease.trace.labels, end.as_str(), took);
    }
}

/// The state of a lease when its holder was done.
struct ReleaseReport {
    lease: Arc<Lease>,
    ended: Moment,
    in_time: bool,
    loss: Option<LossReason>,
}

impl ReleaseReport {
    fn of(lease: Arc<Lease>, ended: Moment) -> ReleaseReport {
        ReleaseReport {
            in_time: ended < lease.deadline(),
            loss: lease.loss_at(ended),
            lease,
            ended,
        }
    }

    /// Returns the value of a label in metrics. These values are stable, whatever the variants are called.
    fn outcome(&self, released: ReleaseOutcome) -> Result<&'static str, LossReason> {
        match (released, self.loss) {
            (_, Some(loss)) => Err(loss),
            (ReleaseOutcome::NotOurs, None) => Err(self.lease.lose(LossReason::NotOurs)),
            (_, None) if !self.in_time => Err(LossReason::Expired),
            (ReleaseOutcome::Freed, None) => Ok("released"),
            (ReleaseOutcome::Reserved, None) => Ok("reserved"),
            (ReleaseOutcome::HandedOver, None) => Ok("handed_over"),
            (ReleaseOutcome::Retained, None) => Ok("retained"),
            (ReleaseOutcome::NotAwaited, None) => Ok("unheard"),
            (ReleaseOutcome::Unconfirmed, None) => Ok("unconfirmed"),
        }
    }
}

impl Deref for HeldLease {
    type Target = Lease;

    fn deref(&self) -> &Lease {
        self.lease
            .as_deref()
            .expect("a lease is taken only when it is released")
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        if self.lease.is_some() && !dropped_leases::keep(self) {
            let hold = self.take();
            let run = EndsRun::of(&self.backend, &hold.lease);
            run.record();
            // This comes first: subscribers and recorders run when the hold and the run are dropped, and may block.
            self.backend.abandon(hold.lease.clone());
            drop(run);
        }
    }
}
