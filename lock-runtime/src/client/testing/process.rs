//! A future that stands for a process, so that a test can kill it.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::backend::any::AnyBackend;
use crate::backend::memory::Memory;
use crate::backend::memory::interruption::ProcessId;
use crate::client::lock_client::LockClient;

/// Runs `future` as a process of its own, which [`crash`](super::LoseAtEachAwait::crash) can kill. Returns `None` if it
/// was killed, and otherwise the output.
///
/// A killed future is not dropped but forgotten: none of its destructors runs, and each of its locks stays taken for
/// one ttl. What it has leaks: its memory, the mutexes that it had locked, its connections. Tasks and threads that it
/// spawned go on. So keep what is to survive the process, such as the stand-in of a database, outside of the future, and
/// lock no mutex of it across an await. Of several futures that the process polls at once, the others may go on to the
/// end of the current poll.
///
/// Anywhere else, this only runs `future`.
///
/// # Cancel safety
///
/// Dropping the returned future drops `future`.
pub fn process<F: Future>(client: &LockClient, future: F) -> Process<F> {
    let memory = match &client.core().backend {
        AnyBackend::Memory(memory) if memory.interruption().is_some() => Some(memory.clone()),
        _ => None,
    };
    Process {
        future: Some(Box::pin(future)),
        id: ProcessId::next(),
        memory,
    }
}

/// A future that a test may kill; created by [`process`].
#[must_use = "futures do nothing unless polled"]
pub struct Process<F> {
    /// Boxed, since only what stays where it is can be forgotten.
    future: Option<Pin<Box<F>>>,
    id: ProcessId,
    /// `Some` if a test interrupts the bodies of the client.
    memory: Option<Arc<Memory>>,
}

impl<F: Future> Future for Process<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let future = this.future.as_mut();
        let future = future.expect("a process is not polled after it has ended");
        let Some(memory) = &this.memory else {
            return future.as_mut().poll(cx).map(Some);
        };
        let polled = {
            let _entered = this.id.entered();
            future.as_mut().poll(cx)
        };
        if memory.buries(this.id) {
            mem::forget(this.future.take());
            mem::forget(polled);
            return Poll::Ready(None);
        }
        polled.map(Some)
    }
}

impl<F> fmt::Debug for Process<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").finish_non_exhaustive()
    }
}
