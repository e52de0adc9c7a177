//! Sends the protocol's commands to the servers of a client.

use std::time::Duration;

use crate::backend::redis::{OnNotWritten, QuorumWire, RedisWire, Subscription};
#[cfg(test)]
use crate::backend::remote::tests::SilentWire;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{
    Cursor, Line, Listing, RevokeOrder, RevokeReply, ServerReply,
};
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::run_entry::RunEntry;
use crate::backend::wire::{AcquireRequest, End, Renewal, RenewalOutcome};
use crate::background::moment::Moment;
use crate::key::{LockKey, LockName, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::state::{LockState, Run};

/// The servers of a client. The command timeout bounds each command, including the connect.
pub(crate) enum Servers {
    /// One server, or the nodes of a cluster.
    Redis(RedisWire),
    /// Independent servers. A lock is held on a majority of them.
    Quorum(QuorumWire),
    /// A server that never answers.
    #[cfg(test)]
    Silent(SilentWire),
}

/// Calls servers of either kind. A quorum's future is boxed: otherwise every command's future would have room for it.
macro_rules! ask {
    ($servers:expr, $wire:ident => $asked:expr) => {
        match $servers {
            Servers::Redis($wire) => $asked.await,
            Servers::Quorum($wire) => Box::pin($asked).await,
            #[cfg(test)]
            Servers::Silent(_) => std::future::pending().await,
        }
    };
}

impl Servers {
    /// Returns whether the servers keep a queue of owners, and hand off a lock to the first of them. Without one,
    /// owners listen for releases and compete.
    pub(crate) fn has_queue(&self) -> bool {
        match self {
            Servers::Redis(wire) => wire.has_queue(),
            Servers::Quorum(_) => true,
            #[cfg(test)]
            Servers::Silent(_) => true,
        }
    }

    /// Returns whether an end can name a successor, which then has the lock.
    pub(crate) fn has_successors(&self) -> bool {
        match self {
            Servers::Redis(wire) => wire.has_successors(),
            Servers::Quorum(_) => false,
            #[cfg(test)]
            Servers::Silent(_) => true,
        }
    }

    /// Subscribes a waiting caller's client to the releases of a lock, until the subscription is dropped. Returns
    /// `None` if the servers have a queue. Sends nothing.
    pub(crate) fn subscription(&self, lock: &LockName) -> Option<Subscription> {
        match self {
            Servers::Redis(wire) => wire.subscription(lock),
            Servers::Quorum(_) => None,
            #[cfg(test)]
            Servers::Silent(_) => None,
        }
    }

    /// Notifies an owner of each release of its lock. Its caller must have a subscription. Returns `true` if an earlier
    /// release may have been missed, so that the owner must ask once more.
    pub(crate) async fn listen(&self, owner: &Owner) -> Result<bool, WireError> {
        match self {
            Servers::Redis(wire) => wire.listen(owner).await,
            Servers::Quorum(_) => Ok(false),
            #[cfg(test)]
            Servers::Silent(_) => Ok(false),
        }
    }

    /// Takes or confirms the lock, or takes or keeps a place in its queue. Idempotent.
    #[inline]
    pub(crate) async fn acquire(
        &self,
        owner: &mut Owner,
        request: AcquireRequest,
    ) -> Result<Answered<AcquireReply>, WireError> {
        ask!(self, wire => wire.acquire(owner, request))
    }

    /// Turns an owner's exclusive lock into its share. The share's token is the next one after the lock's. A lock without
    /// a token gives it the time of the grant, whose acquire was sent at `untokened_since`. Idempotent. Returns `None` if the
    /// owner neither holds nor shares the lock; it then gets nothing, even if the lock is free. A quorum has neither
    /// shares nor writers.
    pub(crate) async fn downgrade(
        &self,
        owner: &mut Owner,
        ttl: Duration,
        untokened_since: Option<Moment>,
    ) -> RenewalOutcome {
        match self {
            Servers::Redis(wire) => wire.downgrade(owner, ttl, untokened_since).await,
            Servers::Quorum(_) => {
                let (at, answer) = (Moment::FIRST, None);
                Ok(Answered { at, answer })
            }
            #[cfg(test)]
            Servers::Silent(_) => std::future::pending().await,
        }
    }

    /// Waits until enough replicas have the lock that the owner was granted. Without required replicas it returns at
    /// once.
    pub(crate) async fn replicated(&self, owner: &Owner, ttl: Duration) -> Result<(), WireError> {
        match self {
            Servers::Redis(wire) => wire.replicated(owner, ttl).await,
            Servers::Quorum(_) => Ok(()),
            #[cfg(test)]
            Servers::Silent(_) => Ok(()),
        }
    }

    /// Checks that enough replicas acknowledge a write now, if the client requires any. The error describes what is
    /// missing.
    pub(crate) async fn has_replicas(&self, owner: &Owner) -> Result<(), WireError> {
        match self {
            Servers::Redis(wire) => wire.has_replicas(owner).await,
            Servers::Quorum(_) => Ok(()),
            #[cfg(test)]
            Servers::Silent(_) => Ok(()),
        }
    }

    /// Gives a token to a holder that took its lock without one, or returns the token that it has. The token is the
    /// time of the grant, whose acquire was sent at `granted_at`. Returns `None` if the owner does not hold the lock.
    /// Idempotent, and does not change the lease.
    ///
    /// Never called for servers whose every grant has a token.
    pub(crate) async fn mint(
        &self,
        owner_id: OwnerId,
        names: &OneOrMore<RecordNames>,
        granted_at: Moment,
    ) -> Result<Answered<Option<FencingToken>>, WireError> {
        match self {
            Servers::Redis(wire) => wire.mint(owner_id, names, granted_at).await,
            _ => Err(WireError::refused("each grant has a token here")),
        }
    }

    /// Extends leases, all in one pipeline. Reports each outcome once, with the index of its renewal, as soon as it is
    /// known: one lease must not hold up another.
    pub(crate) async fn renew(
        &self,
        renewals: &[Renewal],
        report: impl FnMut(usize, RenewalOutcome) + Send,
    ) {
        ask!(self, wire => wire.renew(renewals, report));
    }

    /// Ends an owner.
    #[inline]
    pub(crate) async fn end(
        &self,
        owner: &mut Owner,
        how: End<'_>,
    ) -> Result<Answered<EndReply>, WireError> {
        match self {
            Servers::Redis(wire) => wire.end(owner, how).await,
            Servers::Quorum(wire) => Box::pin(wire.end(owner, how)).await,
            #[cfg(test)]
            Servers::Silent(wire) => wire.end(owner, how).await,
        }
    }

    /// Sends an entry of a run history without waiting for its answer. A quorum has no histories.
    pub(crate) fn submit_run(&self, entry: &RunEntry, on_failure: OnNotWritten) {
        if let Servers::Redis(wire) = self {
            wire.submit_run(entry, on_failure);
        }
    }

    /// Writes an entry of a run history, and waits for the answer.
    pub(crate) async fn write_run(&self, entry: &RunEntry) -> Result<(), WireError> {
        match self {
            Servers::Redis(wire) => wire.write_run(entry).await,
            _ => Ok(()),
        }
    }

    /// Reads and handles the messages about a lock that have arrived.
    pub(crate) fn read_messages(&self, lock: &LockName) {
        match self {
            Servers::Redis(wire) => wire.read_messages(lock),
            Servers::Quorum(wire) => wire.read_messages(),
            #[cfg(test)]
            Servers::Silent(_) => {}
        }
    }

    /// Splits renewals by server, since a silent server must not hold up the others.
    pub(crate) fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        match self {
            Servers::Redis(wire) => wire.apart(renewals),
            Servers::Quorum(_) => vec![renewals],
            #[cfg(test)]
            Servers::Silent(_) => vec![renewals],
        }
    }

    /// Keeps reading messages although no command is sent, since a message may end a retained lease.
    pub(crate) fn keep_reading_messages(&self) {
        match self {
            Servers::Redis(wire) => wire.keep_reading_messages(),
            Servers::Quorum(wire) => wire.keep_reading_messages(),
            #[cfg(test)]
            Servers::Silent(_) => {}
        }
    }

    /// Completes when no unattended command is in flight.
    pub(crate) async fn settled(&self) {
        if let Servers::Quorum(wire) = self {
            wire.settled().await;
        }
    }

    /// Checks that the server answers. In a cluster, each node with slots must answer, in a quorum a majority.
    pub(crate) async fn ping(&self) -> Result<(), WireError> {
        ask!(self, wire => wire.ping())
    }
}

/// Operators' commands.
impl Servers {
    /// Makes a round trip to the servers without writing: to a majority of a quorum, or to each primary of a cluster.
    pub(crate) async fn probe(&self) -> Result<(), WireError> {
        ask!(self, wire => wire.probe())
    }

    /// Returns the lock with these names, and the server's time (µs).
    pub(crate) async fn inspect(
        &self,
        key: &LockKey,
        names: &RecordNames,
    ) -> Result<(LockState, u64), WireError> {
        ask!(self, wire => wire.inspect(key, names))
    }

    /// Returns the runs of the lock with these names, the last one first. A quorum has none.
    pub(crate) async fn runs(&self, names: &RecordNames) -> Result<Vec<Run>, WireError> {
        match self {
            Servers::Redis(wire) => wire.runs(names).await,
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the next locks of a listing. The cursor moves only once they are known.
    pub(crate) async fn page(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Vec<LockState>, WireError> {
        ask!(self, wire => wire.page(listing, cursor))
    }

    /// Takes a lock from its holder.
    pub(crate) async fn revoke(
        &self,
        names: &RecordNames,
        order: &RevokeOrder,
    ) -> Result<RevokeReply, WireError> {
        ask!(self, wire => wire.revoke(names, order))
    }

    /// Sends commands to each server, or to the named one. Returns each answer with the server's address, unless there
    /// is only one server.
    pub(crate) async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<(String, ServerReply)>, WireError> {
        ask!(self, wire => wire.ask_servers(server, commands))
    }

    /// Returns the user as whom the client has logged in; `None` if it named none.
    pub(crate) fn user(&self) -> Option<String> {
        match self {
            Servers::Redis(wire) => wire.user(),
            Servers::Quorum(wire) => wire.user(),
            #[cfg(test)]
            Servers::Silent(_) => None,
        }
    }

    /// Appends a line to the audit in this stream.
    pub(crate) async fn append(&self, stream: &str, line: &Line) -> Result<(), WireError> {
        ask!(self, wire => wire.append(stream, line))
    }

    /// Returns the next lines of the audit in this stream, from the last `since`, or from all time.
    pub(crate) async fn lines(
        &self,
        stream: &str,
        since: Option<Duration>,
        cursor: &mut Cursor,
    ) -> Result<Vec<Line>, WireError> {
        ask!(self, wire => wire.lines(stream, since, cursor))
    }
}
