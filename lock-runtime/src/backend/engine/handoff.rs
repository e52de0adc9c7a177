//! The owners that one part of the client passes to the next.

use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::reply::Answered;
use crate::lease::record::Grant;

/// An owner, as the decisions see it. Its id, records and messages matter only to the code that sends its commands.
pub(crate) trait Owned {
    fn outstanding(&self) -> &Outstanding;

    fn outstanding_mut(&mut self) -> &mut Outstanding;
}

/// How the next head of a local queue begins.
#[derive(Clone, Debug)]
pub(crate) enum Handoff<O> {
    /// Nothing: it begins with an owner of its own.
    Fresh,
    /// An owner that may be in the queue, and keeps its place there.
    Queued(O),
    /// An owner whose place in the queue the server has just confirmed.
    Confirmed(O),
    /// An owner that has the lock, granted for the ttl that the owner asked for.
    Granted(O, Answered<Grant>),
}

/// The lock of a caller that has won.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Won<O> {
    pub(crate) owner: O,
    pub(crate) grant: Answered<Grant>,
    /// A waiter queues behind the owner, or did so recently.
    pub(crate) contended: bool,
    /// The holder is the head of the local queue, and promotes the next caller when it is done.
    pub(crate) heads_queue: bool,
    /// The next caller must be promoted now, since a share leaves room for others.
    pub(crate) promotes: bool,
}

/// The work that a call leaves behind.
#[derive(Debug)]
#[must_use = "an owner that is forgotten keeps its lock, and callers wait for a head"]
pub(crate) struct Left<O> {
    /// End this owner.
    pub(crate) ends: Option<O>,
    /// Promote the next caller of the local queue to its head.
    pub(crate) promotes: Option<Handoff<O>>,
}
