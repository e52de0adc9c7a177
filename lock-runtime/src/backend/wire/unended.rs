//! Keeps owners whose ends were never answered, until the server is back.
//!
//! An owner is ended again and again until none of its commands can arrive. That time is counted from the last command,
//! and a server that is frozen, or cut off behind a proxy that is not, does not count: when it goes on, it finds the
//! commands in its socket, and takes a lock for a caller that is long gone. So an owner that was not ended by then is
//! kept, and ended on the next connection.

use std::collections::VecDeque;
use std::mem;

use crate::background::sync::Mutex;

/// The most owners that are kept. The oldest are given up first; what they take ends with its ttl.
const MOST: usize = 1_024;

/// Owners that wait for their server, with what their ends need.
#[derive(Debug)]
pub(crate) struct Unended<T>(Mutex<Kept<T>>);

#[derive(Debug)]
struct Kept<T> {
    owners: VecDeque<T>,
    /// Whether a task ends one owner after the other until none is left. There is one such task at most, since the ends
    /// that it repeats keep their owners again.
    has_retries: bool,
}

impl<T> Unended<T> {
    /// Keeps an owner. Returns whether a task must be started that ends the owners.
    #[must_use]
    pub(crate) fn keep(&self, owner: T) -> bool {
        let mut kept = self.0.lock();
        let given_up = (kept.owners.len() == MOST).then(|| kept.owners.pop_front());
        kept.owners.push_back(owner);
        let needs_retries = !mem::replace(&mut kept.has_retries, true);
        drop(kept);
        // Without the mutex, since an owner may have a destructor of its own.
        drop(given_up);
        needs_retries
    }

    /// Returns the owner that has waited longest, for the task that ends the owners. That task is over when there is
    /// none, or when it drops [`Retry`] in a panic.
    pub(crate) fn retry_first(&self) -> Option<(T, Retry<'_, T>)> {
        let mut kept = self.0.lock();
        let first = kept.owners.pop_front();
        kept.has_retries = first.is_some();
        drop(kept);
        first.map(|owner| (owner, Retry(self)))
    }

    /// Returns all owners. The task that ends them goes on, and finds out later.
    pub(crate) fn take(&self) -> VecDeque<T> {
        mem::take(&mut self.0.lock().owners)
    }
}

/// The end of one owner by the task that ends them.
#[must_use = "it is held until the end is over"]
pub(crate) struct Retry<'a, T>(&'a Unended<T>);

impl<T> Drop for Retry<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.0.lock().has_retries = false;
        }
    }
}

impl<T> Default for Unended<T> {
    fn default() -> Unended<T> {
        Unended(Mutex::new(Kept {
            owners: VecDeque::new(),
            has_retries: false,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    /// Returns the first owner, like an end of it that is over.
    fn retried<T>(unended: &Unended<T>) -> Option<T> {
        unended.retry_first().map(|(owner, _)| owner)
    }

    #[test]
    fn owners_are_bounded_and_the_oldest_is_given_up() {
        let unended = Unended::default();
        assert!(unended.keep(0) && !unended.keep(1));
        assert_eq!(retried(&unended), Some(0));
        for owner in 2..=MOST + 1 {
            assert!(!unended.keep(owner));
        }
        let kept = unended.take();
        assert_eq!((kept.len(), kept[0]), (MOST, 2));
        assert_eq!(retried(&unended), None);
    }

    #[test]
    fn ends_that_fail_again_and_again_have_one_task() {
        let unended = Unended::default();
        let mut tasks = u32::from(unended.keep(0));
        for _ in 0..10 {
            let owner = retried(&unended).unwrap();
            tasks += u32::from(unended.keep(owner));
        }
        // The owners are ended by a connection while the task pauses, and kept again before it goes on.
        for owner in unended.take() {
            tasks += u32::from(unended.keep(owner));
        }
        assert_eq!(tasks, 1);
        assert_eq!((retried(&unended), retried(&unended)), (Some(0), None));
        assert!(unended.keep(1), "the task has ended");
    }

    #[test]
    fn task_that_panics_is_replaced() {
        let unended = Unended::default();
        assert!(unended.keep(0) && !unended.keep(1));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _first = unended.retry_first();
            resume_unwind(Box::new("on purpose"));
        }));
        assert!(panicked.is_err() && unended.keep(2) && !unended.keep(3));
    }
}
