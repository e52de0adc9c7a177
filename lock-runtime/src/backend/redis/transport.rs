//! One socket that all threads write, and that any waiting thread reads for all.
//!
//! The commands of all senders are under one mutex ([`shared_io`], [`io`]), so that they have the order of one
//! connection. The readers are [`reader_task`]s, one for each runtime that sends, threads that block
//! ([`blocking`]), and the background ([`background_reader`]).

mod background_reader;
mod blocking;
mod event;
mod io;
mod notifications;
mod pending_commands;
mod reader_task;
mod registered_socket;
mod roles;
mod runtime_readers;
mod shared_io;
mod thread_readers;
mod thread_waker;
mod wake_pipe;

use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use redis::Value;
use tokio::runtime::Handle;

use super::answer::{AnswerReceiver, AnswerSender};
use super::socket::Socket;
use super::tls::Session;
use crate::background::Background;
pub(crate) use blocking::block_on;
pub(super) use event::{OnTransportEvent, TransportEvent};
use io::Io;
use roles::Sender;
use shared_io::SharedIo;

/// One connection, from when its socket is open. Clones share it.
#[derive(Clone)]
pub(super) struct Transport {
    shared: Arc<SharedIo>,
    /// Whether runtimes and blocked threads read, and not only the background.
    callers_read: bool,
}

impl Transport {
    /// Starts to read from a socket that is connected. With `background_only`, only the background ever reads.
    /// `None` in a forked child.
    pub(super) fn start(
        socket: Socket,
        session: Option<Session>,
        background: Background,
        background_only: bool,
        on_event: OnTransportEvent,
    ) -> Option<Transport> {
        let io = Io::new(socket, session);
        let shared = Arc::new(SharedIo::new(io, background.clone(), on_event));
        background.spawn(background_reader::run(shared.clone()))?;
        Some(Transport {
            shared,
            // On other systems a socket cannot be registered with a second runtime.
            callers_read: cfg!(unix) && !background_only,
        })
    }

    /// Sends the command that `write` appends.
    pub(super) fn send(&self, write: impl FnOnce(&mut Vec<u8>)) -> AnswerReceiver<Value> {
        let (sender, receiver) = AnswerSender::one();
        self.submit(sender, write);
        receiver
    }

    /// Sends the `count` commands that `write` appends, with no other command between them.
    pub(super) fn send_all(
        &self,
        count: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> AnswerReceiver<Vec<Value>> {
        let (sender, receiver) = AnswerSender::many(count);
        self.submit(sender, write);
        receiver
    }

    fn submit(&self, answer: AnswerSender, write: impl FnOnce(&mut Vec<u8>)) {
        if self.shared.background.check_process().is_err() {
            return;
        }
        let now = Instant::now();
        let (io, sender) = self.lock_for_sender(now);
        self.shared.submit(io, sender, now, answer, write);
    }

    /// Locks the state, and determines the sender of a command. A runtime gets its reader task with its first
    /// command.
    fn lock_for_sender(&self, now: Instant) -> (MutexGuard<'_, Io>, Sender) {
        let shared = &self.shared;
        if self.callers_read && blocking::note_sender(shared) {
            return (shared.lock(), Sender::BlockedThread);
        }
        let runtime = match Handle::try_current() {
            Ok(runtime) if runtime.id() == shared.background.id() => {
                return (shared.lock(), Sender::Background);
            }
            Ok(runtime) if self.callers_read => runtime,
            _ => return (shared.lock(), Sender::Elsewhere),
        };
        let mut io = shared.lock();
        if !io.is_closed() && io.runtime_readers.add(runtime.id()) {
            let socket = io.try_clone_socket();
            drop(io);
            let is_spawned =
                socket.is_ok_and(|socket| reader_task::spawn(shared, &runtime, socket));
            io = shared.lock();
            if !is_spawned {
                io.runtime_readers.note_without_task(runtime.id());
            }
        }
        let sender = match io.runtime_readers.is_active(runtime.id(), now) {
            true => Sender::Runtime(runtime.id()),
            false => Sender::Elsewhere,
        };
        (io, sender)
    }

    /// When the server last answered, at first when it was connected.
    pub(super) fn last_answer(&self) -> Instant {
        self.shared.last_answer()
    }

    /// Reads messages that may have arrived while no reader was at work. They are handled before this returns.
    pub(super) fn read_messages(&self) {
        self.shared.read_messages();
    }

    /// Has messages read from now on although no command is sent.
    pub(super) fn keep_reading_messages(&self) {
        self.shared.keep_reading_messages();
    }

    /// Closes the connection. Bytes that the system has not sent yet are not sent. Does nothing in a forked child.
    pub(super) fn close(&self, reason: &str) {
        self.shared.close(reason);
    }
}

#[cfg(test)]
mod tests;
