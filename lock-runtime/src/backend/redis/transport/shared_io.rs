//! The state of a connection under its mutex, as senders and readers use it.
//!
//! In a forked child the socket is left alone, since it is the parent's. The mutex is not locked there, or only if
//! it is free: the thread that has it locked may not exist in the child.

use std::io;
use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use tokio::io::Interest;
use tokio::runtime::Id;
use tokio::sync::Notify;

use super::event::OnTransportEvent;
use super::io::Io;
use super::notifications::Notifications;
use super::roles::{ReadBy, Sender};
use super::wake_pipe::WakePipe;
use crate::backend::redis::answer::AnswerSender;
use crate::backend::redis::socket::Socket;
use crate::background::Background;
use crate::background::sync::Mutex;

/// The state of a connection under its mutex.
pub(super) struct SharedIo {
    io: Mutex<Io>,
    pub(super) background: Background,
    /// Notified when the duties of the background have changed.
    pub(super) background_notify: Notify,
    on_event: OnTransportEvent,
}

impl SharedIo {
    pub(super) fn new(io: Io, background: Background, on_event: OnTransportEvent) -> SharedIo {
        SharedIo {
            io: Mutex::new(io),
            background,
            background_notify: Notify::new(),
            on_event,
        }
    }

    /// Must not be called in a forked child.
    pub(super) fn lock(&self) -> MutexGuard<'_, Io> {
        self.io.lock()
    }

    /// Submits the command that `write` appends.
    pub(super) fn submit(
        &self,
        mut io: MutexGuard<'_, Io>,
        sender: Sender,
        now: Instant,
        answer: AnswerSender,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let mut notifications = Notifications::default();
        io.submit(sender, now, answer, write, &mut notifications);
        drop(io);
        self.deliver(notifications);
    }

    /// Reads what has arrived and writes what is left, for all. Whether the connection is still open.
    pub(super) fn receive(&self, read_by: ReadBy<'_>) -> bool {
        self.with_io(|io, notifications| io.receive(read_by, notifications))
    }

    /// Writes what is left, for all. Whether the connection is still open.
    pub(super) fn flush(&self, read_by: ReadBy<'_>) -> bool {
        self.with_io(|io, notifications| {
            io.note_reader(read_by);
            io.flush(notifications);
        })
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

    /// When the server last answered, at first when it was connected.
    pub(super) fn last_answer(&self) -> Instant {
        self.lock().last_answer()
    }

    /// Reads messages that may have arrived while no reader was at work, for instance while the only thread of a
    /// runtime was busy.
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

    /// Has the background read messages although no command is sent, unless a runtime reads.
    pub(super) fn keep_reading_messages(&self) {
        let io = self.lock();
        let is_needed = !io.has_reader();
        self.assign_background(io, is_needed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    /// Another descriptor of the socket.
    pub(super) fn try_clone_socket(&self) -> io::Result<Socket> {
        self.lock().try_clone_socket()
    }

    /// The events of the socket that the background waits for; `None` if it does not read.
    pub(super) fn background_interest(&self) -> Option<Interest> {
        self.lock().background_interest()
    }

    /// How many commands were sent from runtimes and threads that read the answers themselves.
    pub(super) fn sent_by_readers(&self) -> u64 {
        self.lock().sent_by_readers()
    }

    /// Has the background read if the readers have sent no command since `sent_by_readers` was `sent_before`, or
    /// are late.
    pub(super) fn take_over(&self, sent_before: u64) {
        let reads_once = self.lock().take_over(sent_before);
        if reads_once {
            self.receive(ReadBy::Background);
        }
    }

    /// Removes a runtime whose reader task has ended.
    pub(super) fn remove_runtime(&self, runtime: Id) {
        let mut io = self.lock();
        io.runtime_readers.remove(runtime);
        io.background_reads = true;
        drop(io);
        // Notified even if the background reads already: the task may have left bytes unwritten.
        self.background_notify.notify_one();
    }

    /// Adds a thread that blocks until its command is answered.
    pub(super) fn add_thread(&self) {
        self.lock().thread_readers.add();
    }

    /// Removes a thread that blocks no more. The background reads what is left.
    pub(super) fn remove_thread(&self) {
        if let Some(mut io) = self.lock_unless_forked() {
            let is_needed = io.remove_thread();
            self.assign_background(io, is_needed);
        }
    }

    /// Makes the calling thread the one that reads, with a pipe that wakes it. `None` if another thread or the
    /// background reads.
    pub(super) fn start_thread_reader(&self) -> Option<Arc<WakePipe>> {
        // The future of a blocked thread may have forked this process since it sent the command.
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

    /// Notes that the thread reads no more, and whether it was able to wait for the socket.
    pub(super) fn stop_thread_reader(&self, was_able: bool) {
        if let Some(mut io) = self.lock_unless_forked() {
            io.thread_readers.stop_reading(was_able);
        }
    }

    /// Closes the connection. Bytes that the system has not sent yet are not sent. Does nothing in a forked child.
    pub(super) fn close(&self, reason: &str) {
        if self.background.check_process().is_err() {
            return;
        }
        let mut notifications = Notifications::default();
        let mut io = self.lock();
        io.close(io::Error::other(reason), &mut notifications);
        drop(io);
        notifications.broken = None;
        self.deliver(notifications);
    }

    /// Has the background read if that is needed, and notifies it if it did not read before.
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

    /// For callers that may run in a forked child.
    fn lock_unless_forked(&self) -> Option<MutexGuard<'_, Io>> {
        self.io.lock_unless_forked(self.background.process())
    }
}
