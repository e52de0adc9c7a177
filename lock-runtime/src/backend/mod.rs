//! Where locks are kept.
//!
//! A [`Backend`] speaks of holds. [`memory`] is one: it keeps locks in this process. Servers are
//! reached through a [`wire::Wire`], which speaks of commands. What makes a backend of a wire, waiting and
//! renewing and settling what went unanswered, is [`remote`].

pub(crate) mod admission;
pub(crate) mod any;
pub(crate) mod memory;
pub(crate) mod owned_lease;
pub(crate) mod redis;
pub(crate) mod remote;
pub(crate) mod undelivered;
pub(crate) mod wire;

use std::future::Future;
use std::sync::Arc;

use crate::backend::undelivered::{Abandon, Undelivered};
use crate::background::clock::Clock;
use crate::error::LockError;
use crate::lease::Lease;
pub(crate) use crate::lease::Request;

/// How a release ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReleaseOutcome {
    /// The server confirmed it.
    Freed,
    /// The lease went to another caller of this client, and the server was not asked.
    HandedOver,
    /// The lease stays with this client for its next caller, and the server was not asked.
    Retained,
    /// The server says that the lock was not ours any more.
    NotOurs,
    /// No answer in time: the deadline decides, and the release goes on in the background.
    Unconfirmed,
    /// The release was sent, and nobody waits for the answer.
    NotAwaited,
}

/// What a backend does, in the terms of a holder.
///
/// There are two kinds: one keeps its locks in this process, the others speak to servers. They are
/// told apart here and nowhere above.
pub(crate) trait Backend: Abandon + Sized {
    /// The clock that its leases are measured by.
    fn clock(&self) -> Clock;

    /// Acquires, waiting as the request says. Dropped at any await it leaves nothing behind.
    fn acquire(
        self: Arc<Self>,
        request: Request,
    ) -> impl Future<Output = Result<Undelivered, LockError>> + Send;

    /// The caller has the hold from now on. Before, its lease is not extended: nobody may ever come for it.
    fn delivered(&self, lease: &Lease);

    /// Confirms the lease against the store and extends it.
    fn renew(
        self: Arc<Self>,
        lease: Arc<Lease>,
    ) -> impl Future<Output = Result<(), LockError>> + Send;

    /// Gives the lock back and says how that went.
    fn release(self: Arc<Self>, lease: Arc<Lease>) -> impl Future<Output = ReleaseOutcome> + Send;

    /// Every hold that was not given back yet.
    fn live(&self) -> Vec<Arc<Lease>>;

    /// Completes when what was abandoned before has been given back.
    fn settled(&self) -> impl Future<Output = ()> + Send;
}
