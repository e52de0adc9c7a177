//! Renews leases, and says when one is lost.
//!
//! Loss is declared by the local clock or by the server's word that somebody else has the lock. A
//! renewal that fails or goes unanswered proves nothing: the lease is then *unknown*, and asked
//! for again and again until its deadline. What falls due together goes out together.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use crate::backend::wire::{Fault, Renewal, Sent, Wire};
use crate::error::LockError;
use crate::hold::{Hold, Loss};
use crate::model::record::Grant;
use crate::random;
use crate::remote::Remote;
use crate::telemetry;

/// Renewals due within this time of each other go out together.
const TICK: Duration = Duration::from_millis(2);

/// Timers stand still while the machine sleeps and leases do not, so none is slept on for longer.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Renewals in one pipeline: enough to spare round trips, too few to hold up what comes after.
const BATCH: usize = 256;

/// Looks after the holds of a client for as long as there is one. `sooner` says that something is
/// due before what was planned, or that the client is gone.
pub(crate) async fn run<W: Wire>(remote: Weak<Remote<W>>, sooner: Arc<Notify>) {
    while let Some(pause) = remote.upgrade().map(|remote| look(&remote)) {
        tokio::select! {
            biased;
            () = sooner.notified() => {}
            () = tokio::time::sleep(pause.unwrap_or(Duration::MAX)) => {}
        }
    }
}

/// Does what is due, and says how long nothing else will be; `None` if nothing is held.
fn look<W: Wire>(remote: &Arc<Remote<W>>) -> Option<Duration> {
    let now = remote.now();
    let mut roster = remote.roster();
    let agenda = roster.due(now + TICK);
    let planned = agenda.next.map(|next| next.min(now + LONGEST_SLEEP));
    roster.plan(planned);
    drop(roster);
    for owner in agenda.lost {
        remote.lost(owner, None);
    }
    for (hold, failures) in agenda.overdue {
        telemetry::renewal_overdue(&hold, failures);
    }
    for batch in agenda.renewals.chunks(BATCH) {
        let (renewing, batch) = (remote.clone(), batch.to_vec());
        remote.spawn(async move { renew(&renewing, batch).await });
    }
    planned.map(|planned| planned.since(now))
}

async fn renew<W: Wire>(remote: &Arc<Remote<W>>, mut renewals: Vec<Renewal>) {
    // Since they fell due a release may have been sent: what follows it would do no harm, nor any good.
    remote.roster().retain_held(&mut renewals);
    if renewals.is_empty() {
        return;
    }
    let results = remote.wire().renew(&renewals).await;
    for (renewal, result) in renewals.iter().zip(results) {
        note(remote, renewal, result);
    }
    // Those that failed are due again before what the watchdog planned.
    remote.look_sooner();
}

/// Renews one lease out of turn, and says what came of it.
pub(crate) async fn renew_now<W: Wire>(
    remote: &Arc<Remote<W>>,
    hold: &Hold,
) -> Result<(), LockError> {
    let Some(renewal) = remote.roster().renewal(hold.owner, remote.now()) else {
        return Err(hold.lost_error(Loss::Expired));
    };
    let renewals = [renewal];
    let result = remote.wire().renew(&renewals).await.pop();
    let result = result.unwrap_or_else(|| Err(Fault::unavailable("no answer")));
    let outcome = match &result {
        Err(fault) => Err(fault.clone().into_error().with_key(&hold.key)),
        Ok(_) => Ok(()),
    };
    note(remote, &renewals[0], result);
    remote.look_sooner();
    match hold.loss() {
        Some(loss) => Err(hold.lost_error(loss)),
        None => outcome,
    }
}

fn note<W: Wire>(
    remote: &Arc<Remote<W>>,
    renewal: &Renewal,
    result: Result<Sent<Option<Grant>>, Fault>,
) {
    match result {
        Ok(Sent {
            at,
            answer: Some(answer),
        }) => {
            let confirmation = Sent { at, answer };
            let mut roster = remote.roster();
            let renewed = roster.confirmed(renewal.owner, renewal.ttl, confirmation);
            drop(roster);
            if let Some(hold) = renewed {
                telemetry::renewed(&hold);
            }
        }
        Ok(Sent { answer: None, .. }) => remote.lost(renewal.owner, Some(Loss::NotOurs)),
        Err(fault) => {
            let now = remote.now();
            let mut roster = remote.roster();
            let unanswered = roster.unanswered(renewal.owner, now, random::jitter());
            drop(roster);
            if let Some((hold, failures)) = unanswered {
                telemetry::renewal_failed(&hold, &fault, failures);
            }
        }
    }
}
