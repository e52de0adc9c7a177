//! The waiters of one lock, first come first served.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::lease::schedule::LeaseTerms;

/// Names a waiter, from its place in a queue to the confirmation of its grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WaiterId(u64);

impl WaiterId {
    /// The id of the waiter that queues after this one, for this lock or another.
    pub(crate) fn next(self) -> WaiterId {
        WaiterId(self.0 + 1)
    }
}

/// A waiter with what it asked for. `W` is its handle.
#[derive(Debug)]
pub(crate) struct QueuedWaiter<W> {
    pub(crate) id: WaiterId,
    pub(crate) label: Arc<str>,
    pub(crate) terms: LeaseTerms,
    pub(crate) handle: W,
}

/// Ids rise along the queue.
#[derive(Debug)]
pub(crate) struct Queue<W>(VecDeque<QueuedWaiter<W>>);

impl<W> Queue<W> {
    pub(crate) const fn new() -> Queue<W> {
        Queue(VecDeque::new())
    }

    pub(crate) fn push(&mut self, waiter: QueuedWaiter<W>) {
        self.0.push_back(waiter);
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedWaiter<W>> {
        self.0.pop_front()
    }

    pub(crate) fn first(&self) -> Option<&QueuedWaiter<W>> {
        self.0.front()
    }

    pub(crate) fn contains(&self, waiter: WaiterId) -> bool {
        self.index_of(waiter).is_some()
    }

    pub(crate) fn remove(&mut self, waiter: WaiterId) {
        if let Some(index) = self.index_of(waiter) {
            self.0.remove(index);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn index_of(&self, waiter: WaiterId) -> Option<usize> {
        self.0
            .binary_search_by_key(&waiter, |queued| queued.id)
            .ok()
    }
}
