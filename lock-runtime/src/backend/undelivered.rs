//! A lease on its way from its backend to its caller.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::background::offload::InlineRunner;
use crate::error::{LockError, LockErrorKind};
use crate::lease::Lease;

/// A backend that can release a lease without waiting for the answer.
pub(crate) trait Abandon: Send + Sync + 'static {
    /// Releases the lock without waiting for the answer. Never blocks.
    fn abandon(self: Arc<Self>, lease: Arc<Lease>);
}

/// A lease on its way to the caller, released if it does not arrive.
pub(crate) struct Undelivered {
    /// `Some` until the lease has arrived.
    lease: Option<Arc<Lease>>,
    backend: Arc<dyn Abandon>,
}

impl Undelivered {
    pub(crate) fn new(backend: Arc<dyn Abandon>, lease: Arc<Lease>) -> Undelivered {
        Undelivered {
            lease: Some(lease),
            backend,
        }
    }

    /// The lease has arrived: from now on the caller releases it.
    pub(crate) fn deliver(mut self) -> Arc<Lease> {
        self.lease.take().expect("a lease is delivered once")
    }
}

impl Drop for Undelivered {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.backend.clone().abandon(lease);
        }
    }
}

impl fmt::Debug for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Undelivered").field(&self.lease).finish()
    }
}

/// The outcome of an acquisition.
pub(crate) type Outcome = Result<Undelivered, LockError>;

/// An acquisition that has begun.
///
/// Not an async function: its future would have room for the request in addition to the outcome, and so would the
/// future of each caller around it. The future of every locked call contains all of them, and is moved.
#[must_use = "futures do nothing unless polled"]
pub(crate) enum Acquiring {
    /// It has ended. `None` once the outcome was taken.
    Ended(Option<Outcome>),
    /// It is a task, which its caller polls.
    Inline(InlineRunner<Outcome>),
    Boxed(Pin<Box<dyn Future<Output = Outcome> + Send>>),
}

impl Acquiring {
    pub(crate) fn ended(outcome: Outcome) -> Acquiring {
        Acquiring::Ended(Some(outcome))
    }

    pub(crate) fn boxed(acquiring: impl Future<Output = Outcome> + Send + 'static) -> Acquiring {
        Acquiring::Boxed(Box::pin(acquiring))
    }
}

impl Future for Acquiring {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        match self.get_mut() {
            Acquiring::Ended(outcome) => {
                Poll::Ready(outcome.take().expect("not polled after its end"))
            }
            Acquiring::Inline(runner) => {
                let gone = || LockError::new(LockErrorKind::Shutdown);
                runner
                    .poll_answer(cx)
                    .map(|outcome| outcome.ok_or_else(gone)?)
            }
            Acquiring::Boxed(acquiring) => acquiring.as_mut().poll(cx),
        }
    }
}
