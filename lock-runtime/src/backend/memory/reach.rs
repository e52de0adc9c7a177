//! Lets a test disconnect callers from the store.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::background::panics::catch_panics;
use crate::error::{LockError, LockErrorKind};

/// Whether callers can reach the store.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The number of active disconnects of tests.
    cuts: AtomicUsize,
    mended: Notify,
}

impl Reach {
    pub(crate) fn cut(&self) {
        self.cuts.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends one disconnect.
    pub(crate) fn mend(&self) {
        if self.cuts.fetch_sub(1, Ordering::SeqCst) == 1 {
            catch_panics(|| self.mended.notify_waiters());
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cuts.load(Ordering::SeqCst) > 0
    }

    /// Completes when the last disconnect ends. A caller that calls this first, and then finds the store disconnected,
    /// does not miss the end.
    pub(crate) fn mended(&self) -> Notified<'_> {
        self.mended.notified()
    }

    /// Refuses a command while the store is disconnected.
    pub(crate) fn check(&self) -> Result<(), LockError> {
        if self.is_cut() { Err(away()) } else { Ok(()) }
    }
}

/// Returns the error of a command to an unreachable store.
pub(crate) fn away() -> LockError {
    LockError::new(LockErrorKind::Unavailable).with_detail("the client is cut off by its test")
}
