//! A socket that all threads write to. Any waiting thread reads from it for all.
//!
//! One mutex covers the commands of all senders ([`io`]), which gives them one order on the connection. The readers are
//! tasks of the [runtimes](runtime_readers) that send commands, threads that block ([`blocked_thread`]), and the
//! background ([`background_reader`]).
//!
//! A forked child does not touch the socket, which belongs to its parent. It locks the mutex only if that is free: the
//! thread that locked it may not exist in the child.

mod background_reader;
mod blocked_thread;
mod io;
mod notifications;
mod pending_commands;
mod runtime_readers;
mod thread_readers;
mod thread_waker;
mod wake_pipe;

use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use redis::Value;
use tokio::io::Interest;
use tokio::runtime::{Handle, Id};
use tokio::sync::Notify;

use super::socket::Socket;
use super::tls::Session;
use crate::background::Background;
use crate::background::sync::Mutex;
pub(crate) use blocked_thread::block_on;
use io::Io;
pub(super) use io::SendOrder;
use io::{ReadBy, Sender};
use notifications::Notifications;
pub(super) use notifications::{OnTransportEvent, TransportEvent};
use pending_commands::{AnswerReceiver, AnswerSender, OnAnswer};
pub(super) use pending_commands::{ConnectionLost, unless_forked};
use wake_pipe::WakePipe;

/// Appends commands to the output of a connection.
///
/// This is no type parameter, or everything down to the socket would be compiled again for each command.
pub(in crate::backend::redis) type WriteCommands<'a> = &'a (dyn Fn(&mut Vec<u8>) + Sync);

/// A connection, from the moment its socket is open.
pub(super) struct Transport {
    io: Mutex<Io>,
    background: Background,
    /// Notified when the duties of the background change.
    background_notify: Notify,
    on_event: OnTransportEvent,
    /// Whether runtimes and blocked threads read, in addition to the background.
    callers_read: bool,
}

impl Transport {
    /// Starts to read from a connected socket. With `background_only`, only the background ever reads. Returns `None`
    /// in a forked child.
    pub(super) fn start(
        socket: Socket,
        session: Option<Session>,
        background: Background,
        background_only: bool,
        on_event: OnTransportEvent,
    ) -> Option<Arc<Transport>> {
        let transport = Arc::new(Transport {
            io: Mutex::new(Io::new(socket, session)),
            background: background.clone(),
            background_notify: Notify::new(),
            on_event,
            // On other systems a socket cannot be registered with a second runtime.
            callers_read: cfg!(unix) && !background_only,
        });
        background.spawn(background_reader::run(transport.clone()))?;
        Some(transport)
    }

    /// Sends the command that `write` appends.
    pub(super) fn send(self: &Arc<Self>, write: WriteCommands<'_>) -> AnswerReceiver<Value> {
        let (sender, receiver) = AnswerSender::one();
        self.submit(sender, write);
        receiver
    }

    /// Sends the `count` commands that `write` appends, with no other command between them.
    pub(super) fn send_all(
        self: &Arc<Self>,
        count: usize,
        write: WriteCommands<'_>,
    ) -> AnswerReceiver<Vec<Value>> {
        let (sender, receiver) = AnswerSender::many(count);
        self.submit(sender, write);
        receiver
    }

    /// Sends the command that `write` appends, for which no caller waits.
    pub(super) fn send_unawaited(
        self: &Arc<Self>,
        order: SendOrder,
        write: WriteCommands<'_>,
        on_answer: OnAnswer,
    ) {
        self.submit_in(order, AnswerSender::Unawaited(on_answer), write);
    }

    fn submit(self: &Arc<Self>, answer: AnswerSender, write: WriteCommands<'_>) {
        self.submit_in(SendOrder::Now, answer, write);
    }

    fn submit_in(
        self: &Arc<Self>,
        order: SendOrder,
        answer: AnswerSender,
        write: WriteCommands<'_>,
    ) {
        if self.background.check_process().is_err() {
            return;
        }
        let now = Instant::now();
        let (mut io, sender) = self.lock_for_sender(now);
        let mut notifications = Notifications::default();
        io.submit(sender, order, now, answer, write, &mut notifications);
        drop(io);
        self.deliver(notifications);
    }

    /// Locks the state, and identifies the sender of a command. A runtime's first command starts its reader task.
    fn lock_for_sender(self: &Arc<Self>, now: Instant) -> (MutexGuard<'_, Io>, Sender) {
        if self.callers_read && blocked_thread::note_sender(self) {
            return (self.lock(), Sender::BlockedThread);
        }
        let runtime = match Handle::try_current() {
            Ok(runtime) if runtime.id() == self.background.id() => {
                return (self.lock(), Sender::Background);
            }
            Ok(runtime) if self.callers_read => runtime,
            _ => return (self.lock(), Sender::Elsewhere),
        };
        let mut io = self.lock();
        if !io.is_closed() && io.runtime_readers.add(runtime.id()) {
            let socket = io.try_clone_socket();
            drop(io);
            let is_spawned = socket
                .is_ok_and(|socket| runtime_readers::spawn_reader_task(self, &runtime, socket));
            io = self.lock();
            if !is_spawned {
                io.runtime_readers.note_without_task(runtime.id());
            }
        }
        let sender = if io.runtime_readers.is_active(runtime.id(), now) {
            Sender::Runtime(runtime.id())
        } else {
            Sender::Elsewhere
        };
        (io, sender)
    }

    /// Must not be called in a forked child.
    fn lock(&self) -> MutexGuard<'_, Io> {
        self.io.lock()
    }

    /// Reads what has arrived and writes what is left, for all. Returns whether the connection is still open.
    fn receive(&self, read_by: ReadBy<'_>) -> bool {
        self.with_io(|io, notifications| io.receive(read_by, notifications))
    }

    /// Writes what is left, for all. Returns whether the connection is still open.
    fn flush(&self, read_by: ReadBy<'_>) -> bool {
        self.with_io(|io, notifications| {
            io.note_reader(read_by);
            io.flush(notifications);
        })
    }

    /// Writes what is left, for all, but for a command whose sender is about to send another one.
    fn flush_unless_held_back(&self) {
        self.with_io(Io::flush_unless_held_back);
    }

    fn with_io(&self, act: impl FnOnce(&mut Io, &mut Notifications)) -> bool {
        let mut notifications = Notifications::default();
        let mut io = self.lock();
        act(&mut io, &mut notifications);
        let is_open = !io.is_closed();
        drop(io);
        self.deliver(notifications);
        is_open
    }

    /// Returns when the server last answered. Before the first answer this is the time of the connect.
    pub(super) fn last_answer(&self) -> Instant {
        self.lock().last_answer()
    }

    /// Reads messages that may have arrived while nobody read, for example because the only thread of a runtime was
    /// busy.
    pub(super) fn read_messages(&self) {
        let now = Instant::now();
        let mut io = self.lock();
        let is_due = io.is_idle(now);
        if is_due {
            io.note_active(now);
        }
        drop(io);
        if is_due {
            self.receive(ReadBy::Caller);
        }
    }

    /// Makes the background read messages although no command is sent, unless a runtime reads.
    pub(super) fn keep_reading_messages(&self) {
        let io = self.lock();
        let is_needed = !io.has_reader();
        self.assign_background(io, is_needed);
    }

    /// Returns the events of the socket that the background waits for; `None` if it does not read.
    fn background_interest(&self) -> Option<Interest> {
        self.lock().background_interest()
    }

    /// Makes the background read if the readers have sent no command since their count was `sent_before`, or if they
    /// are late. With `is_late`, so is the background.
    fn take_over(&self, sent_before: u64, is_late: bool) {
        let reads_once = self.lock().take_over(sent_before, is_late);
        if reads_once {
            self.receive(ReadBy::Background);
        }
    }

    /// Removes a runtime whose reader task has ended.
    fn remove_runtime(&self, runtime: Id) {
        let mut io = self.lock();
        io.runtime_readers.remove(runtime);
        io.background_reads = true;
        drop(io);
        // Notified even if the background reads already, since the task may have left bytes unwritten.
        self.background_notify.notify_one();
    }

    /// Adds a thread that blocks until its command is answered.
    fn add_thread(&self) {
        self.lock().thread_readers.add();
    }

    /// Removes a thread that no longer blocks. The background reads the remaining answers.
    fn remove_thread(&self) {
        if let Some(mut io) = self.lock_unless_forked() {
            let is_needed = io.remove_thread();
            self.assign_background(io, is_needed);
        }
    }

    /// Makes the calling thread the reader, and returns a pipe that wakes it. Returns `None` if another thread or the
    /// background reads.
    fn start_thread_reader(&self) -> Option<Arc<WakePipe>> {
        // The future on this thread may have forked the process since it sent the command.
        self.background.check_process().ok()?;
        let mut io = self.lock();
        if io.is_closed() {
            return None;
        }
        let wake_pipe = io.start_thread_reader();
        let is_needed = !io.thread_readers.has_reader();
        self.assign_background(io, is_needed);
        wake_pipe
    }

    /// Notes that the thread no longer reads, and whether it was able to wait for the socket.
    fn stop_thread_reader(&self, was_able: bool) {
        if let Some(mut io) = self.lock_unless_forked() {
            io.thread_readers.stop_reading(was_able);
        }
    }

    /// Closes the connection. The system discards unsent bytes. Does nothing in a forked child.
    pub(super) fn close(&self, reason: &str) {
        if self.background.check_process().is_err() {
            return;
        }
        let mut notifications = Notifications::default();
        let mut io = self.lock();
        io.close(std::io::Error::other(reason), &mut notifications);
        drop(io);
        notifications.broken = None;
        self.deliver(notifications);
    }

    /// Makes the background read if `is_needed`, and notifies it if it did not read before.
    fn assign_background(&self, mut io: MutexGuard<'_, Io>, is_needed: bool) {
        let is_new = is_needed && !io.background_reads;
        io.background_reads |= is_needed;
        drop(io);
        if is_new {
            self.background_notify.notify_one();
        }
    }

    fn deliver(&self, notifications: Notifications) {
        notifications.deliver(&self.on_event, &self.background_notify);
    }

    /// Like [`lock`](Transport::lock), for callers that may run in a forked child.
    fn lock_unless_forked(&self) -> Option<MutexGuard<'_, Io>> {
        self.io.lock_unless_forked(self.background.origin())
    }
}

#[cfg(test)]
mod tests;
