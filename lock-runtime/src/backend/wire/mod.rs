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
    /// Whether the owner queues if it cannot have the lock now.
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
    /// It holds the lock, and no waiter is known. `number` is the number in the record: a server may be asked to
    /// compare all of it. If a waiter queues after all, nothing is done.
    Release { number: FencingToken },
    /// It holds the lock, which stays reserved for a time, by no owner.
    Reserve { time: Duration },
    /// Whatever it has or queues for.
    Whole { successor: Option<Successor<'a>> },
}

/// The owner that takes over if no other client's owner queues.
#[derive(Debug)]
pub(crate) struct Successor<'a> {
    pub(crate) owner: &'a mut Owner,
    pub(crate) ttl: Duration,
}

/// Unsolicited reports of a wire. Its methods run on the thread that read them, with no mutex held.
pub(crate) trait WireEvents: Send + Sync + 'static {
    /// The ids that a new connection to a node subscribes to, the id of new owners first.
    fn client_ids(&self, node: NodeId) -> Result<Vec<ClientId>, LockError>;

    /// The ids in use that a new connection is not subscribed to: they came into use while it was made.
    fn missing_ids(&self, subscribed: &[ClientId]) -> Vec<ClientId>;

    /// A connection is ready for commands.
    fn connected(&self, node: NodeId, connection: ConnectionId);

    /// A connection is gone on which the locks that `concerns` selects were confirmed.
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

    /// A message has come: a grant was announced to this client.
    fn message(&self, channel: &[u8], payload: &[u8]);

    /// A lock that this owner listens for may be free.
    fn released(&self, listener: OwnerId);
}
