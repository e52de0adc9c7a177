//! Asks about the locks that a client watches, for as long as it watches them.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::backend::remote::Remote;
use crate::backend::watching::{WatchReader, WatchedLock, wake_readers};
use crate::backend::wire::error::WireError;
use crate::key::{LockKey, RecordNames};

impl Remote {
    /// Begins to watch a lock, by a question `every` so often.
    pub(crate) fn watch(
        self: &Arc<Self>,
        key: &LockKey,
        names: &RecordNames,
        every: Duration,
    ) -> Arc<WatchReader> {
        let (reader, not_watched_yet) = self.watched.read(key, names, every, Instant::now());
        if let Some(lock) = not_watched_yet {
            self.spawn(ask(Arc::downgrade(self), lock));
        }
        reader
    }
}

/// Asks about a lock until nobody watches it.
async fn ask(remote: Weak<Remote>, lock: Arc<WatchedLock>) {
    while lock.begin_question(Instant::now())
        && let Some(remote) = remote.upgrade()
    {
        match remote.wire.inspect(&lock.key, &lock.names).await {
            Ok((state, _)) => wake_readers(lock.tell(state)),
            Err(error) => lock.fail(&WireError::into_error(error).with_key(&lock.key)),
        }
        let timers = remote.background.timers();
        drop(remote);
        while let Some(next) = lock.next_question()
            && next > Instant::now()
        {
            // Whether it was time or a change, the next question is due or not.
            let _ = timers.timeout_at(next, lock.changed()).await;
        }
    }
    if let Some(remote) = remote.upgrade() {
        remote.watched.forget(&lock);
    }
}
