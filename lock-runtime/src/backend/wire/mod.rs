//! The protocol's commands and answers. Each may be lost on the way or stay unanswered.

pub(crate) mod error;
pub(crate) mod first_command;
pub(crate) mod inspection;
pub(crate) mod notice;
pub(crate) mod outstanding;
pub(crate) mod owner;
pub(crate) mod pace;
pub(crate) mod reply;
pub(crate) mod settling;

use std::time::Duration;

use crate::backend::wire::error::WireError;
use crate::backend::wire::first_command::FirstCommand;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::Answered;
use crate::error::LockError;
use crate::key::{LockName, OneOrMore, RecordNames};
use crate::lease::Mode;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::{ClientId, OwnerId};
use crate::lease::record::Grant;
use crate::lease::schedule::Extension;

/// The id of a node among those of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

/// Asks for the lock, confirms a grant of it, or takes and keeps a place in its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcquireRequest {
    pub(crate) ttl: Duration,
    /// Whether the owner queues where it cannot have the lock now.
    pub(crate) queue: bool,
    pub(crate) first: FirstCommand,
}

/// The renewal of one of many leases.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    pub(crate) owner_id: OwnerId,
    pub(crate) names: OneOrMore<RecordNames>,
    pub(crate) mode: Mode,
    pub(crate) extension: Extension,
}

/// The answer to a renewal or a downgrade; `None` means that the owner does not hold the lock.
pub(crate) type RenewalOutcome = Result<Answered<Option<Grant>>, WireError>;

/// How an owner is ended. Afterwards it neither holds the lock nor queues for it.
#[derive(Debug)]
pub(crate) enum End<'a> {
    /// It holds the lock, and no waiter is known. `number` is the one in the record: a server may be asked to compare
    /// the whole of it. If a waiter queues after all, nothing is done.
    Release { number: FencingToken },
    /// It holds the lock, which stays taken for a time, by no owner.
    Rest { time: Duration },
    /// Whatever it has or queues for.
    Whole { successor: Option<Successor<'a>> },
}

/// The owner that takes over if no other client's owner queues.
#[derive(Debug)]
pub(crate) struct Successor<'a> {
    pub(crate) owner: &'a mut Owner,
    pub(crate) ttl: Duration,
}

/// What a wire reports without having been asked. Its methods run on the thread that read it, with no mutex
/// held.
pub(crate) trait WireEvents: Send + Sync + 'static {
    /// The ids that a new connection to a node subscribes to: that of new owners first.
    fn client_ids(&self, node: NodeId) -> Result<Vec<ClientId>, LockError>;

    /// The ids in use that a new connection is not subscribed to: they came into use while it was made.
    fn missing_ids(&self, subscribed: &[ClientId]) -> Vec<ClientId>;

    /// A connection is ready for commands.
    fn connected(&self, node: NodeId, connection: ConnectionId);

    /// A connection is gone, on which locks were confirmed of which `concerns` is true.
    fn disconnected(
        &self,
        node: NodeId,
        connection: ConnectionId,
        concerns: &dyn Fn(&LockName) -> bool,
    );

    /// The locks of which `concerns` is true are on another node now.
    fn moved(&self, concerns: &dyn Fn(&LockName) -> bool);

    /// The locks of which `concerns` is true may have been taken from their owners.
    fn doubted(&self, concerns: &dyn Fn(&LockName) -> bool);

    /// A message has come: a grant was announced to this client.
    fn message(&self, channel: &[u8], payload: &[u8]);

    /// A lock may be free that this owner listens for.
    fn released(&self, listener: OwnerId);
}
