//! Sends the protocol's commands to the servers of a client.

use std::time::Duration;

use crate::backend::redis::{QuorumWire, RedisWire, Subscription};
#[cfg(test)]
use crate::backend::remote::tests::SilentWire;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{
    Cursor, Line, Listing, RevokeOrder, RevokeReply, ServerReply,
};
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::{AcquireRequest, End, Renewal, RenewalOutcome};
use crate::background::moment::Moment;
use crate::key::{LockKey, LockName, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::state::LockState;

/// The servers of a client. Each command is bounded by the command timeout, connecting included.
pub(crate) enum Servers {
    /// One server, or the nodes of a cluster.
    Redis(RedisWire),
    /// Independent servers. A majority of them must have each lock.
    Quorum(QuorumWire),
    /// A server that never answers.
    #[cfg(test)]
    Silent(SilentWire),
}

/// Calls servers of either kind. A quorum's future is boxed, or every command's future would have room for it.
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
    /// Whether they keep a queue of owners, and hand a lock off to the first of them. Without one, owners listen for
    /// releases and compete.
    pub(crate) fn has_queue(&self) -> bool {
        match self {
            Servers::Redis(wire) => wire.has_queue(),
            Servers::Quorum(_) => true,
            #[cfg(test)]
            Servers::Silent(_) => true,
        }
    }

    /// Whether an end can name a successor, which has the lock from then on.
    pub(crate) fn has_successors(&self) -> bool {
        match self {
            Servers::Redis(wire) => wire.has_successors(),
            Servers::Quorum(_) => false,
            #[cfg(test)]
            Servers::Silent(_) => true,
        }
    }

    /// Subscribes the client to the releases of a lock, for a caller that begins to wait for it, until the subscription
    /// is dropped; `None` if the servers have a queue. Sends nothing.
    pub(crate) fn subscription(&self, lock: &LockName) -> Option<Subscription> {
        match self {
            Servers::Redis(wire) => wire.subscription(lock),
            Servers::Quorum(_) => None,
            #[cfg(test)]
            Servers::Silent(_) => None,
        }
    }

    /// Notifies an owner, whose caller has a subscription, of each release of its lock. `true` if a release before this
    /// may have been missed, so that the owner must ask once more.
    pub(crate) async fn listen(&self, owner: &Owner) -> Result<bool, WireError> {
        match self {
            Servers::Redis(wire) => wire.listen(owner).await,
            Servers::Quorum(_) => Ok(false),
            #[cfg(test)]
            Servers::Silent(_) => Ok(false),
        }
    }

    /// Takes or confirms the lock, or takes or keeps a place in its queue. Repeating it does no harm.
    #[inline]
    pub(crate) async fn acquire(
        &self,
        owner: &mut Owner,
        request: AcquireRequest,
    ) -> Result<Answered<AcquireReply>, WireError> {
        ask!(self, wire => wire.acquire(owner, request))
    }

    /// Turns an owner's exclusive lock into its share. `None`: it neither holds nor shares the lock, and gets nothing,
    /// even if the lock is free. Repeating it does no harm. A quorum has no shares, and no writers that ask.
    pub(crate) async fn downgrade(&self, owner: &mut Owner, ttl: Duration) -> RenewalOutcome {
        match self {
            Servers::Redis(wire) => wire.downgrade(owner, ttl).await,
            Servers::Quorum(_) => {
                let (at, answer) = (Moment::FIRST, None);
                Ok(Answered { at, answer })
            }
            #[cfg(test)]
            Servers::Silent(_) => std::future::pending().await,
        }
    }

    /// Waits until enough replicas have the lock that the owner was granted, if the client waits for any.
    pub(crate) async fn replicated(&self, owner: &Owner, ttl: Duration) -> Result<(), WireError> {
        match self {
            Servers::Redis(wire) => wire.replicated(owner, ttl).await,
            Servers::Quorum(_) => Ok(()),
            #[cfg(test)]
            Servers::Silent(_) => Ok(()),
        }
    }

    /// Whether enough replicas acknowledge a write now, if the client waits for any. The error describes what is
    /// missing.
    pub(crate) async fn has_replicas(&self, owner: &Owner) -> Result<(), WireError> {
        match self {
            Servers::Redis(wire) => wire.has_replicas(owner).await,
            Servers::Quorum(_) => Ok(()),
            #[cfg(test)]
            Servers::Silent(_) => Ok(()),
        }
    }

    /// Gives a token to a holder that took its lock without one, or returns the token that it has; `None` if the owner
    /// does not hold the lock. Repeating it does no harm, and it does not change the lease.
    ///
    /// Never called where each grant has a token.
    pub(crate) async fn mint(
        &self,
        owner_id: OwnerId,
        names: &OneOrMore<RecordNames>,
    ) -> Result<Option<FencingToken>, WireError> {
        match self {
            Servers::Redis(wire) => wire.mint(owner_id, names).await,
            _ => Err(WireError::refused("each grant has a token here")),
        }
    }

    /// Extends leases, all in one pipeline. Each outcome is reported once, with the number of its renewal, as soon as
    /// it is known: one lease must not hold up another.
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

    /// Reads the messages about a lock that have arrived, and handles them before it returns.
    pub(crate) fn read_messages(&self, lock: &LockName) {
        match self {
            Servers::Redis(wire) => wire.read_messages(lock),
            Servers::Quorum(wire) => wire.read_messages(),
            #[cfg(test)]
            Servers::Silent(_) => {}
        }
    }

    /// Splits the renewals by server: a silent server must not hold up the others.
    pub(crate) fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        match self {
            Servers::Redis(wire) => wire.apart(renewals),
            Servers::Quorum(_) => vec![renewals],
            #[cfg(test)]
            Servers::Silent(_) => vec![renewals],
        }
    }

    /// Reads messages from now on although no command is sent, since one of them ends a retained lease.
    pub(crate) fn keep_reading_messages(&self) {
        match self {
            Servers::Redis(wire) => wire.keep_reading_messages(),
            Servers::Quorum(wire) => wire.keep_reading_messages(),
            #[cfg(test)]
            Servers::Silent(_) => {}
        }
    }

    /// Completes when no unattended command is under way.
    pub(crate) async fn settled(&self) {
        if let Servers::Quorum(wire) = self {
            wire.settled().await;
        }
    }

    /// Checks that the server answers, or each server that has locks.
    pub(crate) async fn ping(&self) -> Result<(), WireError> {
        ask!(self, wire => wire.ping())
    }
}

/// The operators' interface.
impl Servers {
    /// Makes a round trip to the servers without writing: to a majority of a quorum, to each primary of a cluster.
    pub(crate) async fn probe(&self) -> Result<(), WireError> {
        ask!(self, wire => wire.probe())
    }

    /// The lock with these names, and the server's time (µs).
    pub(crate) async fn inspect(
        &self,
        key: &LockKey,
        names: &RecordNames,
    ) -> Result<(LockState, u64), WireError> {
        ask!(self, wire => wire.inspect(key, names))
    }

    /// The next locks of a listing. The cursor moves once they are known.
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

    /// Sends commands to each server, or to the named one. Each has its address, unless it is the only one.
    pub(crate) async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<(String, ServerReply)>, WireError> {
        ask!(self, wire => wire.ask_servers(server, commands))
    }

    /// The user that the client is logged in as.
    pub(crate) fn user(&self) -> &str {
        match self {
            Servers::Redis(wire) => wire.user(),
            Servers::Quorum(wire) => wire.user(),
            #[cfg(test)]
            Servers::Silent(_) => "",
        }
    }

    /// Appends a line to the audit of this name.
    pub(crate) async fn append(&self, stream: &str, line: &Line) -> Result<(), WireError> {
        ask!(self, wire => wire.append(stream, line))
    }

    /// The next lines of the audit of this name, from the last `since`, or from all time.
    pub(crate) async fn lines(
        &self,
        stream: &str,
        since: Option<Duration>,
        cursor: &mut Cursor,
    ) -> Result<Vec<Line>, WireError> {
        ask!(self, wire => wire.lines(stream, since, cursor))
    }
}
