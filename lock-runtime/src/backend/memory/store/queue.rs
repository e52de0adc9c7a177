//! The waiters of one lock, first come, first served.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::background::moment::Moment;
use crate::lease::Share;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::LeaseTerms;

/// A waiter and its request.
#[derive(Debug)]
pub(crate) struct QueuedWaiter {
    pub(crate) owner: OwnerId,
    pub(crate) label: Arc<str>,
    /// `None` for an exclusive waiter.
    pub(crate) share: Option<Share>,
    pub(crate) terms: LeaseTerms,
    /// When the waiter began to wait.
    pub(crate) since: Moment,
    /// When the waiter's time is over.
    pub(crate) until: Moment,
    /// Wakes the waiter.
    pub(crate) notify: Arc<Notify>,
}

/// Owner ids rise along the queue.
#[derive(Debug)]
pub(crate) struct Queue(VecDeque<QueuedWaiter>);

impl Queue {
    pub(crate) const fn new() -> Queue {
        Queue(VecDeque::new())
    }

    pub(crate) fn push(&mut self, waiter: QueuedWaiter) {
        self.0.push_back(waiter);
    }

    /// Removes the first waiter if its wait is over.
    pub(crate) fn pop_over(&mut self, now: Moment) -> Option<QueuedWaiter> {
        let is_over = self.first_leaves_at()? <= now;
        is_over.then(|| self.pop()).flatten()
    }

    /// Returns when the wait of the first waiter is over.
    pub(crate) fn first_leaves_at(&self) -> Option<Moment> {
        self.first().map(|first| first.until)
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedWaiter> {
        self.0.pop_front()
    }

    pub(crate) fn first(&self) -> Option<&QueuedWaiter> {
        self.0.front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, owner: OwnerId) -> bool {
        self.index_of(owner).is_some()
    }

    pub(crate) fn remove(&mut self, owner: OwnerId) {
        if let Some(index) = self.index_of(owner) {
            self.0.remove(index);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &QueuedWaiter> {
        self.0.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn index_of(&self, owner: OwnerId) -> Option<usize> {
        self.0
            .binary_search_by_key(&owner, |queued| queued.owner)
            .ok()
    }
}
