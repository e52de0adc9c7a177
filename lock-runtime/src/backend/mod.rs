//! The backends that keep locks.
//!
//! A [`Backend`] grants leases. [`memory`] keeps locks in this process. [`remote`] keeps them on servers: it queues,
//! renews and settles with commands that [`redis`] sends, in the terms of [`wire`]. [`any`] chooses between the two,
//! and a [`held_lease`] releases what one of them has granted.

pub(crate) mod admission;
pub(crate) mod any;
pub(crate) mod any_inspection;
pub(crate) mod caller;
pub(crate) mod engine;
pub(crate) mod held_lease;
pub(crate) mod memory;
pub(crate) mod redis;
pub(crate) mod remote;
pub(crate) mod undelivered;
pub(crate) mod watching;
pub(crate) mod wire;

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use crate::backend::undelivered::{Abandon, Acquiring, Undelivered};
use crate::background::clock::Clock;
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;
use crate::lease::{Lease, Request};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReleaseOutcome {
    /// The server has confirmed it. The lock is free, or a waiter of the queue in Redis has it.
    Freed,
    /// The lock stays reserved until its minimum hold is over.
    Reserved,
    /// The lease was handed over to another caller of this client, without a command.
    HandedOver,
    /// The lease stays with this client for its next caller, without a command.
    Retained,
    /// The owner no longer held the lock.
    NotOurs,
    /// The answer did not come in time. The deadline decides, and the release continues in the background.
    Unconfirmed,
    /// The release was sent without waiting for its answer.
    NotAwaited,
}

/// A store of locks.
///
/// There are two kinds: one keeps its locks in this process, the other uses servers. The layers above do not
/// distinguish them.
pub(crate) trait Backend: Abandon + Sized {
    /// The clock that measures its leases.
    fn clock(&self) -> Clock;

    /// Acquires a lock, and waits as the request specifies. It begins at once, and must be awaited in the same poll.
    /// Dropped at any await, it leaves nothing behind.
    fn acquire(self: Arc<Self>, request: Request) -> Acquiring;

    /// Notes that the caller has the lease. Until then the lease is not extended, since the caller may never be polled
    /// again.
    fn delivered(&self, lease: &Lease);

    /// Returns the fencing token of a lease. The store mints one if there is none. `wait_ends` is when the caller's wait
    /// for the lock ends, if the token belongs to that.
    fn token(
        self: Arc<Self>,
        lease: Arc<Lease>,
        wait_ends: Option<Instant>,
    ) -> impl Future<Output = Result<FencingToken, LockError>> + Send;

    /// Confirms the lease with the store and extends it.
    fn renew(
        self: Arc<Self>,
        lease: Arc<Lease>,
    ) -> impl Future<Output = Result<(), LockError>> + Send;

    /// Atomically turns the holder of a lock into a reader. The returned lease, with its own token, replaces the old
    /// one, which must no longer be released. After an error neither exists.
    fn downgrade(
        self: Arc<Self>,
        lease: Arc<Lease>,
    ) -> impl Future<Output = Result<Undelivered, LockError>> + Send;

    /// Releases the lock.
    fn release(self: Arc<Self>, lease: Arc<Lease>) -> impl Future<Output = ReleaseOutcome> + Send;

    /// Returns every lease that is not released yet.
    fn live(&self) -> Vec<Arc<Lease>>;

    /// Completes when all leases that were abandoned before are released.
    fn settled(&self) -> impl Future<Output = ()> + Send;
}
