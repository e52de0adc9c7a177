//! Who may begin, and who has not ended: what a shutdown closes and waits for.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use crate::error::{LockError, LockErrorKind};
use crate::model::key::LockKey;
use crate::tally::{Counted, Tally};

/// The way into a client.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    closed: AtomicBool,
    closing: Notify,
    inside: Tally,
}

impl Gate {
    /// Lets one in, until what is returned is dropped.
    pub(crate) fn enter(&self, key: &LockKey) -> Result<Counted, LockError> {
        // Counted before the gate is looked at, so that a close that runs meanwhile either sees
        // this one inside or is seen by it.
        let inside = self.inside.one();
        if self.closed.load(Ordering::SeqCst) {
            return Err(refused(key));
        }
        Ok(inside)
    }

    /// Runs `acquire` unless the gate closes meanwhile.
    pub(crate) async fn unless_closed<T>(
        &self,
        key: &LockKey,
        acquire: impl Future<Output = Result<T, LockError>>,
    ) -> Result<T, LockError> {
        let closing = self.closing.notified();
        if self.closed.load(Ordering::SeqCst) {
            return Err(refused(key));
        }
        tokio::select! {
            biased;
            acquired = acquire => acquired,
            () = closing => Err(refused(key)),
        }
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.closing.notify_waiters();
    }

    /// Completes when nobody is inside.
    pub(crate) async fn empty(&self) {
        self.inside.zero().await;
    }
}

fn refused(key: &LockKey) -> LockError {
    LockError::new(LockErrorKind::Shutdown).with_key(key)
}
