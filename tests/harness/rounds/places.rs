//! Limits how many rounds run at the same time.

use std::sync::{Condvar, Mutex, MutexGuard};

/// So many rounds on one server may be played at once. A round on several servers takes the places of several.
///
/// Those who wait are served in the order in which they came: one who needs many places waits for no more than those before.
#[derive(Debug)]
pub(super) struct Places {
    all: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    // The number of the next one to come, and of the next one to be served.
    next: usize,
    served: usize,
}

/// Places that are taken.
pub(super) struct Taken<'a> {
    places: &'a Places,
    count: usize,
}

impl Places {
    pub(super) fn new(all: usize) -> Self {
        let state = State {
            free: all,
            next: 0,
            served: 0,
        };
        Self {
            all,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// How many who take `count` places each there is room for.
    pub(super) fn at_once(&self, count: usize) -> usize {
        (self.all / count).max(1)
    }

    /// Waits for that many places, or for all of them if there are not so many.
    pub(super) fn take(&self, count: usize) -> Taken<'_> {
        let count = count.min(self.all);
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        while state.served != number || state.free < count {
            state = self.changed.wait(state).expect("no one panics with it");
        }
        state.served += 1;
        state.free -= count;
        self.changed.notify_all();
        Taken {
            places: self,
            count,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no one panics with it")
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.places.state().free += self.count;
        self.places.changed.notify_all();
    }
}
