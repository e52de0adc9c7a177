//! Who may begin, and how many have not ended: what a shutdown closes and waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::error::{LockError, LockErrorKind};
use crate::model::key::LockKey;

/// Counts the acquisitions and holds of one client.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    closed: AtomicBool,
    inside: AtomicUsize,
    left: Notify,
    closing: Notify,
}

impl Gate {
    /// Counts one in, until the entry is dropped.
    pub(crate) fn enter(self: &Arc<Gate>, key: &LockKey) -> Result<Entry, LockError> {
        // Counted before the gate is looked at, so that a close that runs meanwhile either sees
        // this entry or is seen by it.
        self.inside.fetch_add(1, Ordering::SeqCst);
        let entry = Entry(self.clone());
        if self.closed.load(Ordering::SeqCst) {
            return Err(refused(key));
        }
        Ok(entry)
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
        loop {
            let left = self.left.notified();
            if self.inside.load(Ordering::SeqCst) == 0 {
                return;
            }
            left.await;
        }
    }
}

fn refused(key: &LockKey) -> LockError {
    LockError::new(LockErrorKind::Shutdown).with_key(key)
}

/// One that is inside.
#[derive(Debug)]
pub(crate) struct Entry(Arc<Gate>);

impl Drop for Entry {
    fn drop(&mut self) {
        if self.0.inside.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.left.notify_waiters();
        }
    }
}
