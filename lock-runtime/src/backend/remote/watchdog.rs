//! Renews leases, and declares them lost.
//!
//! A lease is lost when the local clock passes its deadline, or when the server answers that its owner does not hold
//! the lock. A renewal that fails or is not answered proves nothing: the lease is then *unconfirmed*, and is renewed
//! again and again until its deadline. Renewals that are due at the same time are sent together.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::backend::remote::Remote;
use crate::backend::remote::promotion::Handoff;
use crate::backend::remote::{promotion, release};
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::backend::wire::{Renewal, RenewalOutcome};
use crate::background::moment::Moment;
use crate::background::random;
use crate::error::LockError;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::TICK;
use crate::lease::{Lease, LossReason, Mode};
use crate::telemetry;

/// No sleep is longer, since timers stand still while the machine sleeps, and leases do not.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// The number of renewals in one pipeline, and of leases handled at a time under the registry's mutex. Large enough to
/// save round trips, and small enough that an acquire or a release waits less than a millisecond for a batch.
const BATCH: usize = 64;

/// Renews the leases of a client as long as the client exists.
pub(crate) async fn run(remote: Weak<Remote>) {
    let Some(wake) = remote.upgrade().map(|remote| remote.watchdog.clone()) else {
        return;
    };
    let mut pace = Pace::default();
    while let Some(pause) = remote.upgrade().map(|remote| run_due(&remote, &mut pace)) {
        if pause == Some(Duration::ZERO) {
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            biased;
            () = wake.notified() => {}
            () = tokio::time::sleep(pause.unwrap_or(Duration::MAX)) => {}
        }
    }
}

/// Handles one batch of due work. Returns the time until more is due; `None` without a lease.
fn run_due(remote: &Arc<Remote>, pace: &mut Pace) -> Option<Duration> {
    let now = remote.now();
    let mut registry = remote.registry();
    let expired = registry.retained.remove_expired(now);
    let due = registry.due(now + TICK, BATCH);
    let planned = due.next.map(|next| next.min(now + LONGEST_SLEEP));
    registry.plan(planned);
    drop(registry);
    for entry in expired {
        release::release_unawaited(remote, entry);
    }
    for owner_id in due.lost {
        declare_lost(remote, owner_id, None);
    }
    for (lease, failures) in due.overdue {
        telemetry::renewal_overdue(&lease.trace, failures);
    }
    if !due.renewals.is_empty() {
        let pause = pace.pause(now, due.renewals.len());
        let renewing = remote.clone();
        remote.spawn(async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            renew(&renewing, due.renewals).await;
        });
    }
    planned.map(|planned| planned.since(now))
}

/// Spreads renewals that are all due at once, for example after an outage, over the time that a server needs to execute
/// them. A release that is sent meanwhile then waits for one batch instead of a hundred. Renewals that are due evenly
/// never wait.
#[derive(Debug, Default)]
struct Pace {
    /// When the server will have executed all renewals so far.
    free: Option<Moment>,
}

impl Pace {
    /// The time that a server takes for one renewal, at some 250 000 a second.
    const RENEWAL: Duration = Duration::from_micros(4);

    /// The resolution of timers.
    const SHORTEST: Duration = Duration::from_millis(1);

    /// Returns how long to wait before sending the next `renewals`.
    fn pause(&mut self, now: Moment, renewals: usize) -> Duration {
        let start = self.free.map_or(now, |free| free.max(now));
        let renewals = u32::try_from(renewals).unwrap_or(u32::MAX);
        self.free = Some(start + Self::RENEWAL.saturating_mul(renewals));
        Some(start.since(now))
            .filter(|&pause| pause >= Self::SHORTEST)
            .unwrap_or_default()
    }
}

async fn renew(remote: &Arc<Remote>, mut renewals: Vec<Renewal>) {
    // A release may have been sent since they became due. A renewal after it would be harmless and useless.
    remote.registry().keep_held(&mut renewals);
    if renewals.is_empty() {
        return;
    }
    let mut apart = remote.wire.apart(renewals);
    let last = apart.pop().unwrap_or_default();
    for renewals in apart {
        let renewing = remote.clone();
        remote.spawn(async move { renew_together(&renewing, renewals).await });
    }
    renew_together(remote, last).await;
}

/// Renews leases on one server.
async fn renew_together(remote: &Arc<Remote>, renewals: Vec<Renewal>) {
    let report = |number: usize, outcome| {
        if let Some(renewal) = renewals.get(number) {
            apply(remote, renewal, outcome);
        }
        if remote.registry().may_confirm() {
            remote.wake_watchdog();
        }
    };
    remote.wire.renew(&renewals, report).await;
}

/// Renews one lease that is not due yet, and returns the outcome.
pub(crate) async fn renew_now(remote: &Arc<Remote>, lease: &Lease) -> Result<(), LockError> {
    let Some(renewal) = remote.registry().renewal(lease.owner_id, remote.now()) else {
        return Err(lease.lost_error(LossReason::Expired));
    };
    let renewals = [renewal];
    let mut result = Err(WireError::unavailable("no answer"));
    let report = |_, outcome| result = outcome;
    remote.wire.renew(&renewals, report).await;
    let outcome = match &result {
        Err(error) => Err(error.clone().into_error().with_key(lease.keys.first())),
        Ok(_) => Ok(()),
    };
    apply(remote, &renewals[0], result);
    match lease.loss() {
        Some(reason) => Err(lease.lost_error(reason)),
        None => outcome,
    }
}

/// Handles the answer to a renewal.
fn apply(remote: &Arc<Remote>, renewal: &Renewal, result: RenewalOutcome) {
    match result {
        Ok(Answered {
            at,
            answer: Some(answer),
        }) => {
            let confirmation = Answered { at, answer };
            let mut registry = remote.registry();
            let renewed = registry.confirmed(renewal.owner_id, renewal.extension, confirmation);
            drop(registry);
            if let Some(lease) = renewed {
                telemetry::renewed(&lease.trace);
            }
        }
        // The answer is for a writer that has become a reader.
        Ok(Answered { answer: None, .. }) if is_of_another_lease(remote, renewal) => {}
        Ok(Answered { answer: None, .. }) => {
            declare_lost(remote, renewal.owner_id, Some(LossReason::NotOurs));
        }
        Err(error) => {
            let now = remote.now();
            let mut registry = remote.registry();
            if let Some(lease) = registry.lease(renewal.owner_id) {
                lease.renewal_failed(Arc::new(describe(&error)));
            }
            let failed = registry.unanswered(renewal.owner_id, now, random::jitter());
            drop(registry);
            // The lease is due again before the watchdog's planned check.
            remote.wake_watchdog();
            if let Some((lease, failures)) = failed {
                telemetry::renewal_failed(&lease.trace, &error, failures);
            }
        }
    }
}

/// Describes why a lease could not be renewed, as the end of a sentence.
fn describe(error: &WireError) -> String {
    match error {
        WireError::Refused(_) => format!("the server refused to renew it: {error}"),
        WireError::Unavailable(_) => error.to_string(),
    }
}

/// Returns whether the owner of this renewal now has another lease.
fn is_of_another_lease(remote: &Remote, renewal: &Renewal) -> bool {
    let mode = remote.registry().mode(renewal.owner_id);
    mode.is_some_and(|mode| mode != renewal.mode)
}

/// Declares the lease of an owner lost, for `reason`, or because its deadline passed if that is `None`. Promotes the
/// next caller of its local queue.
pub(crate) fn declare_lost(remote: &Arc<Remote>, owner_id: OwnerId, reason: Option<LossReason>) {
    let (lost, retained) = {
        let mut registry = remote.registry();
        // Both under one mutex: a caller that arrives in between must not resume a lost lease.
        let retained = registry.retained.remove_owner(owner_id);
        (registry.lost(owner_id), retained)
    };
    if let Some(entry) = retained {
        release::release_unawaited(remote, entry);
    }
    let Some((lease, queue)) = lost else { return };
    lease.lose(reason.unwrap_or_else(|| lease.expiry()));
    if let Some(lock) = queue {
        promotion::promote_next(remote, Mode::Exclusive, &lock, Handoff::Fresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewals_due_at_once_are_sent_no_faster_than_a_server_does_them() {
        let now = Moment::from_nanos(1_000_000_000);
        let mut pace = Pace::default();
        let batch = Pace::RENEWAL * BATCH as u32;
        for number in 0..1_000 {
            let (pause, done) = (pace.pause(now, BATCH), batch * number);
            let is_short = pause.is_zero() && done < Pace::SHORTEST;
            assert!(
                pause == done || is_short,
                "{pause:?} after {number} batches"
            );
        }
        assert_eq!(pace.pause(now + batch * 1_000, BATCH), Duration::ZERO);
    }

    #[test]
    fn renewals_due_evenly_never_wait() {
        let mut now = Moment::from_nanos(1_000_000_000);
        let mut pace = Pace::default();
        for _ in 0..1_000 {
            assert_eq!(pace.pause(now, 20), Duration::ZERO);
            now = now + TICK;
        }
    }
}
