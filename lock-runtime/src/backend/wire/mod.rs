//! How one speaks to a server that keeps locks: the four commands of the protocol, each of which may
//! be lost on the way or stay unanswered.

pub(crate) mod outstanding;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use self::outstanding::Outstanding;
use crate::background::moment::Moment;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockName, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::record::{Grant, Holder};
use crate::lease::schedule::Extension;

/// An answer, and the time before its request was sent: what a lease may be counted from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<T> {
    pub(crate) at: Moment,
    pub(crate) answer: T,
}

/// The answer to `acquire`.
#[derive(Clone, Debug)]
pub(crate) enum AcquireReply {
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
pub(crate) enum EndReply {
    /// It was ours and is free.
    Freed,
    /// It was ours and was given to somebody who waited.
    HandedOff,
    /// It was ours and is now held by the owner that was named as the next one.
    SuccessorHolds(Grant),
    /// Nothing was done, `end` is to be sent: it is ours and a waiter queues, or the server compared the
    /// record and has another one or none. Only `release` answers so.
    Contended,
    /// It was not ours; we were in its queue and are not any more.
    LeftQueue,
    /// It was not ours.
    NotOurs,
}

/// Why a command failed.
#[derive(Clone, Debug)]
pub(crate) enum WireError {
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

impl WireError {
    pub(crate) fn refused(detail: impl Into<Detail>) -> WireError {
        WireError::Refused(detail.into())
    }

    pub(crate) fn unavailable(detail: impl Into<Detail>) -> WireError {
        WireError::Unavailable(detail.into())
    }

    pub(crate) fn into_error(self) -> LockError {
        let (kind, Detail { text, cause }) = match self {
            WireError::Refused(detail) => (LockErrorKind::Rejected, detail),
            WireError::Unavailable(detail) => (LockErrorKind::Unavailable, detail),
        };
        LockError::new(kind).with_detail(text).with_cause(cause)
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Refused(detail) | WireError::Unavailable(detail) => detail.fmt(f),
        }
    }
}

/// An owner as it stands in a queue: followed by a space and its label.
#[derive(Debug)]
pub(crate) struct QueueEntry {
    pub(crate) owner_id: OwnerId,
    pub(crate) label: Arc<str>,
}

impl QueueEntry {
    pub(crate) fn new(owner_id: OwnerId, label: Arc<str>) -> QueueEntry {
        QueueEntry { owner_id, label }
    }

    /// What it consists of, for those who write it for every command.
    pub(crate) fn parts(&self) -> [&str; 4] {
        [self.owner_id.as_str(), " ", &self.label, ""]
    }
}

/// A renewal of one of many leases.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    pub(crate) owner_id: OwnerId,
    pub(crate) lock: LockName,
    pub(crate) extension: Extension,
}

/// Who takes over from an owner of the same process, if nobody else waits.
#[derive(Debug)]
pub(crate) struct Successor<'a> {
    pub(crate) entry: &'a QueueEntry,
    pub(crate) outstanding: &'a mut Outstanding,
    pub(crate) ttl: Duration,
}

/// The protocol's commands. Each is bounded by the command timeout, connecting included.
pub(crate) trait Wire: Send + Sync + 'static {
    /// Takes the lock, confirms that it was granted, or, if `queue`, takes or keeps a place in its
    /// queue. Repeating it does no harm.
    fn acquire(
        &self,
        outstanding: &mut Outstanding,
        entry: &QueueEntry,
        names: &RecordNames,
        ttl: Duration,
        queue: bool,
    ) -> impl Future<Output = Result<Answered<AcquireReply>, WireError>> + Send;

    /// Extends leases, all in one go; the answers are in the order of the renewals. `None` means
    /// that the lock is not the owner's.
    fn renew(
        &self,
        renewals: &[Renewal],
    ) -> impl Future<Output = Vec<Result<Answered<Option<Grant>>, WireError>>> + Send;

    /// Frees a lock for which nobody queues. `token` is the one of the grant: a server may be asked to
    /// compare the whole record.
    fn release(
        &self,
        outstanding: &mut Outstanding,
        entry: &QueueEntry,
        names: &RecordNames,
        token: FencingToken,
    ) -> impl Future<Output = Result<EndReply, WireError>> + Send;

    /// Ends an owner: afterwards it neither holds nor queues.
    fn end(
        &self,
        outstanding: &mut Outstanding,
        entry: &QueueEntry,
        names: &RecordNames,
        successor: Option<Successor<'_>>,
    ) -> impl Future<Output = Result<Answered<EndReply>, WireError>> + Send;

    /// Takes in the messages that have come. What they say is told before this returns.
    fn hear(&self);

    /// Has messages read from now on, although nothing is sent: what is retained is ended by one.
    fn listen(&self);

    /// Makes sure that the server answers.
    fn ping(&self) -> impl Future<Output = Result<(), WireError>> + Send;
}
