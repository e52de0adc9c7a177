//! Admits calls, and counts those in flight for shutdown.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::background::in_flight::{Counted, InFlight};
use crate::background::panics::catch_panics;
use crate::error::{LockError, LockErrorKind};
use crate::key::LockKey;

/// Admits calls to a client until it is closed.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    closed: AtomicBool,
    closing: Notify,
    in_flight: InFlight,
}

impl Admission {
    /// Admits a call, and counts it until the returned value is dropped.
    pub(crate) fn enter(&self, key: &LockKey) -> Result<Counted, LockError> {
        // Counted before `closed` is read: a concurrent close either waits for this call or refuses it.
        let in_flight = self.in_flight.one();
        if self.closed.load(Ordering::SeqCst) {
            return Err(refused(key));
        }
        Ok(in_flight)
    }

    /// Runs `acquire`, but fails as soon as the client is closed.
    pub(crate) fn unless_closed<'a, F>(
        &'a self,
        key: &'a LockKey,
        acquire: F,
    ) -> UnlessClosed<'a, F> {
        // Created before `closed` is read, so that it misses no close.
        let closing = self.closing.notified();
        UnlessClosed {
            key,
            is_closed: self.closed.load(Ordering::SeqCst),
            acquire,
            closing,
        }
    }

    /// Refuses calls from now on, including those that wait for a lock.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        catch_panics(|| self.closing.notify_waiters());
    }

    /// Completes when no call is in flight.
    pub(crate) async fn empty(&self) {
        self.in_flight.zero().await;
    }
}

pin_project_lite::pin_project! {
    /// The future of [`Admission::unless_closed`]. Written by hand: an async function would store `acquire` twice, and
    /// move it each time it is moved.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct UnlessClosed<'a, F> {
        key: &'a LockKey,
        is_closed: bool,
        #[pin]
        acquire: F,
        #[pin]
        closing: Notified<'a>,
    }
}

impl<T, F: Future<Output = Result<T, LockError>>> Future for UnlessClosed<'_, F> {
    type Output = Result<T, LockError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if *this.is_closed {
            return Poll::Ready(Err(refused(this.key)));
        }
        if let Poll::Ready(acquired) = this.acquire.poll(cx) {
            return Poll::Ready(acquired);
        }
        this.closing.poll(cx).map(|()| Err(refused(this.key)))
    }
}

fn refused(key: &LockKey) -> LockError {
    LockError::new(LockErrorKind::Shutdown).with_key(key)
}
