//! The commands of a connection that are under way, in their order, and who waits for their answers.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;
use tokio::runtime::Id;
use tokio::sync::oneshot;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(super) struct ConnectionLost {
    /// The system has nothing of the command: it may be sent again.
    pub(super) unsent: bool,
    pub(super) error: Arc<io::Error>,
}

pub(super) type Answer<T> = oneshot::Receiver<Result<T, ConnectionLost>>;

/// What a caller waits for.
pub(super) enum Reply {
    One(oneshot::Sender<Result<Value, ConnectionLost>>),
    Many {
        left: usize,
        values: Vec<Value>,
        sender: oneshot::Sender<Result<Vec<Value>, ConnectionLost>>,
    },
}

impl Reply {
    pub(super) fn one() -> (Reply, Answer<Value>) {
        let (sender, answer) = oneshot::channel();
        (Reply::One(sender), answer)
    }

    /// To so many commands, at least one.
    pub(super) fn many(left: usize) -> (Reply, Answer<Vec<Value>>) {
        let (sender, answer) = oneshot::channel();
        let values = Vec::with_capacity(left);
        let reply = Reply::Many {
            left,
            values,
            sender,
        };
        (reply, answer)
    }

    /// Sends the last answer that was missing. Not to be called under a mutex: it wakes the caller, who
    /// may be gone.
    pub(super) fn send(self, value: Value) {
        match self {
            Reply::One(sender) => drop(sender.send(Ok(value))),
            Reply::Many {
                mut values, sender, ..
            } => {
                values.push(value);
                drop(sender.send(Ok(values)));
            }
        }
    }

    /// As [`send`](Reply::send).
    pub(super) fn fail(self, broken: ConnectionLost) {
        match self {
            Reply::One(sender) => drop(sender.send(Err(broken))),
            Reply::Many { sender, .. } => drop(sender.send(Err(broken))),
        }
    }
}

/// A command, or some that were sent together.
pub(super) struct Slot {
    /// Where it begins in what was given to be written.
    pub(super) start: u64,
    pub(super) sent: Instant,
    /// The runtime that it was sent from, if that reads.
    pub(super) reader: Option<Id>,
    pub(super) reply: Reply,
}

#[derive(Default)]
pub(super) struct Slots(VecDeque<Slot>);

impl Slots {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, slot: Slot) {
        self.0.push_back(slot);
    }

    /// Whether there are commands whose senders have no runtime that reads.
    pub(super) fn are_left(&self) -> bool {
        self.0.iter().any(|slot| slot.reader.is_none())
    }

    /// For how long the first command has been under way.
    pub(super) fn age(&self) -> Option<Duration> {
        self.0.front().map(|slot| slot.sent.elapsed())
    }

    /// An answer has come: the slot that it completes, if it does.
    pub(super) fn answer(&mut self, value: Value) -> io::Result<Option<(Slot, Value)>> {
        let Some(first) = self.0.front_mut() else {
            let surplus = "an answer came that nobody had asked for";
            return Err(io::Error::new(io::ErrorKind::InvalidData, surplus));
        };
        if let Reply::Many { left, values, .. } = &mut first.reply
            && *left > 1
        {
            *left -= 1;
            values.push(value);
            return Ok(None);
        }
        Ok(self.0.pop_front().map(|slot| (slot, value)))
    }

    /// All that will not be answered.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Slot> {
        self.0.drain(..)
    }
}
