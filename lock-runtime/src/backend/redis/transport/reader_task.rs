//! Reads a connection in a task of each runtime, so that commands and answers do not change threads.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use tokio::runtime::{Handle, Id};

use super::Transport;
use super::io::ReadBy;
use super::registered_socket::RegisteredSocket;
use crate::backend::redis::socket::Socket;
use crate::background::panics::catch_panics;

/// Spawns a reader task on `runtime`. Must be called inside it. Returns `false` if the runtime has no I/O, which tokio
/// reports only by a panic.
pub(super) fn spawn(transport: &Arc<Transport>, runtime: &Handle, socket: Socket) -> bool {
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
