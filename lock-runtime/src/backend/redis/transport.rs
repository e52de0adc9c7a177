//! One socket that all threads write to, and that whoever waits for an answer reads from for all.
//!
//! Everything is under one mutex: what is not written yet, the commands that are under way in their
//! order, and what is not decoded yet. So the order of commands is that of one connection, whoever sends
//! them. A command is written by its sender if nothing is under way, and else by the next reader, together
//! with all that was sent meanwhile. Who reads is in [`reader`](super::reader).
//!
//! Wakers and listeners are others' code: they run when the mutex is free. In a forked child the mutex is
//! not even looked at, and the socket is left alone: it is the parent's.

use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use redis::{PushKind, Value};
use smallvec::SmallVec;
use tokio::runtime::{Handle, Id};
use tokio::sync::Notify;

use super::blocking::{self, Threads};
use super::pipe::Pipe;
use super::reader::{self, LOOK, Readers, Reads, Sender};
use super::slots::{Answer, ConnectionLost, Reply, Slot, Slots};
use super::socket::{Socket, WakePipe};
use super::tls::Session;
use crate::background::Background;
use crate::background::fork::lock_unless_forked;
use crate::background::panics::catch_panics;

/// A connection on which nothing is under way, and nothing has happened for so long, is read from before
/// anything is written: if the server is gone, the command is known to be unsent. Much longer than a call
/// takes on one machine, which would have to read twice for each command.
const IDLE: Duration = Duration::from_micros(200);

/// What becomes of a connection without having been asked for.
pub(super) enum Event<'a> {
    /// Somebody published.
    Message(&'a [u8]),
    /// It is over, and not because it was closed here.
    End,
}

pub(super) type OnEvent = Box<dyn Fn(Event<'_>) + Send + Sync>;

/// One connection, from when its socket is open.
pub(super) struct Transport {
    io: Mutex<Io>,
    pub(super) background: Background,
    /// Whether callers' runtimes read.
    callers_read: bool,
    /// The background is to look at what it has to do.
    pub(super) changed: Notify,
    on_event: OnEvent,
}

struct Io {
    pipe: Pipe,
    /// Commands that were given to the pipe and not answered.
    slots: Slots,
    readers: Readers,
    threads: Threads,
    /// Whether the background reads.
    background_reads: bool,
    /// Commands that were sent from runtimes and threads that read.
    sent_by_readers: u64,
    /// When anything was sent or received.
    active: Instant,
    ended: Option<Arc<io::Error>>,
}

/// What others are to be told once the mutex is free.
#[derive(Default)]
struct Notifications {
    ended: bool,
    /// The background has to look at what it has to do.
    changed: bool,
    /// Mostly one, which needs no memory of its own.
    answered: SmallVec<[(Slot, Value); 1]>,
    failed: Vec<(Reply, ConnectionLost)>,
    messages: Vec<Vec<Value>>,
    wakers: Vec<Waker>,
}

impl Transport {
    /// Takes a connection over. The background reads from it until others do; with `background_only` nobody
    /// else ever does. `None` in a forked child.
    pub(super) fn start(
        socket: Socket,
        session: Option<Session>,
        background: Background,
        background_only: bool,
        on_event: OnEvent,
    ) -> Option<Arc<Transport>> {
        let transport = Arc::new(Transport {
            io: Mutex::new(Io {
                pipe: Pipe::new(socket, session),
                slots: Slots::default(),
                readers: Readers::default(),
                threads: Threads::default(),
                background_reads: true,
                sent_by_readers: 0,
                active: Instant::now(),
                ended: None,
            }),
            background: background.clone(),
            // Elsewhere a socket belongs for good to the runtime that it is registered with first.
            callers_read: cfg!(unix) && !background_only,
            changed: Notify::new(),
            on_event,
        });
        background.spawn(reader::background(transport.clone()))?;
        Some(transport)
    }

    /// Sends the command that `write` appends.
    pub(super) fn send(self: &Arc<Transport>, write: impl FnOnce(&mut Vec<u8>)) -> Answer<Value> {
        let (reply, answer) = Reply::one();
        self.submit(reply, write);
        answer
    }

    /// Sends the `count` commands that `write` appends, so that nothing comes between them.
    pub(super) fn send_all(
        self: &Arc<Transport>,
        count: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Answer<Vec<Value>> {
        let (reply, answers) = Reply::many(count);
        self.submit(reply, write);
        answers
    }

    fn submit(self: &Arc<Transport>, reply: Reply, write: impl FnOnce(&mut Vec<u8>)) {
        if self.background.check_process().is_err() {
            return;
        }
        let now = Instant::now();
        let (mut io, sender) = self.io_for_sender(now);
        let mut notifications = Notifications::default();
        let is_first = io.slots.is_empty();
        if io.is_idle(now) {
            io.receive(Reads::Sender, &mut notifications);
        }
        io.active = now;
        if let Some(error) = io.ended.clone() {
            let unsent = true;
            notifications
                .failed
                .push((reply, ConnectionLost { unsent, error }));
        } else {
            let start = io.pipe.give(write);
            io.slots.push(Slot {
                start,
                sent: now,
                reader: sender.reader(),
                reply,
            });
            match sender {
                _ if is_first => io.flush(&mut notifications),
                Sender::Thread | Sender::Elsewhere => io.flush(&mut notifications),
                Sender::Reader(id) => notifications.wakers.extend(io.readers.waker(id)),
                Sender::Background => notifications.changed = true,
            }
            notifications.changed |= io.share_reading(&sender, now);
        }
        drop(io);
        self.publish(notifications);
    }

    /// The mutex, and who sends: a runtime has its reader from its first command on.
    fn io_for_sender(self: &Arc<Transport>, now: Instant) -> (MutexGuard<'_, Io>, Sender) {
        if self.callers_read && blocking::sends_on(self) {
            return (self.io(), Sender::Thread);
        }
        let runtime = match Handle::try_current() {
            Ok(runtime) if runtime.id() == self.background.id() => {
                return (self.io(), Sender::Background);
            }
            Ok(runtime) if self.callers_read => runtime,
            _ => return (self.io(), Sender::Elsewhere),
        };
        let mut io = self.io();
        if io.ended.is_none() && io.readers.is_new(runtime.id()) {
            let socket = io.pipe.socket().try_clone();
            drop(io);
            let is_able = socket.is_ok_and(|socket| reader::spawn(self, &runtime, socket));
            io = self.io();
            if !is_able {
                io.readers.is_unable(runtime.id());
            }
        }
        let sender = match io.readers.is_relied_on(runtime.id(), now) {
            true => Sender::Reader(runtime.id()),
            false => Sender::Elsewhere,
        };
        (io, sender)
    }

    /// Reads what nobody has read so far, if anything may have come: a thread that was busy with something
    /// else, as runtimes are that have one thread, has heard of no message meanwhile.
    pub(super) fn read_messages(&self) {
        let now = Instant::now();
        let mut io = self.io();
        let is_due = io.is_idle(now);
        if is_due {
            io.active = now;
        }
        drop(io);
        if is_due {
            self.receive(Reads::Sender);
        }
    }

    /// Has messages read although nothing is sent: by the background, unless a runtime reads.
    pub(super) fn keep_reading_messages(&self) {
        let mut io = self.io();
        let is_left = !io.background_reads && !io.readers.are_there();
        io.background_reads |= is_left;
        drop(io);
        if is_left {
            self.changed.notify_one();
        }
    }

    /// Reads and writes what there is, for all. Whether the connection goes on.
    pub(super) fn receive(&self, reads: Reads<'_>) -> bool {
        self.serve(|io, notifications| io.receive(reads, notifications))
    }

    /// Writes what there is, for all. Whether the connection goes on.
    pub(super) fn flush(&self, reads: Reads<'_>) -> bool {
        self.serve(|io, notifications| {
            io.is_read_by(&reads);
            io.flush(notifications);
        })
    }

    fn serve(&self, work: impl FnOnce(&mut Io, &mut Notifications)) -> bool {
        let mut notifications = Notifications::default();
        let mut io = self.io();
        work(&mut io, &mut notifications);
        let goes_on = io.ended.is_none();
        drop(io);
        self.publish(notifications);
        goes_on
    }

    /// Another descriptor of the socket.
    pub(super) fn socket(&self) -> io::Result<Socket> {
        self.io().pipe.socket().try_clone()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.io().ended.is_some()
    }

    /// Whether the background is to read, and if so, whether it is to wait for room as well.
    pub(super) fn background_reads(&self) -> Option<bool> {
        let io = self.io();
        let reads = io.background_reads && io.ended.is_none();
        reads.then(|| io.pipe.is_full())
    }

    /// How many commands were sent from runtimes and threads that read.
    pub(super) fn sent_by_readers(&self) -> u64 {
        self.io().sent_by_readers
    }

    /// Has the background read if nobody who reads has sent since `sent` was counted, or a command has been
    /// under way for too long.
    pub(super) fn look(&self, sent: u64) {
        let mut io = self.io();
        let first = io.slots.age();
        io.background_reads |= io.sent_by_readers == sent || first >= Some(LOOK);
        // Nobody waits, but for messages perhaps, and on another runtime than the one that sends.
        let is_left = !io.background_reads && first.is_none();
        drop(io);
        if is_left {
            self.receive(Reads::Background);
        }
    }

    /// A runtime does not read any more.
    pub(super) fn forget_reader(&self, runtime: Id) {
        let mut io = self.io();
        io.readers.forget(runtime);
        io.background_reads = true;
        drop(io);
        self.changed.notify_one();
    }

    /// A thread sends that blocks until it is answered.
    pub(super) fn thread_comes(&self) {
        self.io().threads.comes();
    }

    /// It is answered, or does not wait for that. What it leaves behind is read by the background.
    pub(super) fn thread_goes(&self) {
        let Some(mut io) = self.io_unless_forked() else {
            return;
        };
        let is_left = (io.threads.goes() || io.slots.are_left()) && !io.background_reads;
        io.background_reads |= is_left;
        drop(io);
        if is_left {
            self.changed.notify_one();
        }
    }

    /// Has a thread read for all, with a bell that wakes it, unless another one does.
    pub(super) fn lead(&self) -> Option<Arc<WakePipe>> {
        // Others' code may have forked this process since the thread has sent.
        self.background.check_process().ok()?;
        let mut io = self.io();
        if io.ended.is_some() {
            return None;
        }
        let Io { threads, pipe, .. } = &mut *io;
        let wake_pipe = threads.lead(|| WakePipe::new(pipe.socket()));
        let is_left = !threads.are_led() && !io.background_reads;
        io.background_reads |= is_left;
        drop(io);
        if is_left {
            self.changed.notify_one();
        }
        wake_pipe
    }

    /// It reads no more. If it was not able to wait for the socket, no other thread tries to.
    pub(super) fn stop_leading(&self, is_able: bool) {
        if let Some(mut io) = self.io_unless_forked() {
            io.threads.stop_leading(is_able);
        }
    }

    /// Ends it: whatever the system has not sent is not sent any more. In a forked child nothing is done.
    pub(super) fn close(&self, reason: &str) {
        if self.background.check_process().is_err() {
            return;
        }
        let mut notifications = Notifications::default();
        let mut io = self.io();
        io.end(io::Error::other(reason), &mut notifications);
        drop(io);
        // Who closes it knows.
        notifications.ended = false;
        self.publish(notifications);
    }

    fn publish(&self, notifications: Notifications) {
        if notifications.changed {
            self.changed.notify_one();
        }
        if notifications.ended {
            catch_panics(|| (self.on_event)(Event::End));
        }
        for (slot, value) in notifications.answered {
            catch_panics(|| slot.reply.send(value));
        }
        for (reply, broken) in notifications.failed {
            catch_panics(|| reply.fail(broken));
        }
        for data in notifications.messages {
            if let [_channel, Value::BulkString(payload)] = &data[..] {
                catch_panics(|| (self.on_event)(Event::Message(payload)));
            }
        }
        for waker in notifications.wakers {
            waker.wake();
        }
    }

    /// For those who may be in a forked child, in which nobody would ever give the mutex back.
    fn io_unless_forked(&self) -> Option<MutexGuard<'_, Io>> {
        lock_unless_forked(&self.io, self.background.process())
    }

    fn io(&self) -> MutexGuard<'_, Io> {
        self.io.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Io {
    /// Whether nothing is under way, and nothing has happened for a while.
    fn is_idle(&self, now: Instant) -> bool {
        self.slots.is_empty() && now.saturating_duration_since(self.active) >= IDLE
    }

    /// The background reads unless the sender's runtime does. Whether it has to be told.
    fn share_reading(&mut self, sender: &Sender, now: Instant) -> bool {
        let by_background = match sender {
            Sender::Reader(_) => {
                self.sent_by_readers += 1;
                self.pipe.is_full()
            }
            Sender::Thread if self.threads.sends(now) => {
                self.sent_by_readers += 1;
                self.pipe.is_full()
            }
            Sender::Thread | Sender::Background | Sender::Elsewhere => true,
        };
        let before = mem::replace(&mut self.background_reads, by_background);
        before != by_background || self.pipe.is_full()
    }

    fn is_read_by(&mut self, reads: &Reads<'_>) {
        if let Reads::Reader(id, waker) = reads {
            self.readers.polled(*id, waker);
        }
    }

    fn flush(&mut self, notifications: &mut Notifications) {
        if self.ended.is_some() {
            return;
        }
        if let Err(error) = self.pipe.flush() {
            // What has come before may be the answers, or say why.
            let _ = self.pipe.fill();
            let _ = self.decode(notifications);
            self.end(error, notifications);
        }
        // Those who read wait for no room.
        if self.pipe.is_full() && !self.background_reads {
            self.background_reads = true;
            notifications.changed = true;
        }
    }

    fn receive(&mut self, reads: Reads<'_>, notifications: &mut Notifications) {
        self.is_read_by(&reads);
        if self.ended.is_some() {
            return;
        }
        let filled = self.pipe.fill();
        let answered = notifications.answered.len();
        let decoded = self.decode(notifications);
        if notifications.answered.len() > answered {
            self.active = Instant::now();
            if let Reads::Background = reads {
                self.relieve(&notifications.answered[answered..]);
            }
        }
        match decoded.and(filled) {
            Ok(()) => self.flush(notifications),
            Err(error) => self.end(error, notifications),
        }
    }

    /// Gives all values that have come to those who wait for them.
    fn decode(&mut self, notifications: &mut Notifications) -> io::Result<()> {
        while let Some(value) = self.pipe.next()? {
            match value {
                Value::Push {
                    kind: PushKind::Message,
                    data,
                } => notifications.messages.push(data),
                // That is how a SUBSCRIBE is answered.
                Value::Push { kind, .. } if kind != PushKind::Subscribe => {}
                value => notifications.answered.extend(self.slots.answer(value)?),
            }
        }
        Ok(())
    }

    /// The background has read what runtimes had time to read.
    fn relieve(&mut self, answered: &[(Slot, Value)]) {
        for (slot, _) in answered {
            if let Some(runtime) = slot.reader
                && self.active.saturating_duration_since(slot.sent) >= LOOK
            {
                self.readers.rests(runtime, self.active);
            }
        }
    }

    fn end(&mut self, error: io::Error, notifications: &mut Notifications) {
        if self.ended.is_some() {
            return;
        }
        self.pipe.socket().reset();
        let error = Arc::new(error);
        for slot in self.slots.take() {
            let broken = ConnectionLost {
                unsent: self.pipe.is_unsent(slot.start),
                error: error.clone(),
            };
            notifications.failed.push((slot.reply, broken));
        }
        self.threads.end();
        self.ended = Some(error);
        notifications.ended = true;
        notifications.changed = true;
        notifications.wakers.extend(self.readers.wakers());
    }
}

#[cfg(test)]
mod tests;
