//! The roles on a connection: the sender of a command, and the reader of what has arrived.

use std::task::Waker;

use tokio::runtime::Id;

/// The origin of a command. It decides which reader reads the answer.
#[derive(Clone, Copy)]
pub(super) enum Sender {
    /// A runtime whose reader task reads the answer.
    Runtime(Id),
    /// A thread that blocks until the command is answered.
    BlockedThread,
    Background,
    /// A runtime without a reader task, or a thread that does not block. The background reads the answer.
    Elsewhere,
}

impl Sender {
    /// The runtime whose reader task reads the answer.
    pub(super) fn runtime(self) -> Option<Id> {
        match self {
            Sender::Runtime(id) => Some(id),
            Sender::BlockedThread | Sender::Background | Sender::Elsewhere => None,
        }
    }
}

/// The reader at work, which also writes what senders have left.
#[derive(Clone, Copy)]
pub(super) enum ReadBy<'a> {
    /// The reader task of a runtime, with its waker.
    Runtime(Id, &'a Waker),
    /// A thread that blocks until a command is answered.
    BlockedThread,
    Background,
    /// A thread that is about to send a command, or needs the messages that have arrived.
    Caller,
}
