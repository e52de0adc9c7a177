//! Queues one client's callers for one lock, first come, first served.
//!
//! ```text
//!  caller ── room for a head ──► HEAD ── done ─┬─ promotes the first waiter ──► HEAD
//!     └──► WAITER ── leaves, or has no time ─► │
//!                                              └─ nobody waits: leaves; the last head ends the queue
//! ```
//!
//! A queue has one head; if callers want shares, it may have several. Such a caller is a head only until it has its
//! share.

use std::collections::VecDeque;

/// A caller behind the head of its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WaiterId(pub(crate) u64);

/// The local queue of one lock. `Waiter` is the entry of a waiter, `Known` the head's knowledge about the lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LocalQueue<Waiter, Known> {
    /// Created for the first waiter: every held lock has a queue, but few ever have a waiter.
    #[expect(
        clippy::box_collection,
        reason = "it takes a quarter of the bytes where there is no waiter"
    )]
    pub(super) waiters: Option<Box<VecDeque<(WaiterId, Waiter)>>>,
    /// The head's knowledge about the lock, so that waiters that leave need not ask the server.
    last_known: Option<Known>,
    pub(super) heads: u32,
    /// A waiter has no time left, and stays only for the head's next announcement.
    is_awaited: bool,
}

/// The queue after one of its heads is done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<Waiter> {
    /// This waiter, which is a head now.
    Head(Waiter),
    /// Nobody waits, and there are other heads.
    OtherHeads,
    /// Nobody waits: the queue ends.
    Nobody,
}

impl<Waiter, Known: Clone> LocalQueue<Waiter, Known> {
    pub(crate) fn new() -> LocalQueue<Waiter, Known> {
        LocalQueue {
            waiters: None,
            last_known: None,
            heads: 0,
            is_awaited: false,
        }
    }

    /// Makes a caller a head, unless there are `max_heads` already. If there are fewer, no caller waits, because a head
    /// that is done promotes the next one.
    #[inline]
    pub(crate) fn enter(&mut self, max_heads: u32) -> bool {
        let has_room = self.heads < max_heads;
        self.heads += u32::from(has_room);
        has_room
    }

    /// Queues a caller behind all others. Ids are in rising order.
    pub(crate) fn join(&mut self, id: WaiterId, waiter: Waiter) {
        let waiters = self.waiters.get_or_insert_default();
        waiters.push_back((id, waiter));
    }

    /// Removes a waiter; `None` if it was promoted already.
    pub(crate) fn leave(&mut self, id: WaiterId) -> Option<Waiter> {
        let waiters = self.waiters.as_mut()?;
        let index = waiters.binary_search_by_key(&id.0, |(id, _)| id.0);
        waiters.remove(index.ok()?).map(|(_, waiter)| waiter)
    }

    /// Returns what the head knows about the lock.
    pub(crate) fn last_known(&self) -> Option<Known> {
        self.last_known.clone()
    }

    /// Notes that a waiter without time left stays for the head's next announcement.
    pub(crate) fn await_announcement(&mut self) {
        self.is_awaited = true;
    }

    /// Sets what the head knows about the lock.
    #[inline]
    pub(crate) fn update(&mut self, last_known: Option<Known>) {
        self.last_known = last_known;
    }

    /// Sets what the head knows about the lock, and removes the waiters that only stayed to learn it.
    pub(crate) fn announce(
        &mut self,
        last_known: &Known,
        mut has_time: impl FnMut(&Waiter) -> bool,
    ) -> Vec<Waiter> {
        self.last_known = Some(last_known.clone());
        if !std::mem::take(&mut self.is_awaited) {
            return Vec::new();
        }
        let Some(waiters) = &mut self.waiters else {
            return Vec::new();
        };
        let (staying, leaving): (VecDeque<_>, VecDeque<_>) =
            waiters.drain(..).partition(|(_, waiter)| has_time(waiter));
        **waiters = staying;
        leaving.into_iter().map(|(_, waiter)| waiter).collect()
    }

    /// Returns the first waiter.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&Waiter> {
        let waiters = self.waiters.as_ref()?;
        waiters.front().map(|(_, waiter)| waiter)
    }

    /// Returns the number of callers that wait behind the head.
    pub(crate) fn waiting(&self) -> usize {
        self.waiters.as_ref().map_or(0, |waiters| waiters.len())
    }

    /// Promotes the first waiter if `accept` returns something for it.
    pub(crate) fn pop_if<T>(
        &mut self,
        accept: impl FnOnce(&Waiter) -> Option<T>,
    ) -> Option<(Waiter, T)> {
        let waiters = self.waiters.as_mut()?;
        let (_, waiter) = waiters.front()?;
        let accepted = accept(waiter)?;
        let (_, waiter) = waiters.pop_front()?;
        Some((waiter, accepted))
    }

    /// Removes a head that is done, and promotes the first waiter.
    #[inline]
    pub(crate) fn pop(&mut self) -> Next<Waiter> {
        let waiters = self.waiters.as_mut();
        if let Some((_, waiter)) = waiters.and_then(|waiters| waiters.pop_front()) {
            return Next::Head(waiter);
        }
        debug_assert!(self.heads > 0, "no head is done");
        self.heads -= 1;
        if self.heads == 0 {
            Next::Nobody
        } else {
            Next::OtherHeads
        }
    }
}

#[cfg(test)]
mod tests;
