//! The protocol's commands, as a server is asked for them. Each may be lost on the way or stay unanswered.

pub(crate) mod error;
pub(crate) mod first_command;
pub(crate) mod inspection;
pub(crate) mod notice;
pub(crate) mod outstanding;
pub(crate) mod owner;
pub(crate) mod pace;
pub(crate) mod reply;
pub(crate) mod settling;

use std::future::{Future, ready};
use std::time::Duration;

use crate::backend::wire::error::WireError;
use crate::backend::wire::first_command::FirstCommand;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::background::moment::Moment;
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

/// The commands of the protocol. Each is bounded by the command timeout, connecting included.
pub(crate) trait Wire: Send + Sync + 'static {
    /// Whether the servers keep a queue of owners, and hand a lock to the first of them. Without one, owners listen for
    /// releases and compete.
    fn has_queue(&self) -> bool;

    /// Whether an end can name a successor, which has the lock from then on.
    fn has_successors(&self) -> bool;

    /// Keeps the client subscribed to the releases of a lock, for one caller that waits. The last one unsubscribes as it
    /// is dropped.
    type Subscription: Send + Sync + 'static;

    /// For a caller that begins to wait for a lock; `None` if the servers have a queue. Sends nothing.
    fn subscription(&self, lock: &LockName) -> Option<Self::Subscription>;

    /// Has an owner, whose caller has a subscription, notified of each release of its lock. `true` if a release before
    /// this may have been missed, so that the owner is to ask once more.
    fn listen(&self, owner: &Owner) -> impl Future<Output = Result<bool, WireError>> + Send;

    /// Takes or confirms the lock, or takes or keeps a place in its queue. Repeating it does no harm.
    fn acquire(
        &self,
        owner: &mut Owner,
        request: AcquireRequest,
    ) -> impl Future<Output = Result<Answered<AcquireReply>, WireError>> + Send;

    /// Turns the lock that the owner holds alone into its share. `None`: it neither holds nor shares the lock, and gets
    /// nothing, even if the lock is free. Repeating it does no harm. A wire without shares has no writers that ask.
    fn downgrade(
        &self,
        _owner: &mut Owner,
        _ttl: Duration,
    ) -> impl Future<Output = RenewalOutcome> + Send {
        let (at, answer) = (Moment::FIRST, None);
        ready(Ok(Answered { at, answer }))
    }

    /// Waits until enough replicas have the lock that the owner was granted, if the client waits for any.
    fn replicated(
        &self,
        owner: &Owner,
        ttl: Duration,
    ) -> impl Future<Output = Result<(), WireError>> + Send;

    /// Whether enough replicas acknowledge a write now, if the client waits for any. The error says what is missing.
    fn has_replicas(&self, _owner: &Owner) -> impl Future<Output = Result<(), WireError>> + Send {
        ready(Ok(()))
    }

    /// Gives a token to the holder of a lock that it took without one, or answers the token that it has; `None` if the owner
    /// does not hold the lock. Repeating it does no harm, and it changes nothing of the lease.
    ///
    /// Never called where each grant has a token.
    fn mint(
        &self,
        _: OwnerId,
        _: &OneOrMore<RecordNames>,
    ) -> impl Future<Output = Result<Option<FencingToken>, WireError>> + Send {
        ready(Err(WireError::refused("each grant has a token here")))
    }

    /// Extends leases, all in one pipeline. Each outcome is reported once, with the number of its renewal, as soon as it is
    /// known: one lease must not hold up another.
    fn renew(
        &self,
        renewals: &[Renewal],
        report: impl FnMut(usize, RenewalOutcome) + Send,
    ) -> impl Future<Output = ()> + Send;

    /// Ends an owner.
    fn end(
        &self,
        owner: &mut Owner,
        how: End<'_>,
    ) -> impl Future<Output = Result<Answered<EndReply>, WireError>> + Send;

    /// Reads the messages about a lock that have arrived. They are handled before this returns.
    fn read_messages(&self, lock: &LockName);

    /// The renewals that go to different servers, apart: one that is silent must not hold up the others.
    fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>>;

    /// Has messages read from now on although no command is sent, since one of them ends a retained lease.
    fn keep_reading_messages(&self);

    /// Completes when no command that nothing else waits for is under way.
    fn settled(&self) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Checks that the server answers, or each server that has locks.
    fn ping(&self) -> impl Future<Output = Result<(), WireError>> + Send;
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
