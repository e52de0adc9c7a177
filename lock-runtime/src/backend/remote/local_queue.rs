//! The callers of one client that want the same lock, first come, first served.
//!
//! A lock has a local queue while a caller of this client competes for it or holds it. That caller is the head, and
//! the others wait behind it. When the head is done, the next caller becomes the head.
//!
//! Callers for shares have queues of their own, with several heads each: a caller is a head until it has its share.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use crate::key::{ByLock, LockName};

/// A caller behind the head of its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterId(u64);

/// The local queues of a client by lock. `Waiter` is what a waiter leaves in its queue, `Known` what the head knows of the
/// lock.
#[derive(Debug)]
pub(crate) struct LocalQueues<Waiter, Known> {
    queues: ByLock<LocalQueue<Waiter, Known>>,
    next: u64,
    /// How many heads a queue may have.
    max_heads: u32,
}

#[derive(Debug)]
struct LocalQueue<Waiter, Known> {
    /// Made for the first waiter: every held lock has a queue, and hardly any has a waiter.
    #[expect(
        clippy::box_collection,
        reason = "it takes a quarter of the bytes where there is no waiter"
    )]
    waiters: Option<Box<VecDeque<(WaiterId, Waiter)>>>,
    /// What the head knows of the lock. Waiters that leave need not ask themselves.
    last_known: Option<Known>,
    heads: u32,
    /// A waiter has no time left, and stays only for the head's next announcement.
    is_awaited: bool,
}

impl<Waiter, Known: Clone> LocalQueues<Waiter, Known> {
    /// Queues with so many heads each at most.
    pub(crate) fn with_heads(max_heads: u32) -> LocalQueues<Waiter, Known> {
        LocalQueues {
            queues: ByLock::default(),
            next: 0,
            max_heads,
        }
    }

    /// `None`: the caller is a head now. Otherwise there are heads enough, and this is the end of the queue, to wait
    /// there.
    pub(crate) fn enter(&mut self, lock: &LockName) -> Option<QueueTail<'_, Waiter>> {
        let queue = match self.queues.entry(lock.clone()) {
            Entry::Occupied(queue) => queue.into_mut(),
            Entry::Vacant(queue) => queue.insert(LocalQueue {
                waiters: None,
                last_known: None,
                heads: 0,
                is_awaited: false,
            }),
        };
        // Fewer heads than there may be means that no caller waits: a head that is done makes the next one a head.
        if queue.heads < self.max_heads {
            queue.heads += 1;
            return None;
        }
        Some(QueueTail {
            waiters: &mut queue.waiters,
            next: &mut self.next,
        })
    }

    /// Removes a waiter. `None` if it became the head before.
    pub(crate) fn leave(&mut self, lock: &LockName, id: WaiterId) -> Option<Waiter> {
        let waiters = self.queues.get_mut(lock)?.waiters.as_mut()?;
        let index = waiters.binary_search_by_key(&id.0, |(id, _)| id.0);
        waiters.remove(index.ok()?).map(|(_, waiter)| waiter)
    }

    /// What the head knows of the lock.
    pub(crate) fn last_known(&self, lock: &LockName) -> Option<Known> {
        self.queues.get(lock)?.last_known.clone()
    }

    /// A waiter has no time left, and stays for the head's next announcement.
    pub(crate) fn await_announcement(&mut self, lock: &LockName) {
        if let Some(queue) = self.queues.get_mut(lock) {
            queue.is_awaited = true;
        }
    }

    /// Changes what the head knows of the lock.
    pub(crate) fn update(&mut self, lock: &LockName, last_known: Option<Known>) {
        if let Some(queue) = self.queues.get_mut(lock) {
            queue.last_known = last_known;
        }
    }

    /// Changes what the head knows of the lock, and removes the waiters that stayed for it without time.
    pub(crate) fn announce(
        &mut self,
        lock: &LockName,
        last_known: &Known,
        mut has_time: impl FnMut(&Waiter) -> bool,
    ) -> Vec<Waiter> {
        let Some(queue) = self.queues.get_mut(lock) else {
            return Vec::new();
        };
        queue.last_known = Some(last_known.clone());
        if !std::mem::take(&mut queue.is_awaited) {
            return Vec::new();
        }
        let Some(waiters) = &mut queue.waiters else {
            return Vec::new();
        };
        let (staying, leaving): (VecDeque<_>, VecDeque<_>) =
            waiters.drain(..).partition(|(_, waiter)| has_time(waiter));
        **waiters = staying;
        leaving.into_iter().map(|(_, waiter)| waiter).collect()
    }

    /// The first waiter.
    pub(crate) fn peek(&self, lock: &LockName) -> Option<&Waiter> {
        let waiters = self.queues.get(lock)?.waiters.as_ref()?;
        waiters.front().map(|(_, waiter)| waiter)
    }

    /// How many callers wait behind the head.
    pub(crate) fn waiting(&self, lock: &LockName) -> usize {
        let waiters = self
            .queues
            .get(lock)
            .and_then(|queue| queue.waiters.as_ref());
        waiters.map_or(0, |waiters| waiters.len())
    }

    /// Makes the first waiter the head if `accept` returns something for it.
    pub(crate) fn pop_if<T>(
        &mut self,
        lock: &LockName,
        accept: impl FnOnce(&Waiter) -> Option<T>,
    ) -> Option<(Waiter, T)> {
        let waiters = self.queues.get_mut(lock)?.waiters.as_mut()?;
        let (_, waiter) = waiters.front()?;
        let accepted = accept(waiter)?;
        let (_, waiter) = waiters.pop_front()?;
        Some((waiter, accepted))
    }

    /// A head is done: makes the first waiter one. A queue without heads ends.
    pub(crate) fn pop(&mut self, lock: &LockName) -> Option<Waiter> {
        let queue = self.queues.get_mut(lock)?;
        let waiters = queue.waiters.as_mut();
        let waiter = waiters.and_then(|waiters| waiters.pop_front());
        if waiter.is_none() {
            queue.heads -= 1;
            if queue.heads == 0 {
                self.queues.remove(lock);
            }
        }
        waiter.map(|(_, waiter)| waiter)
    }

    /// Ends a queue without waiters. `false` if there is one.
    pub(crate) fn remove_if_empty(&mut self, lock: &LockName) -> bool {
        let is_empty = self.peek(lock).is_none();
        if is_empty {
            self.queues.remove(lock);
        }
        is_empty
    }
}

/// The end of a queue that has a head.
pub(crate) struct QueueTail<'a, Waiter> {
    #[expect(clippy::box_collection, reason = "as in the queue")]
    waiters: &'a mut Option<Box<VecDeque<(WaiterId, Waiter)>>>,
    next: &'a mut u64,
}

impl<Waiter> QueueTail<'_, Waiter> {
    /// Waits behind all others.
    pub(crate) fn join(self, waiter: Waiter) -> WaiterId {
        let id = WaiterId(*self.next);
        *self.next += 1;
        let waiters = self.waiters.get_or_insert_default();
        waiters.push_back((id, waiter));
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RecordNames;

    fn name(lock: &str) -> LockName {
        RecordNames::of_lock(lock.to_owned()).unwrap().lock
    }

    fn queues() -> (LocalQueues<u8, &'static str>, LockName) {
        (LocalQueues::with_heads(1), name("k"))
    }

    fn join(queues: &mut LocalQueues<u8, &'static str>, waiter: u8) -> WaiterId {
        queues
            .enter(&name("k"))
            .expect("there is a head")
            .join(waiter)
    }

    #[test]
    fn only_the_first_is_the_head() {
        let (mut queues, k) = queues();
        assert!(queues.enter(&k).is_none());
        assert!(queues.enter(&k).is_some());
        assert!(queues.enter(&name("other")).is_none());
    }

    #[test]
    fn waiters_become_the_head_in_order_and_the_queue_ends_with_the_last() {
        let (mut queues, k) = queues();
        assert!(queues.enter(&k).is_none());
        join(&mut queues, 1);
        join(&mut queues, 2);
        assert_eq!(queues.peek(&k), Some(&1));
        assert_eq!(queues.pop(&k), Some(1));
        assert_eq!(queues.pop(&k), Some(2));
        let tail = queues.enter(&k);
        assert!(tail.is_some(), "the last waiter is the head still");
        assert_eq!(queues.pop(&k), None);
        assert!(queues.enter(&k).is_none());
    }

    #[test]
    fn waiter_that_may_not_be_the_head_stays() {
        let (mut queues, k) = queues();
        assert_eq!(queues.pop_if(&k, |_| Some(())), None, "there is no queue");
        assert!(queues.enter(&k).is_none());
        assert_eq!(queues.pop_if(&k, |_| Some(())), None, "there is a head");
        join(&mut queues, 1);
        join(&mut queues, 2);
        assert_eq!(queues.pop_if(&k, |_| None::<()>), None);
        assert_eq!(
            queues.pop_if(&k, |&waiter| Some(waiter * 10)),
            Some((1, 10))
        );
        assert_eq!(queues.pop(&k), Some(2));
        assert!(queues.enter(&k).is_some());
    }

    #[test]
    fn waiter_that_leaves_is_skipped_and_learns_if_it_was_the_head_before() {
        let (mut queues, k) = queues();
        assert!(queues.enter(&k).is_none());
        let [first, second, third] = [1, 2, 3].map(|waiter| join(&mut queues, waiter));
        assert_eq!(queues.leave(&k, second), Some(2));
        assert_eq!(queues.leave(&k, second), None);
        assert_eq!(queues.pop(&k), Some(1));
        assert_eq!(queues.leave(&k, first), None);
        assert_eq!(queues.pop(&k), Some(3));
        assert_eq!(queues.leave(&k, third), None);
    }

    #[test]
    fn last_known_belongs_to_its_queue() {
        let (mut queues, k) = queues();
        queues.update(&k, Some("there is no queue"));
        assert!(queues.enter(&k).is_none());
        assert_eq!(queues.last_known(&k), None);
        queues.update(&k, Some("held"));
        assert_eq!(queues.last_known(&k), Some("held"));
        assert_eq!(queues.pop(&k), None);
        assert!(queues.enter(&k).is_none());
        assert_eq!(queues.last_known(&k), None, "this is another queue");
    }

    #[test]
    fn announcement_removes_the_waiters_without_time() {
        let (mut queues, k) = queues();
        assert!(queues.enter(&k).is_none());
        for waiter in 1..=4 {
            join(&mut queues, waiter);
        }
        let has_time = |waiter: &u8| [2, 4].contains(waiter);
        queues.await_announcement(&k);
        assert_eq!(queues.announce(&k, &"held", has_time), [1, 3]);
        assert_eq!(
            queues.announce(&k, &"held", |_| false),
            [],
            "no waiter awaits it"
        );
        assert_eq!(queues.pop(&k), Some(2));
        assert_eq!(queues.pop(&k), Some(4));
    }

    #[test]
    fn queue_of_several_heads_lets_the_next_caller_wait() {
        let (_, k) = queues();
        let mut queues: LocalQueues<u8, &'static str> = LocalQueues::with_heads(2);
        assert!(queues.enter(&k).is_none());
        assert!(queues.enter(&k).is_none());
        join(&mut queues, 3);
        assert_eq!(queues.pop(&k), Some(3), "a head is done");
        join(&mut queues, 4);
        assert_eq!(queues.pop(&k), Some(4));
        assert_eq!(queues.pop(&k), None);
        assert!(queues.enter(&k).is_none(), "one head is left");
        assert_eq!(queues.pop(&k), None);
        assert_eq!(queues.pop(&k), None);
        assert_eq!(queues.pop(&k), None, "there is no queue any more");
        assert!(queues.enter(&k).is_none());
    }

    #[test]
    fn queue_with_a_waiter_is_not_removed() {
        let (mut queues, k) = queues();
        assert!(queues.enter(&k).is_none());
        let waiter_id = join(&mut queues, 1);
        assert!(!queues.remove_if_empty(&k));
        queues.leave(&k, waiter_id);
        assert!(queues.remove_if_empty(&k));
        assert!(queues.enter(&k).is_none());
    }
}
