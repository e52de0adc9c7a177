//! The state of a connection, in one mutex.
//!
//! The sender writes its command if no other is pending, or if the sender blocks its thread. Otherwise the next reader
//! writes it, together with everything that was submitted meanwhile.

use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};
use std::{io, mem};

use redis::{PushKind, Value};
use tokio::io::Interest;
use tokio::runtime::Id;

use super::notifications::Notifications;
use super::pending_commands::{AnswerSender, ConnectionLost, PendingCommand, PendingCommands};
use super::runtime_readers::{RuntimeReaders, TAKEOVER_DELAY};
use super::thread_readers::ThreadReaders;
use super::wake_pipe::WakePipe;
use crate::backend::redis::pipe::Pipe;
use crate::backend::redis::socket::Socket;
use crate::backend::redis::tls::Session;
use crate::backend::redis::transport::WriteCommands;

/// After this time without activity, a connection is read before it is written. If the server has closed it, the
/// command is then known to be unsent. The time is much longer than a call on one machine takes; otherwise each command
/// would read twice.
pub(super) const IDLE: Duration = Duration::from_micros(200);

/// The state of a connection.
pub(super) struct Io {
    pipe: Pipe,
    /// Commands that were appended to the pipe, and not answered yet.
    pending: PendingCommands,
    pub(super) runtime_readers: RuntimeReaders,
    pub(super) thread_readers: ThreadReaders,
    pub(super) background_reads: bool,
    /// Whether the background was late itself when it began to read in the place of others.
    takeover_was_late: bool,
    /// How many commands were sent from runtimes and threads that read the answers themselves.
    sent_by_readers: u64,
    /// The time of the last command or answer.
    last_active: Instant,
    /// The time of the last answer; before the first one, of the connect.
    last_answer: Instant,
    /// Whether the only pending command waits for the next one, to be written together with it.
    is_held_back: bool,
    /// Why the connection is closed, if it is.
    closed: Option<Arc<io::Error>>,
}

impl Io {
    pub(super) fn new(socket: Socket, session: Option<Session>) -> Io {
        let now = Instant::now();
        Io {
            pipe: Pipe::new(socket, session),
            pending: PendingCommands::default(),
            runtime_readers: RuntimeReaders::default(),
            thread_readers: ThreadReaders::default(),
            background_reads: true,
            takeover_was_late: false,
            sent_by_readers: 0,
            last_active: now,
            last_answer: now,
            is_held_back: false,
            closed: None,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// Returns whether no command is pending, and none was sent or answered for a while.
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        self.pending.is_empty() && now.saturating_duration_since(self.last_active) >= IDLE
    }

    pub(super) fn last_answer(&self) -> Instant {
        self.last_answer
    }

    /// Notes that a command is being sent, or that the connection is being read.
    pub(super) fn note_active(&mut self, now: Instant) {
        self.last_active = now;
    }

    /// Duplicates the descriptor of the socket.
    pub(super) fn try_clone_socket(&self) -> io::Result<Socket> {
        self.pipe.socket().try_clone()
    }

    /// Returns whether unwritten bytes wait for room in the socket.
    pub(super) fn is_full(&self) -> bool {
        self.pipe.is_full()
    }

    pub(super) fn sent_by_readers(&self) -> u64 {
        self.sent_by_readers
    }

    /// Submits the command that `write` appends.
    pub(super) fn submit(
        &mut self,
        sender: Sender,
        order: SendOrder,
        now: Instant,
        answer: AnswerSender,
        write: WriteCommands<'_>,
        notifications: &mut Notifications,
    ) {
        let is_alone = self.pending.is_empty() || self.is_held_back;
        if self.is_idle(now) {
            self.receive(ReadBy::Caller, notifications);
        }
        self.note_active(now);
        if let Some(error) = self.closed.clone() {
            let unsent = true;
            let lost = ConnectionLost { unsent, error };
            notifications.failed.push((answer, lost));
            return;
        }
        let start = self.pipe.append(write);
        self.pending.push(PendingCommand {
            start,
            sent_at: now,
            runtime: sender.runtime().filter(|_| !answer.is_unawaited()),
            answer,
        });
        match sender {
            // The runtime's reader writes it soon if no other command does, or else the background when it takes over.
            Sender::Runtime(id) if is_alone && order == SendOrder::WithNext => {
                self.is_held_back = true;
                let waker = self.runtime_readers.take_waker(id);
                notifications.wakers.extend(waker);
            }
            _ if is_alone => self.flush(notifications),
            Sender::BlockedThread | Sender::Elsewhere => self.flush(notifications),
            Sender::Runtime(id) => {
                let waker = self.runtime_readers.take_waker(id);
                notifications.wakers.extend(waker);
            }
            Sender::Background => notifications.background = true,
        }
        notifications.background |= self.assign_answer(sender, now);
    }

    /// Assigns an answer to the sender's own reader if there is one, otherwise to the background. Returns whether the
    /// background must be notified.
    fn assign_answer(&mut self, sender: Sender, now: Instant) -> bool {
        let by_sender = match sender {
            Sender::Runtime(_) => true,
            Sender::BlockedThread => self.thread_readers.note_sent(now),
            Sender::Background | Sender::Elsewhere => false,
        };
        self.sent_by_readers += u64::from(by_sender);
        // Only the background waits for room in the socket.
        let by_background = !by_sender || self.is_full();
        let before = mem::replace(&mut self.background_reads, by_background);
        before != by_background || self.is_full()
    }

    /// Returns the events of the socket that the background waits for; `None` if it does not read.
    pub(super) fn background_interest(&self) -> Option<Interest> {
        let reads = self.background_reads && !self.is_closed();
        reads.then(|| {
            if self.is_full() {
                Interest::READABLE | Interest::WRITABLE
            } else {
                Interest::READABLE
            }
        })
    }

    /// Makes the background read if no reader has sent since `sent_by_readers` was `sent_before`, or if a command has
    /// been pending for too long. Otherwise returns whether the background must read once, because messages may be
    /// awaited on a runtime that sends nothing. With `is_late`, the background looked later than it wanted to.
    pub(super) fn take_over(&mut self, sent_before: u64, is_late: bool) -> bool {
        let age = self.pending.oldest_age();
        self.takeover_was_late = is_late;
        self.background_reads |= self.sent_by_readers == sent_before || age >= Some(TAKEOVER_DELAY);
        !self.background_reads && age.is_none()
    }

    /// Returns whether somebody reads messages while no command is sent.
    pub(super) fn has_reader(&self) -> bool {
        self.background_reads || self.runtime_readers.has_task()
    }

    /// Removes a blocked thread. Returns whether the background must read, for the remaining threads or for answers
    /// that this thread no longer waits for.
    pub(super) fn remove_thread(&mut self) -> bool {
        self.thread_readers.remove() || self.pending.has_unassigned()
    }

    /// Makes the calling thread the reader; see [`ThreadReaders::start_reading`].
    pub(super) fn start_thread_reader(&mut self) -> Option<Arc<WakePipe>> {
        let Io {
            thread_readers,
            pipe,
            ..
        } = self;
        thread_readers.start_reading(|| WakePipe::new(pipe.socket()))
    }

    /// Notes which reader is active.
    pub(super) fn note_reader(&mut self, read_by: ReadBy<'_>) {
        if let ReadBy::Runtime(id, waker) = read_by {
            self.runtime_readers.store_waker(id, waker);
        }
    }

    /// Writes as much as the socket takes.
    pub(super) fn flush(&mut self, notifications: &mut Notifications) {
        self.is_held_back = false;
        if self.is_closed() {
            return;
        }
        if let Err(error) = self.pipe.flush() {
            // Bytes that arrived before may be answers, or explain why the server closed the connection.
            let _ = self.pipe.fill();
            let _ = self.decode(notifications);
            self.close(error, notifications);
        }
        if self.is_full() && !self.background_reads {
            self.background_reads = true;
            notifications.background = true;
        }
    }

    /// The same, but for a command that waits for the next one.
    pub(super) fn flush_unless_held_back(&mut self, notifications: &mut Notifications) {
        if !self.is_held_back {
            self.flush(notifications);
        }
    }

    /// Reads everything that has arrived, then writes as much as the socket takes.
    pub(super) fn receive(&mut self, read_by: ReadBy<'_>, notifications: &mut Notifications) {
        self.note_reader(read_by);
        if self.is_closed() {
            return;
        }
        let filled = self.pipe.fill();
        let answered_before = notifications.answered.len();
        let decoded = self.decode(notifications);
        let answered = &notifications.answered[answered_before..];
        if !answered.is_empty() {
            let now = Instant::now();
            self.last_answer = now;
            self.note_active(now);
            if let ReadBy::Background = read_by {
                self.note_late_readers(answered);
            }
        }
        match decoded.and(filled) {
            Ok(()) => self.flush(notifications),
            Err(error) => self.close(error, notifications),
        }
    }

    /// Matches the values that have arrived with commands and messages.
    fn decode(&mut self, notifications: &mut Notifications) -> io::Result<()> {
        while let Some(value) = self.pipe.next_value()? {
            match value {
                Value::Push {
                    kind: PushKind::Message,
                    data,
                } => notifications.messages.push(data),
                // A SUBSCRIBE or UNSUBSCRIBE with one channel is answered by one push.
                Value::Push { kind, .. }
                    if kind != PushKind::Subscribe && kind != PushKind::Unsubscribe => {}
                value => {
                    if let Some(answered) = self.pending.complete(value)? {
                        notifications.answered.push(answered);
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes which reader tasks had time to read these answers, but left them to the background. If the background was
    /// late as well, it is the machine that is slow.
    fn note_late_readers(&mut self, answered: &[(PendingCommand, Value)]) {
        if self.takeover_was_late {
            return;
        }
        let now = self.last_active;
        let is_late = |command: &PendingCommand| {
            now.saturating_duration_since(command.sent_at) >= TAKEOVER_DELAY
        };
        let late = answered.iter().filter(|(command, _)| is_late(command));
        for runtime in late.filter_map(|(command, _)| command.runtime) {
            self.runtime_readers.note_takeover(runtime, now);
        }
    }

    /// Closes the connection. No pending command will be answered.
    pub(super) fn close(&mut self, error: io::Error, notifications: &mut Notifications) {
        if self.is_closed() {
            return;
        }
        self.pipe.socket().reset();
        let error = Arc::new(error);
        for command in self.pending.drain() {
            let lost = ConnectionLost {
                unsent: self.pipe.is_unsent(command.start),
                error: error.clone(),
            };
            notifications.failed.push((command.answer, lost));
        }
        self.thread_readers.close();
        notifications.broken = Some(error.clone());
        self.closed = Some(error);
        notifications.background = true;
        notifications
            .wakers
            .extend(self.runtime_readers.take_wakers());
    }
}

/// When a command is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend::redis) enum SendOrder {
    Now,
    /// Together with the next command, which is about to follow.
    WithNext,
}

/// The origin of a command, which decides who reads the answer.
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
    /// Returns the runtime whose reader task reads the answer.
    pub(super) fn runtime(self) -> Option<Id> {
        match self {
            Sender::Runtime(id) => Some(id),
            Sender::BlockedThread | Sender::Background | Sender::Elsewhere => None,
        }
    }
}

/// The active reader, which also writes what senders have left.
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
