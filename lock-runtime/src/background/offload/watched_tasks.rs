//! Tracks the tasks that callers of this process poll, so that the background can take over stuck ones.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use foldhash::HashMap;

use crate::background::Background;
use crate::background::sync::Mutex;

/// The interval of checks of the offloaded tasks. A task that was woken before one check and is not polled by the next
/// is taken over: soon enough to keep its queue entry and its lease.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// After this many checks without a task, checking stops until the next task is assigned.
const IDLE_CHECKS: u32 = 10;

pub(super) static WATCHED_TASKS: LazyLock<WatchedTasks> = LazyLock::new(WatchedTasks::default);

/// A task that a caller polls, whatever the type of its answer.
pub(super) trait Watched: Send + Sync {
    /// Whether it was woken before the last check and has not been polled since. Called once at each check.
    fn is_stuck(&self) -> bool;

    /// Makes the background poll it from now on.
    fn move_to_background(&self);
}

/// Identifies a watched task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WatchId(u64);

impl WatchId {
    pub(super) fn new() -> WatchId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        WatchId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Default)]
pub(super) struct WatchedTasks(Mutex<Tasks>);

#[derive(Default)]
struct Tasks {
    by_id: HashMap<WatchId, Arc<dyn Watched>>,
    /// Whether a background task checks them.
    is_watching: bool,
}

impl WatchedTasks {
    pub(super) fn watch(&self, background: &Background, id: WatchId, task: Arc<dyn Watched>) {
        let mut tasks = self.0.lock();
        tasks.by_id.insert(id, task);
        if !mem::replace(&mut tasks.is_watching, true) {
            drop(tasks);
            background.spawn(WATCHED_TASKS.check());
        }
    }

    pub(super) fn forget(&self, id: WatchId) {
        let forgotten = self.0.lock().by_id.remove(&id);
        // Outside the mutex: it may be the last reference to a task.
        drop(forgotten);
    }

    #[cfg(test)]
    pub(super) fn number(&self) -> usize {
        self.0.lock().by_id.len()
    }

    /// Takes stuck tasks over, until there are none to watch.
    async fn check(&self) {
        let mut idle = 0;
        while idle < IDLE_CHECKS || !self.stop_watching() {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let stuck = self.stuck();
            idle = if stuck.is_none() { idle + 1 } else { 0 };
            for task in stuck.into_iter().flatten() {
                task.move_to_background();
            }
        }
    }

    /// Returns the stuck tasks; `None` if no task is watched.
    fn stuck(&self) -> Option<Vec<Arc<dyn Watched>>> {
        let tasks = self.0.lock();
        let stuck = tasks.by_id.values().filter(|task| task.is_stuck());
        let stuck = stuck.cloned().collect();
        (!tasks.by_id.is_empty()).then_some(stuck)
    }

    /// Ends the checks, if there is no task to watch.
    fn stop_watching(&self) -> bool {
        let mut tasks = self.0.lock();
        tasks.is_watching = !tasks.by_id.is_empty();
        !tasks.is_watching
    }
}
