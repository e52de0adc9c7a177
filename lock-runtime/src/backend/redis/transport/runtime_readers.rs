//! The runtimes that send on a connection. Each reads it in a task of its own, so that commands and answers do not change
//! threads.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, Id};

use super::Transport;
use super::io::ReadBy;
use crate::backend::redis::socket::{RegisteredSocket, Socket};
use crate::background::panics::catch_panics;

/// The background reads when no reader has sent for this long, or when a command has been pending for this long. The
/// time is short compared with the usual command timeout of a second, and long compared with a round trip in a data
/// centre.
pub(super) const TAKEOVER_DELAY: Duration = Duration::from_millis(20);

/// How long a reader task is not relied on after the background had to read its answers [again and again](TAKEOVERS).
///
/// A runtime may be blocked permanently, for example if its only thread waits in another executor. Without the
/// suspension each of its commands would wait for the takeover.
const SUSPENSION: Duration = Duration::from_secs(1);

/// A reader task is suspended at the third takeover within [`WINDOW`]. A single one proves nothing: on a machine without
/// a free CPU, a task that is never blocked is late too, and a suspension would double the price of its commands.
const TAKEOVERS: usize = 3;
const WINDOW: Duration = Duration::from_secs(1);

/// The runtimes that have sent on a connection.
#[derive(Default)]
pub(super) struct RuntimeReaders(Vec<RuntimeEntry>);

struct RuntimeEntry {
    runtime: Id,
    /// Whether the runtime has a reader task.
    has_task: bool,
    /// The waker of the task; `None` while the task has been woken and not polled.
    waker: Option<Waker>,
    /// The last takeovers, the oldest first, except for the one that suspends the task.
    takeovers: [Option<Instant>; TAKEOVERS - 1],
    suspended_until: Option<Instant>,
}

impl RuntimeReaders {
    /// Adds a runtime. Returns `false` if it was added before.
    pub(super) fn add(&mut self, runtime: Id) -> bool {
        let is_new = self.entry(runtime).is_none();
        if is_new {
            self.0.push(RuntimeEntry {
                runtime,
                has_task: true,
                waker: None,
                takeovers: Default::default(),
                suspended_until: None,
            });
        }
        is_new
    }

    /// Notes that the runtime cannot run a reader task.
    pub(super) fn note_without_task(&mut self, runtime: Id) {
        if let Some(entry) = self.entry(runtime) {
            entry.has_task = false;
        }
    }

    /// Returns whether any runtime has a reader task.
    pub(super) fn has_task(&self) -> bool {
        self.0.iter().any(|entry| entry.has_task)
    }

    /// Returns whether the runtime's reader task will read the answer to a command that the runtime sends now.
    pub(super) fn is_active(&mut self, runtime: Id, now: Instant) -> bool {
        let Some(entry) = self.entry(runtime) else {
            return false;
        };
        entry.suspended_until.take_if(|until| *until <= now);
        entry.has_task && entry.suspended_until.is_none()
    }

    /// Notes that the background has read answers in the place of a runtime's reader task. Suspends the task if that
    /// happens often. Answers that come in parts, or in turn with those of another runtime, are one takeover.
    pub(super) fn note_takeover(&mut self, runtime: Id, now: Instant) {
        let Some(entry) = self.entry(runtime) else {
            return;
        };
        let [oldest, latest] = entry.takeovers;
        let since = |noted: Instant| now.saturating_duration_since(noted);
        if latest.is_some_and(|latest| since(latest) < TAKEOVER_DELAY) {
            return;
        }
        if oldest.is_some_and(|oldest| since(oldest) <= WINDOW) {
            entry.takeovers = Default::default();
            entry.suspended_until = Some(now + SUSPENSION);
        } else {
            entry.takeovers.rotate_left(1);
            entry.takeovers[TAKEOVERS - 2] = Some(now);
        }
    }

    /// Stores the waker of a reader task after its poll.
    pub(super) fn store_waker(&mut self, runtime: Id, waker: &Waker) {
        if let Some(entry) = self.entry(runtime) {
            match &mut entry.waker {
                Some(stored) => stored.clone_from(waker),
                None => entry.waker = Some(waker.clone()),
            }
        }
    }

    /// Returns the waker of a runtime's reader task, to be called with no mutex held; `None` if the task was woken and
    /// not polled since.
    pub(super) fn take_waker(&mut self, runtime: Id) -> Option<Waker> {
        self.entry(runtime)?.waker.take()
    }

    /// Returns the wakers of all reader tasks.
    pub(super) fn take_wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.0.iter_mut().filter_map(|entry| entry.waker.take())
    }

    pub(super) fn remove(&mut self, runtime: Id) {
        self.0.retain(|entry| entry.runtime != runtime);
    }

    fn entry(&mut self, runtime: Id) -> Option<&mut RuntimeEntry> {
        self.0.iter_mut().find(|entry| entry.runtime == runtime)
    }
}

/// Spawns a reader task on `runtime`. Must be called inside it. Returns `false` if the runtime has no I/O, which tokio
/// reports only by a panic.
pub(super) fn spawn_reader_task(
    transport: &Arc<Transport>,
    runtime: &Handle,
    socket: Socket,
) -> bool {
    let Some(Ok(socket)) = catch_panics(|| RegisteredSocket::new(socket)) else {
        return false;
    };
    // A runtime that is shutting down drops the task at once.
    runtime.spawn(ReaderTask {
        transport: Arc::downgrade(transport),
        runtime: runtime.id(),
        socket: Some(socket),
    });
    true
}

/// Reads for all, and writes what was submitted meanwhile. Ends with the runtime or the connection.
struct ReaderTask {
    transport: Weak<Transport>,
    runtime: Id,
    socket: Option<RegisteredSocket>,
}

impl Future for ReaderTask {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (Some(transport), Some(socket)) = (self.transport.upgrade(), &self.socket) else {
            return Poll::Ready(());
        };
        // A forked child that continues its parent's runtime also shares the parent's socket.
        if transport.background.check_process().is_err() {
            return Poll::Pending;
        }
        let read_by = ReadBy::Runtime(self.runtime, cx.waker());
        let (mut has_read, mut is_open) = (false, true);
        while is_open {
            let mut cx = Context::from_waker(cx.waker());
            let polled = socket.poll_read(&mut cx, || is_open = transport.receive(read_by));
            match polled {
                Poll::Ready(Ok(())) => has_read = true,
                // The runtime is shutting down.
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending if has_read => return Poll::Pending,
                // A sender has woken the task to write the remaining bytes. It ends if the connection is closed.
                Poll::Pending if transport.flush(read_by) => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(())
    }
}

impl Drop for ReaderTask {
    fn drop(&mut self) {
        let Some(transport) = self.transport.upgrade() else {
            return;
        };
        if transport.background.check_process().is_err() {
            // Dropping the socket in the child would deregister it from the parent's reactor.
            mem::forget(self.socket.take());
            return;
        }
        transport.remove_runtime(self.runtime);
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    /// Plays takeovers at these times (ms). Returns after which of them the task is suspended.
    fn suspensions(times: &[u64]) -> Vec<u64> {
        let runtime = Builder::new_current_thread().build().unwrap();
        let (id, start) = (runtime.handle().id(), Instant::now());
        let mut readers = RuntimeReaders::default();
        readers.add(id);
        let mut suspends = |time: u64| {
            let now = start + Duration::from_millis(time);
            readers.note_takeover(id, now);
            !readers.is_active(id, now)
        };
        let times = times.iter().copied();
        times.filter(|&time| suspends(time)).collect()
    }

    #[test]
    fn task_is_suspended_after_three_takeovers_within_a_second() {
        const NONE: [u64; 0] = [];
        assert_eq!(suspensions(&[0]), NONE);
        assert_eq!(suspensions(&[0, 20]), NONE);
        assert_eq!(suspensions(&[0, 20, 40]), [40]);
        assert_eq!(suspensions(&[0, 500, 1_000]), [1_000]);
        assert_eq!(suspensions(&[0, 600, 1_200, 1_800]), NONE);
        assert_eq!(suspensions(&[0, 900, 1_100, 1_300]), [1_300]);
        // Answers that come in parts, or in turn with those of another runtime, are one takeover.
        assert_eq!(suspensions(&[0, 0, 0, 5, 10, 19]), NONE);
        assert_eq!(suspensions(&[0, 10, 20, 30, 40]), [40]);
        // A task that stays blocked is suspended again.
        assert_eq!(suspensions(&[0, 20, 40, 1_060, 1_080, 1_100]), [40, 1_100]);
    }
}
