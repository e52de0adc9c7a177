//! The protocol's commands and answers. Each may be lost on the way or stay unanswered.

pub(crate) mod error;
pub(crate) mod first_command;
pub(crate) mod inspection;
pub(crate) mod notice;
pub(crate) mod outstanding;
pub(crate) mod owner;
pub(crate) mod pace;
pub(crate) mod reply;
pub(crate) mod run_entry;
pub(crate) mod settling;
pub(crate) mod unended;

use std::sync::Arc;
use std::time::Duration;

use crate::backend::wire::error::WireError;
use crate::backend::wire::first_command::FirstCommand;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::Answered;
use crate::error::LockError;
use crate::key::{LockName, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::{ClientId, OwnerId};
use crate::lease::record::Grant;
use crate::lease::schedule::Extension;
use crate::lease::{Lease, Mode};

/// Identifies a node of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

/// A command that asks for the lock, confirms a grant, or takes and keeps a place in the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcquireRequest {
    pub(crate) ttl: Duration,
    /// Whether the owner queues if it cannot have the lock now.
    pub(crate) queue: bool,
    pub(crate) first: FirstCommand,
}

/// The renewal of one of many leases.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    /// The lease that it is for; `None` for a write that concerns no lease yet.
    pub(crate) lease: Option<Arc<Lease>>,
    pub(crate) owner_id: OwnerId,
    pub(crate) names: OneOrMore<RecordNames>,
    pub(crate) mode: Mode,
    pub(crate) extension: Extension,
}

impl Renewal {
    /// Returns whether the lease is lost by now. Then the renewal must not be sent: it would keep others out of the lock
    /// for nobody.
    pub(crate) fn is_over(&self) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.is_over())
    }
}

/// The answer to a renewal or a downgrade; `None` means that the owner does not hold the lock.
pub(crate) type RenewalOutcome = Result<Answered<Option<Grant>>, WireError>;

/// How an owner is ended. Afterwards it neither holds the lock nor queues for it.
#[derive(Debug)]
pub(crate) enum End<'a> {
    /// The owner holds the lock, and no waiter is known. `number` is the number in the record, since some servers
    /// compare the whole record. If a waiter queues after all, the command does nothing.
    Release { number: FencingToken },
    /// The owner holds the lock, which stays reserved for a time, without an owner.
    Reserve { time: Duration },
    /// The owner may hold the lock or queue for it.
    Whole { successor: Option<Successor<'a>> },
}

/// The owner that takes over if no other client's owner queues.
#[derive(Debug)]
pub(crate) struct Successor<'a> {
    pub(crate) owner: &'a mut Owner,
    pub(crate) ttl: Duration,
}

/// Receives the unsolicited reports of a wire. The thread that read the report runs these methods, with no mutex held.
pub(crate) trait WireEvents: Send + Sync + 'static {
    /// The ids that a new connection to a node subscribes to, the id of new owners first.
    fn client_ids(&self, node: NodeId) -> Result<Vec<ClientId>, LockError>;

    /// The ids that came into use while a new connection was being made, so that it is not subscribed to them.
    fn missing_ids(&self, subscribed: &[ClientId]) -> Vec<ClientId>;

    /// A connection is ready for commands.
    fn connected(&self, node: NodeId, connection: ConnectionId);

    /// A connection is gone. The locks that `concerns` selects were confirmed on it.
    fn disconnected(
        &self,
        node: NodeId,
        connection: ConnectionId,
        concerns: &dyn Fn(&LockName) -> bool,
    );

    /// The locks that `concerns` selects are on another node now.
    fn moved(&self, concerns: &dyn Fn(&LockName) -> bool);

    /// The locks that `concerns` selects may have been taken from their owners.
    fn doubted(&self, concerns: &dyn Fn(&LockName) -> bool);

    /// A message has arrived: a grant for this client was announced.
    fn message(&self, channel: &[u8], payload: &[u8]);

    /// The lock that this owner listens for, which `concerns` selects, may be free.
    fn released(&self, listener: OwnerId, concerns: &dyn Fn(&LockName) -> bool);
}
