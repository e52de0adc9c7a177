//! Who reads from a connection.
//!
//! Each runtime that sends on it has a task that reads for all and writes what was sent meanwhile: so a
//! command and its answer cross no threads. A thread that blocks reads itself
//! ([`blocking`](super::blocking)). The background reads what nobody else does: while commands
//! come from elsewhere, when no runtime has sent for a while, and when a command is not answered for a
//! while, since a runtime may be blocked and its task not be polled.

use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::runtime::{Handle, Id};
use tokio::time::sleep;

use super::socket::Socket;
use super::transport::Transport;
use crate::background::panics::catch_panics;

/// The background begins to read when nobody who reads has sent for so long, or a command has been under way
/// for so long. Short against the time for a command, a second; long against a round trip in a data
/// centre.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// A runtime whose answers were read by the background because it did not is not relied on again for so
/// long. Without this one that always blocks, such as one whose only thread waits in an executor of its
/// own, would have every command wait to be found out.
const REST: Duration = Duration::from_secs(1);

/// Who sends a command.
pub(super) enum Sender {
    /// A task on a runtime that reads.
    Reader(Id),
    /// A thread that blocks until it is answered.
    Thread,
    Background,
    /// A thread whose answers are read by others.
    Elsewhere,
}

/// Who reads.
pub(super) enum Reads<'a> {
    /// The reader of a runtime, to be woken by this.
    Reader(Id, &'a Waker),
    /// A thread that blocks until it is answered.
    Thread,
    Background,
    /// A thread that is about to send.
    Sender,
}

impl Sender {
    /// The runtime that is to read the answer.
    pub(super) fn reader(&self) -> Option<Id> {
        match self {
            Sender::Reader(id) => Some(*id),
            Sender::Thread | Sender::Background | Sender::Elsewhere => None,
        }
    }
}

/// The runtimes that have sent.
#[derive(Default)]
pub(super) struct Readers(Vec<Entry>);

struct Entry {
    runtime: Id,
    /// It has a task that reads.
    is_able: bool,
    /// Of that task, while it waits.
    waker: Option<Waker>,
    rests_until: Option<Instant>,
}

impl Readers {
    /// Whether this runtime has no entry so far; it has one from now on.
    pub(super) fn is_new(&mut self, runtime: Id) -> bool {
        let is_new = self.entry(runtime).is_none();
        if is_new {
            self.0.push(Entry {
                runtime,
                is_able: true,
                waker: None,
                rests_until: None,
            });
        }
        is_new
    }

    /// Whether there is a task that reads, on whatever runtime.
    pub(super) fn are_there(&self) -> bool {
        self.0.iter().any(|entry| entry.is_able)
    }

    /// There is no task on this runtime.
    pub(super) fn is_unable(&mut self, runtime: Id) {
        if let Some(entry) = self.entry(runtime) {
            entry.is_able = false;
        }
    }

    /// Whether a command that is sent now from this runtime is left to its reader.
    pub(super) fn is_relied_on(&mut self, runtime: Id, now: Instant) -> bool {
        let Some(entry) = self.entry(runtime) else {
            return false;
        };
        entry.rests_until.take_if(|until| *until <= now);
        entry.is_able && entry.rests_until.is_none()
    }

    /// The background has read what was this runtime's to read.
    pub(super) fn rests(&mut self, runtime: Id, now: Instant) {
        if let Some(entry) = self.entry(runtime) {
            entry.rests_until = Some(now + REST);
        }
    }

    pub(super) fn polled(&mut self, runtime: Id, waker: &Waker) {
        if let Some(entry) = self.entry(runtime) {
            match &mut entry.waker {
                Some(before) => before.clone_from(waker),
                None => entry.waker = Some(waker.clone()),
            }
        }
    }

    /// To be called once the mutex is free. If there is none, the reader is about to look by itself.
    pub(super) fn waker(&mut self, runtime: Id) -> Option<Waker> {
        self.entry(runtime)?.waker.take()
    }

    pub(super) fn wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.0.iter_mut().filter_map(|entry| entry.waker.take())
    }

    pub(super) fn forget(&mut self, runtime: Id) {
        self.0.retain(|entry| entry.runtime != runtime);
    }

    fn entry(&mut self, runtime: Id) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.runtime == runtime)
    }
}

/// Has `runtime`, in which this is called, read from a connection. Whether it can: one without I/O cannot,
/// and there tokio panics; that is its only way to say so.
pub(super) fn spawn(transport: &Arc<Transport>, runtime: &Handle, socket: Socket) -> bool {
    let Some(Ok(socket)) = catch_panics(|| Registered::new(socket)) else {
        return false;
    };
    // If the runtime is ending, this drops it at once.
    runtime.spawn(Reader {
        transport: Arc::downgrade(transport),
        runtime: runtime.id(),
        socket: Some(socket),
    });
    true
}

/// The task of one runtime. It ends with it, or with the connection.
struct Reader {
    transport: Weak<Transport>,
    runtime: Id,
    socket: Option<Registered>,
}

impl Future for Reader {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (Some(transport), Some(socket)) = (self.transport.upgrade(), &self.socket) else {
            return Poll::Ready(());
        };
        // A child that goes on with its parent's runtime has the same socket.
        if transport.background.check_process().is_err() {
            return Poll::Pending;
        }
        let reads = || Reads::Reader(self.runtime, cx.waker());
        let (mut has_read, mut goes_on) = (false, true);
        while goes_on {
            let mut cx = Context::from_waker(cx.waker());
            let polled = socket.poll_read(&mut cx, || goes_on = transport.receive(reads()));
            match polled {
                Poll::Ready(Ok(())) => has_read = true,
                // The runtime ends.
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending if has_read => return Poll::Pending,
                Poll::Pending if transport.flush(reads()) => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let Some(transport) = self.transport.upgrade() else {
            return;
        };
        if transport.background.check_process().is_err() {
            // Nor may the parent's reactor lose it.
            mem::forget(self.socket.take());
            return;
        }
        transport.forget_reader(self.runtime);
    }
}

/// The background's part, until the connection ends.
pub(super) async fn background(transport: Arc<Transport>) {
    while !transport.has_ended() {
        match transport.background_reads() {
            Some(_) => read(&transport).await,
            None => leave(&transport).await,
        }
    }
}

/// Reads until that is left to others.
async fn read(transport: &Transport) {
    let Ok(socket) = transport.socket().and_then(Registered::new) else {
        // No file descriptor is left.
        transport.receive(Reads::Background);
        return sleep(LOOK).await;
    };
    // What was sent before may be unwritten.
    transport.flush(Reads::Background);
    while let Some(is_full) = transport.background_reads() {
        tokio::select! {
            biased;
            _ = poll_fn(|cx| socket.poll_read(cx, || { transport.receive(Reads::Background); })) => {}
            _ = poll_fn(|cx| socket.poll_write(cx, || flush_all(transport))), if is_full => {}
            () = transport.changed.notified() => { transport.flush(Reads::Background); }
        }
    }
}

/// Writes what there is, and says whether that was all.
fn flush_all(transport: &Transport) -> bool {
    transport.flush(Reads::Background);
    transport.background_reads() != Some(true)
}

/// Leaves reading to others as long as they send.
async fn leave(transport: &Transport) {
    let sent = transport.sent_by_readers();
    tokio::select! {
        biased;
        () = transport.changed.notified() => {}
        () = sleep(LOOK) => transport.look(sent),
    }
}

/// A socket that is registered with the runtime that this is made in.
enum Registered {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Registered {
    fn new(socket: Socket) -> io::Result<Registered> {
        match socket {
            Socket::Tcp(stream) => TcpStream::from_std(stream).map(Registered::Tcp),
            #[cfg(unix)]
            Socket::Unix(stream) => UnixStream::from_std(stream).map(Registered::Unix),
        }
    }

    /// Has `read` read all there is, if there is something.
    fn poll_read(&self, cx: &mut Context<'_>, read: impl FnOnce()) -> Poll<io::Result<()>> {
        // What comes after the last read makes it ready anew.
        self.poll(Interest::READABLE, cx, || {
            read();
            Err(io::ErrorKind::WouldBlock.into())
        })
    }

    /// Has `write` write, if there is room, and say whether there is still.
    fn poll_write(
        &self,
        cx: &mut Context<'_>,
        write: impl FnOnce() -> bool,
    ) -> Poll<io::Result<()>> {
        self.poll(Interest::WRITABLE, cx, || match write() {
            true => Ok(()),
            false => Err(io::ErrorKind::WouldBlock.into()),
        })
    }

    fn poll(
        &self,
        interest: Interest,
        cx: &mut Context<'_>,
        act: impl FnOnce() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        macro_rules! poll {
            ($stream:expr) => {{
                match interest.is_readable() {
                    true => ready!($stream.poll_read_ready(cx))?,
                    false => ready!($stream.poll_write_ready(cx))?,
                }
                $stream.try_io(interest, act)
            }};
        }
        // It is ready no more, and that is no error.
        let _ = match self {
            Registered::Tcp(stream) => poll!(stream),
            #[cfg(unix)]
            Registered::Unix(stream) => poll!(stream),
        };
        Poll::Ready(Ok(()))
    }
}
