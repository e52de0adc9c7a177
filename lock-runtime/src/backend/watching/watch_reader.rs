//! What a watch has not read yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::watched_lock::WatchedLock;
use crate::background::sync::Mutex;
use crate::error::LockError;
use crate::state::LockState;

/// How many changes are kept for a watch that does not read them. Failures are dropped before them, and older ones before
/// later ones.
const MAX_UNREAD: usize = 64;

/// The states that a watch has not read yet. Its watch drops it when it ends.
#[derive(Debug)]
pub(crate) struct WatchReader {
    /// `None` if the client was shut down before.
    lock: Option<Arc<WatchedLock>>,
    pub(super) every: Duration,
    unread: Mutex<Unread>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Unread {
    states: VecDeque<Result<LockState, LockError>>,
    /// Whether the reader has been told a state, and no failure after it.
    knows_state: bool,
    is_closed: bool,
}

/// The next thing that a watch reads.
#[derive(Debug)]
pub(crate) enum Unseen {
    State(Result<LockState, LockError>),
    Nothing,
    Closed,
}

impl WatchReader {
    pub(super) fn new(lock: Option<Arc<WatchedLock>>, every: Duration) -> Arc<WatchReader> {
        Arc::new(WatchReader {
            lock,
            every,
            unread: Mutex::default(),
            added: Notify::new(),
        })
    }

    /// Creates the reader of a client that is shut down.
    pub(super) fn closed() -> Arc<WatchReader> {
        let reader = WatchReader::new(None, Duration::ZERO);
        reader.close();
        reader
    }

    /// Adds a state, if it `is_change`, or the first, or the first after a failure. Returns whether it was added: then the
    /// caller wakes the reader.
    pub(super) fn tell(&self, state: &LockState, is_change: bool) -> bool {
        let mut unread = self.unread.lock();
        let is_added = is_change || !unread.knows_state;
        if is_added {
            unread.knows_state = true;
            unread.push(Ok(state.clone()));
        }
        is_added
    }

    /// Adds a failure, in place of the failure before it.
    pub(super) fn fail(&self, error: &LockError) {
        let mut unread = self.unread.lock();
        unread.knows_state = false;
        if unread.states.back().is_some_and(Result::is_err) {
            unread.states.pop_back();
        }
        unread.push(Err(error.duplicate()));
    }

    pub(super) fn close(&self) {
        self.unread.lock().is_closed = true;
        self.wake();
    }

    pub(super) fn wake(&self) {
        self.added.notify_one();
    }

    pub(crate) fn take(&self) -> Unseen {
        let mut unread = self.unread.lock();
        if unread.is_closed {
            return Unseen::Closed;
        }
        unread
            .states
            .pop_front()
            .map_or(Unseen::Nothing, Unseen::State)
    }

    /// Completes when there is something to take. It may also complete too early.
    pub(crate) async fn added(&self) {
        self.added.notified().await;
    }
}

impl Drop for WatchReader {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            lock.reader_left();
        }
    }
}

impl Unread {
    fn push(&mut self, state: Result<LockState, LockError>) {
        self.states.push_back(state);
        if self.states.len() > MAX_UNREAD {
            let failure = self.states.iter().position(Result::is_err);
            self.states.remove(failure.unwrap_or(0));
        }
    }
}
