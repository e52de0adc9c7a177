//! Turns a write lock into a read lock, without freeing it in between.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::remote::Remote;
use crate::backend::remote::delivery::{self, GrantedOwner};
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::promotion::Handoff;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::remote::{promotion, reaper};
use crate::backend::undelivered::{Outcome, Undelivered};
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::background::fork::Origin;
use crate::background::moment::Moment;
use crate::background::random;
use crate::background::sync::Mutex;
use crate::error::LockError;
use crate::key::{Lock, LockName, OneOrMore};
use crate::lease::record::Grant;
use crate::lease::schedule::{LeaseTerms, is_fresh};
use crate::lease::{Lease, LossReason, Mode, Request};

/// Turns the holder of a lease into a reader, if it still holds the lock. Retries until the server answers or the lease
/// is over; in the latter case the lock is given back.
///
/// The lease is not renewed meanwhile, because each attempt confirms it. Dropping this at any time, even before the
/// first poll, ends the holder.
pub(crate) fn downgrade(
    remote: Arc<Remote>,
    entry: Box<LeaseEntry>,
) -> impl Future<Output = Outcome> + Send {
    let LeaseEntry {
        lease,
        owner,
        schedule,
        holding,
        ..
    } = *entry;
    let mut writer = Writer {
        remote,
        lock: owner.names.first().lock.clone(),
        owner: Some(owner),
        heads_queue: holding.heads_queue(),
    };
    async move {
        let owner = writer.owner.as_mut().expect("a writer has an owner");
        owner.become_reader();
        let grant = attempt(&writer.remote, &lease, owner, holding.granted_at()).await?;
        let owner = writer.owner.take().expect("a writer has an owner");
        let reader = reader_of(&lease, &owner, schedule.end(), grant.at);
        let granted = GrantedOwner {
            owner,
            grant,
            contended: grant.answer.contended,
            heads_queue: false,
        };
        let lease = delivery::register(&writer.remote, &reader, granted);
        Ok(Undelivered::new(writer.remote.clone(), lease))
    }
}

/// Returns the request of the reader that replaces the holder of `lease`. Its lease ends at `end`, and counts from
/// `from`.
fn reader_of(lease: &Lease, owner: &RegisteredOwner, end: Moment, from: Moment) -> Request {
    Request {
        locks: OneOrMore::from(Lock {
            key: lease.keys.first().clone(),
            names: owner.names.first().clone(),
        }),
        mode: owner.mode,
        terms: LeaseTerms {
            // `max_hold` counts from the first grant.
            max_hold: lease.terms.max_hold.map(|_| end.since(from)),
            // A share has no minimum hold.
            min_hold_ms: 0,
            ..lease.terms
        },
        wait: Duration::ZERO,
        fenced: false,
        label: Arc::default(),
        labels: lease.trace.labels.clone(),
        run: lease.run(),
    }
}

/// A writer that is becoming a reader. Once it has, the next caller is the head of the local queue, since readers do
/// not head the queue of exclusive callers. If this is dropped before, the writer is ended, too.
struct Writer {
    remote: Arc<Remote>,
    lock: LockName,
    /// `None` once the holder is a reader.
    owner: Option<RegisteredOwner>,
    heads_queue: bool,
}

impl Drop for Writer {
    fn drop(&mut self) {
        // In a forked child, another thread of the parent may have held the mutexes during the fork.
        if self.remote.check_process().is_err() {
            return;
        }
        if let Some(owner) = self.owner.take() {
            drop(reaper::end(&self.remote, owner));
        }
        if self.heads_queue {
            promotion::promote_next(&self.remote, Mode::Exclusive, &self.lock, Handoff::Fresh);
        }
    }
}

async fn attempt(
    remote: &Remote,
    lease: &Lease,
    owner: &mut RegisteredOwner,
    granted_at: Moment,
) -> Result<Answered<Grant>, LockError> {
    let ttl = lease.terms.first_ttl();
    let mut failures = 0;
    loop {
        let untokened_since = lease.known_token().is_none().then_some(granted_at);
        match remote.wire.downgrade(owner, ttl, untokened_since).await {
            Ok(Answered {
                at,
                answer: Some(answer),
            }) if is_fresh(remote.now(), at, ttl) => {
                // A lease whose deadline has passed is lost, even if the server still has its record.
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
        // Wakes early if a shutdown ends the lease.
        let until = Instant::now() + pause;
        let _ = remote.timers().timeout_at(until, pin!(lease.lost())).await;
    }
}

/// The leases of writers that are becoming readers. They have no due work, so they are not in the registry, but a
/// shutdown must end them.
#[derive(Debug)]
pub(crate) struct Downgrading {
    origin: Origin,
    leases: Mutex<Vec<Arc<Lease>>>,
}

impl Default for Downgrading {
    fn default() -> Downgrading {
        Downgrading {
            origin: Origin::here(),
            leases: Mutex::default(),
        }
    }
}

impl Downgrading {
    /// Adds a lease before it leaves the registry. Drop the returned value to remove it, when the registry has the
    /// reader's lease.
    pub(crate) fn begin(self: &Arc<Self>, lease: &Arc<Lease>) -> Downgrade {
        self.leases.lock().push(lease.clone());
        Downgrade {
            all: self.clone(),
            lease: lease.clone(),
        }
    }

    pub(crate) fn leases(&self) -> Vec<Arc<Lease>> {
        self.leases.lock().clone()
    }
}

/// A writer that is becoming a reader, until this is dropped.
#[derive(Debug)]
pub(crate) struct Downgrade {
    all: Arc<Downgrading>,
    lease: Arc<Lease>,
}

impl Drop for Downgrade {
    fn drop(&mut self) {
        // In a forked child, another thread of the parent may have held the mutex during the fork.
        if let Some(mut leases) = self.all.leases.lock_unless_forked(&self.all.origin) {
            leases.retain(|other| !Arc::ptr_eq(other, &self.lease));
        }
    }
}

#[cfg(test)]
mod tests;
