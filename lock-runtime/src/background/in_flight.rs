//! Counts the operations in flight, so that a shutdown can wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::background::panics::catch_panics;

/// The number of operations in flight. Clones share one count.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    number: AtomicUsize,
    zero: Notify,
}

impl InFlight {
    /// Counts one operation until the returned value is dropped.
    pub(crate) fn one(&self) -> Counted {
        self.0.number.fetch_add(1, Ordering::SeqCst);
        Counted(self.0.clone())
    }

    pub(crate) fn number(&self) -> usize {
        self.0.number.load(Ordering::SeqCst)
    }

    /// Completes when nothing is in flight.
    pub(crate) async fn zero(&self) {
        loop {
            // Created before the number is read: from then on it misses no notification.
            let zero = self.0.zero.notified();
            if self.number() == 0 {
                return;
            }
            zero.await;
        }
    }
}

/// An operation that is in flight until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted(Arc<Count>);

impl Clone for Counted {
    /// Counts one more.
    fn clone(&self) -> Counted {
        self.0.number.fetch_add(1, Ordering::SeqCst);
        Counted(self.0.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.0.number.fetch_sub(1, Ordering::SeqCst) == 1 {
            catch_panics(|| self.0.zero.notify_waiters());
        }
    }
}
