//! From holding a lock alone to reading under it, without letting it go.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::acquiring::Outcome;
use crate::backend::remote::context::Context;
use crate::backend::remote::delivery::{self, GrantedOwner};
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::owner::RegisteredOwner;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::{pass_head, reaper};
use crate::backend::undelivered::Undelivered;
use crate::backend::wire::Wire;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::background::random;
use crate::error::LockError;
use crate::key::{Lock, OneOrMore};
use crate::lease::record::Grant;
use crate::lease::schedule::{LeaseTerms, is_fresh};
use crate::lease::{Lease, LossReason, Request};

/// Makes the holder of a lease a reader, if it still holds the lock. Repeated until it is answered or the lease is over;
/// then the lock is given back.
///
/// The lease is not renewed meanwhile: each attempt confirms it.
pub(crate) async fn downgrade<W: Wire>(
    context: &Arc<Context<W>>,
    entry: Box<LeaseEntry>,
) -> Outcome {
    let LeaseEntry {
        lease,
        mut owner,
        schedule,
        heads_queue,
        ..
    } = *entry;
    // Readers do not head the queue of those that want the lock for themselves alone.
    let _head = heads_queue.then(|| pass_head::OnDrop::new(context, &owner.names.first().lock));
    owner.become_reader();
    match attempt(context, &lease, &mut owner).await {
        Ok(grant) => {
            let request = Request {
                locks: OneOrMore::from(Lock {
                    key: lease.keys.first().clone(),
                    names: owner.names.first().clone(),
                }),
                mode: owner.mode,
                terms: LeaseTerms {
                    // `max_hold` counts from the first grant.
                    max_hold: lease.terms.max_hold.map(|_| schedule.end().since(grant.at)),
                    // A share has no minimum.
                    hold_at_least_ms: 0,
                    ..lease.terms
                },
                wait: Duration::ZERO,
                fenced: false,
                label: Arc::default(),
                labels: lease.trace.labels.clone(),
            };
            let granted = GrantedOwner {
                owner,
                grant,
                contended: grant.answer.contended,
                heads_queue: false,
            };
            let lease = delivery::register(context, &request, granted);
            Ok(Undelivered::new(context.clone(), lease))
        }
        Err(error) => {
            drop(reaper::end(context, owner));
            Err(error)
        }
    }
}

async fn attempt<W: Wire>(
    context: &Context<W>,
    lease: &Lease,
    owner: &mut RegisteredOwner,
) -> Result<Answered<Grant>, LockError> {
    let ttl = lease.terms.first_ttl();
    let mut failures = 0;
    loop {
        match context.wire.downgrade(owner, ttl).await {
            Ok(Answered {
                at,
                answer: Some(answer),
            }) if is_fresh(context.now(), at, ttl) => {
                // A lease whose deadline has passed stays lost, whatever the server still has.
                return match lease.loss() {
                    None => Ok(Answered { at, answer }),
                    Some(loss) => Err(lease.lost_error(loss)),
                };
            }
            Ok(Answered { answer: None, .. }) => {
                owner.outstanding.note_not_held();
                return Err(lease.lost_error(lease.lose(LossReason::NotOurs)));
            }
            Err(WireError::Refused(reason)) => {
                let refused = WireError::Refused(reason).into_error();
                return Err(refused.with_key(lease.keys.first()));
            }
            Ok(_) | Err(WireError::Unavailable(_)) => {}
        }
        if let Some(loss) = lease.loss() {
            return Err(lease.lost_error(loss));
        }
        failures += 1;
        let pause = backoff(failures, random::jitter()).min(lease.remaining());
        // A shutdown ends the lease meanwhile, and waits.
        let until = Instant::now() + pause;
        let _ = context.timers().timeout_at(until, pin!(lease.lost())).await;
    }
}
