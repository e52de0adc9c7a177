//! Limits how many rounds run at the same time.

use tokio::runtime::Builder;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The number of rounds on one server that may be played in parallel. A round on several servers
/// takes several places.
///
/// Rounds are served in the order in which they came: a round that needs many places waits only for
/// earlier ones.
#[derive(Debug)]
pub(super) struct Places {
    all: usize,
    free: Semaphore,
}

impl Places {
    pub(super) fn new(all: usize) -> Self {
        let free = Semaphore::new(all);
        Self { all, free }
    }

    /// How many rounds with `count` places each fit.
    pub(super) fn at_once(&self, count: usize) -> usize {
        (self.all / count).max(1)
    }

    /// Blocks until that many places are free, or all places if there are fewer.
    pub(super) fn take(&self, count: usize) -> SemaphorePermit<'_> {
        let count = u32::try_from(count.min(self.all)).expect("there are few");
        let waiting = self.free.acquire_many(count);
        let runtime = Builder::new_current_thread().build();
        let taken = runtime.expect("a runtime can be made").block_on(waiting);
        taken.expect("it stays open")
    }
}
