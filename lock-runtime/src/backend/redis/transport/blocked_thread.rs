//! Threads that block until their answer arrives, and read it themselves.
//!
//! A thread in [`block_on`] reads for all from the connection that it last sent on, unless another thread does. So a
//! command and its answer do not change threads, as with a client that blocks on its socket. The first thread reads for
//! the threads that follow, as in libxcb's `_xcb_conn_wait`. If several threads send at the same time, the background
//! reads for all of them: passing the reading from thread to thread would cost what it saves.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;

use super::Transport;
use super::io::ReadBy;
use super::thread_waker::ThreadWaker;
use super::wake_pipe::WakePipe;

thread_local! {
    /// Whether this thread is inside [`block_on`].
    static IS_BLOCKED: Cell<bool> = const { Cell::new(false) };
    /// The connection that this thread last sent on inside [`block_on`].
    static LAST_SENT_ON: RefCell<Option<Arc<Transport>>> = const { RefCell::new(None) };
    /// Reused from one call to the next.
    static WAKER: Cell<Option<Arc<ThreadWaker>>> = const { Cell::new(None) };
}

/// Waits for `future` on this thread, inside or outside a runtime, and reads the answers that the future waits for.
///
/// Ignores tokio's coop budget: this thread may be running a task, and a spent budget is not renewed while it blocks.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(unconstrained(future));
    let thread = BlockedThread::begin();
    let waker = Waker::from(thread.waker.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread.wait();
    }
}

/// Notes that this thread sends on a connection. Returns whether the thread now blocks on it.
pub(super) fn note_sender(transport: &Arc<Transport>) -> bool {
    if !IS_BLOCKED.get() {
        return false;
    }
    // A thread that is exiting no longer has thread-locals.
    let noted = LAST_SENT_ON.try_with(|last| {
        let is_same = |last: &Arc<Transport>| Arc::ptr_eq(last, transport);
        if !last.borrow().as_ref().is_some_and(is_same) {
            transport.add_thread();
            remove_thread(last.replace(Some(transport.clone())));
        }
    });
    noted.is_ok()
}

fn remove_thread(transport: Option<Arc<Transport>>) {
    if let Some(transport) = transport {
        transport.remove_thread();
    }
}

/// A thread inside [`block_on`], until this is dropped.
struct BlockedThread {
    waker: Arc<ThreadWaker>,
    /// The thread-locals of the enclosing call, if there is one.
    was_blocked: bool,
    last_sent_on: Option<Arc<Transport>>,
}

impl BlockedThread {
    fn begin() -> BlockedThread {
        let waker = WAKER.try_with(Cell::take).ok().flatten();
        BlockedThread {
            waker: waker.unwrap_or_else(ThreadWaker::new),
            was_blocked: IS_BLOCKED.replace(true),
            last_sent_on: LAST_SENT_ON.try_with(RefCell::take).ok().flatten(),
        }
    }

    /// Waits until the future may be ready, and reads meanwhile. May return early.
    fn wait(&self) {
        if self.waker.take_wake() {
            return;
        }
        let transport = LAST_SENT_ON.try_with(|last| last.borrow().clone());
        match transport.ok().flatten().and_then(ActiveReader::start) {
            Some(reader) => reader.read_once(&self.waker),
            None => self.waker.park(),
        }
    }
}

impl Drop for BlockedThread {
    fn drop(&mut self) {
        let restored = LAST_SENT_ON.try_with(|last| last.replace(self.last_sent_on.take()));
        if let Ok(last) = restored {
            remove_thread(last);
        }
        IS_BLOCKED.set(self.was_blocked);
        let _ = WAKER.try_with(|waker| waker.set(Some(self.waker.clone())));
    }
}

/// The only blocked thread that reads from a connection, until this is dropped.
struct ActiveReader {
    transport: Arc<Transport>,
    wake_pipe: Arc<WakePipe>,
    /// Whether the system allows the thread to wait for the socket.
    is_able: bool,
}

impl ActiveReader {
    fn start(transport: Arc<Transport>) -> Option<ActiveReader> {
        let wake_pipe = transport.start_thread_reader()?;
        Some(ActiveReader {
            transport,
            wake_pipe,
            is_able: true,
        })
    }

    /// Waits until the socket is readable or `waker` is called, and reads what has arrived.
    fn read_once(mut self, waker: &ThreadWaker) {
        let waited = waker.wait_in(&self.wake_pipe);
        self.is_able = waited.is_ok();
        if let Ok(true) = waited {
            self.transport.receive(ReadBy::BlockedThread);
        }
    }
}

impl Drop for ActiveReader {
    fn drop(&mut self) {
        self.transport.stop_thread_reader(self.is_able);
    }
}
