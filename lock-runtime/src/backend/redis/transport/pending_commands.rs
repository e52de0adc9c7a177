//! The commands of a connection that wait for answers, in order. Delivers each answer to its caller.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;
use tokio::runtime::Id;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

/// A command, or several that were submitted together.
pub(super) struct PendingCommand {
    /// The position of its first byte among all bytes that were appended to the pipe.
    pub(super) start: u64,
    pub(super) sent_at: Instant,
    /// The runtime that sent the command, if its reader task must read the answer.
    pub(super) runtime: Option<Id>,
    pub(super) answer: AnswerSender,
}

/// Pending commands, the oldest first.
#[derive(Default)]
pub(super) struct PendingCommands(VecDeque<PendingCommand>);

impl PendingCommands {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, command: PendingCommand) {
        self.0.push_back(command);
    }

    /// Returns whether any command's answer is assigned to no reader task.
    pub(super) fn has_unassigned(&self) -> bool {
        self.0.iter().any(|command| command.runtime.is_none())
    }

    /// Returns how long the oldest command has been pending.
    pub(super) fn oldest_age(&self) -> Option<Duration> {
        self.0.front().map(|command| command.sent_at.elapsed())
    }

    /// Assigns an answer to the oldest command. Returns the command with its answer once that is complete.
    pub(super) fn complete(&mut self, value: Value) -> io::Result<Option<(PendingCommand, Value)>> {
        let Some(oldest) = self.0.front_mut() else {
            let surplus = "an answer came without a command";
            return Err(io::Error::new(io::ErrorKind::InvalidData, surplus));
        };
        if let AnswerSender::Many {
            missing, values, ..
        } = &mut oldest.answer
            && *missing > 1
        {
            *missing -= 1;
            values.push(value);
            return Ok(None);
        }
        Ok(self.0.pop_front().map(|command| (command, value)))
    }

    /// Removes all commands. None of them will be answered.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PendingCommand> {
        self.0.drain(..)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(in crate::backend::redis) struct ConnectionLost {
    /// Whether no byte of the command was written, so that it may be sent again.
    pub(in crate::backend::redis) unsent: bool,
    pub(in crate::backend::redis) error: Arc<io::Error>,
}

/// The caller's end. It receives nothing if the command was sent in a forked child.
pub(in crate::backend::redis) type AnswerReceiver<T> = oneshot::Receiver<Result<T, ConnectionLost>>;

/// Handles the answer to a command for which no caller waits, on the thread that has read it. Must not block.
pub(in crate::backend::redis) type OnAnswer = Box<dyn FnOnce(Result<Value, ConnectionLost>) + Send>;

/// The connection's end: collects the answers and sends them to the caller.
pub(in crate::backend::redis) enum AnswerSender {
    One(oneshot::Sender<Result<Value, ConnectionLost>>),
    /// No caller waits.
    Unawaited(OnAnswer),
    Many {
        missing: usize,
        values: Vec<Value>,
        sender: oneshot::Sender<Result<Vec<Value>, ConnectionLost>>,
    },
}

impl AnswerSender {
    pub(in crate::backend::redis) fn one() -> (AnswerSender, AnswerReceiver<Value>) {
        let (sender, receiver) = oneshot::channel();
        (AnswerSender::One(sender), receiver)
    }

    /// Creates both ends for `count` commands, at least one.
    pub(in crate::backend::redis) fn many(
        count: usize,
    ) -> (AnswerSender, AnswerReceiver<Vec<Value>>) {
        let (sender, receiver) = oneshot::channel();
        let sender = AnswerSender::Many {
            missing: count,
            values: Vec::with_capacity(count),
            sender,
        };
        (sender, receiver)
    }

    /// Returns whether no caller waits, so that no reader is late.
    pub(super) fn is_unawaited(&self) -> bool {
        matches!(self, AnswerSender::Unawaited(_))
    }

    /// Completes the answer with its last value. Must not be called with a mutex held, since it calls the caller's
    /// waker.
    pub(in crate::backend::redis) fn send(self, value: Value) {
        match self {
            AnswerSender::One(sender) => drop(sender.send(Ok(value))),
            AnswerSender::Unawaited(on_answer) => on_answer(Ok(value)),
            AnswerSender::Many {
                mut values, sender, ..
            } => {
                values.push(value);
                drop(sender.send(Ok(values)));
            }
        }
    }

    /// Reports that no answer will come. Must not be called with a mutex held, since it calls the caller's waker.
    pub(in crate::backend::redis) fn fail(self, lost: ConnectionLost) {
        match self {
            AnswerSender::One(sender) => drop(sender.send(Err(lost))),
            AnswerSender::Unawaited(on_answer) => on_answer(Err(lost)),
            AnswerSender::Many { sender, .. } => drop(sender.send(Err(lost))),
        }
    }
}

/// Returns the received answer. Fails in a forked child, where commands are dropped.
pub(in crate::backend::redis) fn unless_forked<T>(
    received: Result<Result<T, ConnectionLost>, RecvError>,
) -> Result<T, ConnectionLost> {
    received.unwrap_or_else(|_| {
        Err(ConnectionLost {
            unsent: false,
            error: Arc::new(io::Error::other("this process was forked")),
        })
    })
}
