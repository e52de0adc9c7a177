//! Renews leases, and says when one is lost.
//!
//! Loss is declared by the local clock or by the server's word that somebody else has the lock. A
//! renewal that fails or goes unanswered proves nothing: the lease is then *unknown*, and asked
//! for again and again until its deadline. What falls due together goes out together.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use crate::backend::remote::Remote;
use crate::backend::remote::reaper;
use crate::backend::wire::{Answered, Renewal, Wire, WireError};
use crate::background::moment::Moment;
use crate::background::random;
use crate::error::LockError;
use crate::lease::record::Grant;
use crate::lease::schedule::TICK;
use crate::lease::{Lease, LossReason};
use crate::telemetry;

/// Timers stand still while the machine sleeps and leases do not, so none is slept on for longer.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Renewals in one pipeline, and holds that are looked at in one go: enough to spare round trips, and
/// few enough that whoever takes or gives back a lock meanwhile waits for a part of a millisecond, on
/// the roster here and behind them at the server.
const BATCH: usize = 64;

/// Looks after the holds of a client for as long as there is one. `is_earlier` says that something is
/// due before what was planned, or that the client is gone.
pub(crate) async fn run<W: Wire>(remote: Weak<Remote<W>>, is_earlier: Arc<Notify>) {
    let mut pace = Pace::default();
    while let Some(pause) = remote.upgrade().map(|remote| look(&remote, &mut pace)) {
        if pause == Some(Duration::ZERO) {
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            biased;
            () = is_earlier.notified() => {}
            () = tokio::time::sleep(pause.unwrap_or(Duration::MAX)) => {}
        }
    }
}

/// Does what is due, or as much of it as is done in one go, and says how long nothing else will be;
/// `None` if nothing is held.
fn look<W: Wire>(remote: &Arc<Remote<W>>, pace: &mut Pace) -> Option<Duration> {
    let now = remote.now();
    let mut registry = remote.registry();
    let expired = registry.retained.remove_expired(now);
    let agenda = registry.due(now + TICK, BATCH);
    let planned = agenda.next.map(|next| next.min(now + LONGEST_SLEEP));
    registry.plan(planned);
    drop(registry);
    for tenure in expired {
        reaper::release_unawaited(remote, tenure);
    }
    for owner_id in agenda.lost {
        remote.lost(owner_id, None);
    }
    for (lease, failures) in agenda.overdue {
        telemetry::renewal_overdue(&lease.trace, failures);
    }
    if !agenda.renewals.is_empty() {
        let pause = pace.pause(now, agenda.renewals.len());
        let renewing = remote.clone();
        remote.spawn(async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            renew(&renewing, agenda.renewals).await;
        });
    }
    planned.map(|planned| planned.since(now))
}

/// When batches of renewals are sent that all fell due at once, as after an outage: not faster than a
/// server carries them out. A release that is sent meanwhile then waits for one of them, and not for
/// a hundred. What is due evenly never waits.
#[derive(Debug, Default)]
struct Pace {
    /// When the server has done what it was sent, as far as renewals go.
    free: Option<Moment>,
}

impl Pace {
    /// What a renewal takes a server, which does some 250 000 a second.
    const RENEWAL: Duration = Duration::from_micros(4);

    /// Timers know nothing shorter.
    const SHORTEST: Duration = Duration::from_millis(1);

    /// How long to wait with the next `renewals`.
    fn pause(&mut self, now: Moment, renewals: usize) -> Duration {
        let start = self.free.map_or(now, |free| free.max(now));
        let renewals = u32::try_from(renewals).unwrap_or(u32::MAX);
        self.free = Some(start + Self::RENEWAL.saturating_mul(renewals));
        Some(start.since(now))
            .filter(|&pause| pause >= Self::SHORTEST)
            .unwrap_or_default()
    }
}

async fn renew<W: Wire>(remote: &Arc<Remote<W>>, mut renewals: Vec<Renewal>) {
    // Since they fell due a release may have been sent: what follows it would do no harm, nor any good.
    remote.registry().retain_held(&mut renewals);
    if renewals.is_empty() {
        return;
    }
    let results = remote.wire().renew(&renewals).await;
    for (renewal, result) in renewals.iter().zip(results) {
        note(remote, renewal, result);
    }
    if remote.registry().may_confirm() {
        remote.wake_watchdog();
    }
}

/// Renews one lease out of turn, and says what came of it.
pub(crate) async fn renew_now<W: Wire>(
    remote: &Arc<Remote<W>>,
    lease: &Lease,
) -> Result<(), LockError> {
    let Some(renewal) = remote.registry().renewal(lease.owner_id, remote.now()) else {
        return Err(lease.lost_error(LossReason::Expired));
    };
    let renewals = [renewal];
    let result = remote.wire().renew(&renewals).await.pop();
    let result = result.unwrap_or_else(|| Err(WireError::unavailable("no answer")));
    let outcome = match &result {
        Err(fault) => Err(fault.clone().into_error().with_key(lease.keys.first())),
        Ok(_) => Ok(()),
    };
    note(remote, &renewals[0], result);
    match lease.loss() {
        Some(loss) => Err(lease.lost_error(loss)),
        None => outcome,
    }
}

fn note<W: Wire>(
    remote: &Arc<Remote<W>>,
    renewal: &Renewal,
    result: Result<Answered<Option<Grant>>, WireError>,
) {
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
        Ok(Answered { answer: None, .. }) => {
            remote.lost(renewal.owner_id, Some(LossReason::NotOurs))
        }
        Err(fault) => {
            let now = remote.now();
            let mut registry = remote.registry();
            let unanswered = registry.unanswered(renewal.owner_id, now, random::jitter());
            drop(registry);
            // It is due again before what the watchdog planned.
            remote.wake_watchdog();
            if let Some((lease, failures)) = unanswered {
                telemetry::renewal_failed(&lease.trace, &fault, failures);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_due_at_once_is_sent_no_faster_than_it_is_done() {
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
    fn what_is_due_evenly_never_waits() {
        let mut now = Moment::from_nanos(1_000_000_000);
        let mut pace = Pace::default();
        for _ in 0..1_000 {
            assert_eq!(pace.pause(now, 20), Duration::ZERO);
            now = now + TICK;
        }
    }
}
