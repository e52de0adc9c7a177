//! Limits how many rounds run at the same time.

use tokio::runtime::Builder;
use tokio::sync::{Semaphore, SemaphorePermit};

/// So many rounds on one server may be played at once. A round on several servers takes the places of several.
///
/// Those who wait are served in the order in which they came: one who needs many places waits for no more than those before.
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

    /// How many who take `count` places each there is room for.
    pub(super) fn at_once(&self, count: usize) -> usize {
        (self.all / count).max(1)
    }

    /// Blocks until that many places are free, or all of them if there are not so many.
    pub(super) fn take(&self, count: usize) -> SemaphorePermit<'_> {
        let count = u32::try_from(count.min(self.all)).expect("there are few");
        let waiting = self.free.acquire_many(count);
        let runtime = Builder::new_current_thread().build();
        let taken = runtime.expect("a runtime can be made").block_on(waiting);
        taken.expect("it stays open")
    }
}
