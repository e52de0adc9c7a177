//! How one speaks to a server that keeps locks: the four commands of the protocol, each of which may
//! be lost on the way or stay unanswered.

pub(crate) mod outstanding;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use self::outstanding::Chain;
use crate::background::moment::Moment;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockName, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::Owner;
use crate::lease::record::{Grant, Holder};
use crate::lease::schedule::Extension;

/// An answer, and the time before its request was sent: what a lease may be counted from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent<T> {
    pub(crate) at: Moment,
    pub(crate) answer: T,
}

/// The answer to `acquire`.
#[derive(Clone, Debug)]
pub(crate) enum Acquired {
    Held(Grant),
    Waiting(Waiting),
}

/// Where one stands who does not hold the lock.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// What is left of the holder's lease; `None` if it never ends by itself.
    pub(crate) remaining: Option<Duration>,
    /// 1 is the head of the queue, 0 is outside it.
    pub(crate) position: u32,
    pub(crate) holder: Holder,
}

/// The answer to `release` and to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was ours and is free.
    Freed,
    /// It was ours and was given to somebody who waited.
    HandedOn,
    /// It was ours and is now held by the owner that was named as the next one.
    Passed(Grant),
    /// Nothing was done, `end` is to be sent: it is ours and a waiter queues, or the server compared the
    /// record and has another one or none. Only `release` answers so.
    Contended,
    /// It was not ours; we were in its queue and are not any more.
    Left,
    /// It was not ours.
    NotOurs,
}

/// Why a command failed.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The server refused; it would do so again.
    Refused(Detail),
    /// Not sent, not answered in time, or answered that it cannot now.
    Unavailable(Detail),
}

/// What happened, in words, and what that came of where it is worth to be kept.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    text: String,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

#[cfg(feature = "tls")]
impl Detail {
    pub(crate) fn caused_by(mut self, cause: impl Error + Send + Sync + 'static) -> Detail {
        self.cause = Some(Arc::new(cause));
        self
    }
}

impl<T: Into<String>> From<T> for Detail {
    fn from(text: T) -> Detail {
        Detail {
            text: text.into(),
            cause: None,
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Fault {
    pub(crate) fn refused(detail: impl Into<Detail>) -> Fault {
        Fault::Refused(detail.into())
    }

    pub(crate) fn unavailable(detail: impl Into<Detail>) -> Fault {
        Fault::Unavailable(detail.into())
    }

    pub(crate) fn into_error(self) -> LockError {
        let (kind, Detail { text, cause }) = match self {
            Fault::Refused(detail) => (LockErrorKind::Rejected, detail),
            Fault::Unavailable(detail) => (LockErrorKind::Unavailable, detail),
        };
        LockError::new(kind).with_detail(text).with_cause(cause)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Refused(detail) | Fault::Unavailable(detail) => detail.fmt(f),
        }
    }
}

/// An owner as it stands in a queue: followed by a space and its label.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) owner: Owner,
    pub(crate) label: Arc<str>,
}

impl Ticket {
    pub(crate) fn new(owner: Owner, label: Arc<str>) -> Ticket {
        Ticket { owner, label }
    }

    /// What it consists of, for those who write it for every command.
    pub(crate) fn parts(&self) -> [&str; 4] {
        [self.owner.as_str(), " ", &self.label, ""]
    }
}

/// A renewal of one of many leases.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    pub(crate) owner: Owner,
    pub(crate) lock: LockName,
    pub(crate) extension: Extension,
}

/// Who takes over from an owner of the same process, if nobody else waits.
#[derive(Debug)]
pub(crate) struct Heir<'a> {
    pub(crate) ticket: &'a Ticket,
    pub(crate) chain: &'a mut Chain,
    pub(crate) ttl: Duration,
}

/// The protocol's commands. Each is bounded by the command timeout, connecting included.
pub(crate) trait Wire: Send + Sync + 'static {
    /// Takes the lock, confirms that it was granted, or, if `queue`, takes or keeps a place in its
    /// queue. Repeating it does no harm.
    fn acquire(
        &self,
        chain: &mut Chain,
        ticket: &Ticket,
        names: &RecordNames,
        ttl: Duration,
        queue: bool,
    ) -> impl Future<Output = Result<Sent<Acquired>, Fault>> + Send;

    /// Extends leases, all in one go; the answers are in the order of the renewals. `None` means
    /// that the lock is not the owner's.
    fn renew(
        &self,
        renewals: &[Renewal],
    ) -> impl Future<Output = Vec<Result<Sent<Option<Grant>>, Fault>>> + Send;

    /// Frees a lock for which nobody queues. `token` is the one of the grant: a server may be asked to
    /// compare the whole record.
    fn release(
        &self,
        chain: &mut Chain,
        ticket: &Ticket,
        names: &RecordNames,
        token: FencingToken,
    ) -> impl Future<Output = Result<Ended, Fault>> + Send;

    /// Ends an owner: afterwards it neither holds nor queues.
    fn end(
        &self,
        chain: &mut Chain,
        ticket: &Ticket,
        names: &RecordNames,
        heir: Option<Heir<'_>>,
    ) -> impl Future<Output = Result<Sent<Ended>, Fault>> + Send;

    /// Takes in the messages that have come. What they say is told before this returns.
    fn hear(&self);

    /// Has messages read from now on, although nothing is sent: what is retained is ended by one.
    fn listen(&self);

    /// Makes sure that the server answers.
    fn ping(&self) -> impl Future<Output = Result<(), Fault>> + Send;
}
