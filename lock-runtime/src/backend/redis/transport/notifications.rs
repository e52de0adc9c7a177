//! Collects the notifications of a state change, to send them when the mutex is free.

use std::io;
use std::sync::Arc;
use std::task::Waker;

use redis::Value;
use smallvec::SmallVec;
use tokio::sync::Notify;

use super::pending_commands::{AnswerSender, ConnectionLost, PendingCommand};
use crate::background::panics::{catch_panics, wake_all};

/// Collected under the mutex and delivered after it is free: wakers and event handlers may block or use the connection.
#[derive(Default)]
pub(super) struct Notifications {
    /// Why the connection broke, if it did.
    pub(super) broken: Option<Arc<io::Error>>,
    /// Whether the background's duties have changed.
    pub(super) background: bool,
    /// Usually one answer, which needs no allocation.
    pub(super) answered: SmallVec<[(PendingCommand, Value); 1]>,
    pub(super) failed: Vec<(AnswerSender, ConnectionLost)>,
    pub(super) messages: Vec<Vec<Value>>,
    pub(super) wakers: Vec<Waker>,
}

impl Notifications {
    pub(super) fn deliver(self, on_event: &OnTransportEvent, background: &Notify) {
        if self.background {
            background.notify_one();
        }
        if let Some(error) = self.broken {
            catch_panics(|| on_event(TransportEvent::Broken(&error)));
        }
        for (command, value) in self.answered {
            catch_panics(|| command.answer.send(value));
        }
        for (answer, lost) in self.failed {
            catch_panics(|| answer.fail(lost));
        }
        for data in self.messages {
            if let [Value::BulkString(channel), Value::BulkString(payload)] = &data[..] {
                catch_panics(|| on_event(TransportEvent::Message { channel, payload }));
            }
        }
        wake_all(self.wakers);
    }
}

/// An event of a connection, other than the answer to a command.
pub(in crate::backend::redis) enum TransportEvent<'a> {
    /// A message was published on a subscribed channel.
    Message {
        channel: &'a [u8],
        payload: &'a [u8],
    },
    /// The connection broke for this reason. Not reported for a connection that the client closed itself.
    Broken(&'a io::Error),
}

/// Handles the events of a connection, on the thread that has read them, with no mutex held. Must not block.
pub(in crate::backend::redis) type OnTransportEvent = Box<dyn Fn(TransportEvent<'_>) + Send + Sync>;
