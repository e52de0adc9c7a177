//! Delivers the answer to one command, or to several that are sent together, to the caller.

use std::io;
use std::sync::Arc;

use redis::Value;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

/// Returns the text of an answer.
pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::SimpleString(text) => Some(text),
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(super) struct ConnectionLost {
    /// Whether no byte of the command was written, so that it may be sent again.
    pub(super) unsent: bool,
    pub(super) error: Arc<io::Error>,
}

pub(super) type Answer<T> = Result<T, ConnectionLost>;

/// The caller's end. It receives nothing if the command was sent in a forked child.
pub(super) type AnswerReceiver<T> = oneshot::Receiver<Answer<T>>;

/// The connection's end: collects the answers and sends them to the caller.
pub(super) enum AnswerSender {
    One(oneshot::Sender<Answer<Value>>),
    Many {
        missing: usize,
        values: Vec<Value>,
        sender: oneshot::Sender<Answer<Vec<Value>>>,
    },
}

impl AnswerSender {
    pub(super) fn one() -> (AnswerSender, AnswerReceiver<Value>) {
        let (sender, receiver) = oneshot::channel();
        (AnswerSender::One(sender), receiver)
    }

    /// Creates both ends for `count` commands, at least one.
    pub(super) fn many(count: usize) -> (AnswerSender, AnswerReceiver<Vec<Value>>) {
        let (sender, receiver) = oneshot::channel();
        let sender = AnswerSender::Many {
            missing: count,
            values: Vec::with_capacity(count),
            sender,
        };
        (sender, receiver)
    }

    /// Completes the answer with its last value. Must not be called with a mutex held, since it calls the caller's
    /// waker.
    pub(super) fn send(self, value: Value) {
        match self {
            AnswerSender::One(sender) => drop(sender.send(Ok(value))),
            AnswerSender::Many {
                mut values, sender, ..
            } => {
                values.push(value);
                drop(sender.send(Ok(values)));
            }
        }
    }

    /// Reports that no answer will come. Must not be called with a mutex held, since it calls the caller's waker.
    pub(super) fn fail(self, lost: ConnectionLost) {
        match self {
            AnswerSender::One(sender) => drop(sender.send(Err(lost))),
            AnswerSender::Many { sender, .. } => drop(sender.send(Err(lost))),
        }
    }
}

/// Returns the received answer. Fails in a forked child, where commands are dropped.
pub(super) fn unless_forked<T>(received: Result<Answer<T>, RecvError>) -> Answer<T> {
    received.unwrap_or_else(|_| {
        Err(ConnectionLost {
            unsent: false,
            error: Arc::new(io::Error::other("this process was forked")),
        })
    })
}
