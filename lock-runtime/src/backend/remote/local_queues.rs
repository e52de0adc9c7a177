//! The local queues of a client, one for each lock that its callers hold or compete for. One caller is the head, and
//! the others wait behind it. A head that is done promotes the next caller.

use std::collections::hash_map::Entry;

use crate::backend::engine::local_queue::{LocalQueue, Next, WaiterId};
use crate::key::{ByLock, LockName};

/// The local queues of a client by lock. `Waiter` is the entry of a waiter, `Known` the head's knowledge about the
/// lock.
#[derive(Debug)]
pub(crate) struct LocalQueues<Waiter, Known> {
    queues: ByLock<LocalQueue<Waiter, Known>>,
    next: u64,
    /// How many heads each queue may have.
    max_heads: u32,
}

impl<Waiter, Known: Clone> LocalQueues<Waiter, Known> {
    /// Creates queues with up to this many heads each.
    pub(crate) fn with_heads(max_heads: u32) -> LocalQueues<Waiter, Known> {
        LocalQueues {
            queues: ByLock::default(),
            next: 0,
            max_heads,
        }
    }

    /// Makes the caller a head, and returns `None`. If there are enough heads, returns the tail of the queue, where the
    /// caller can wait.
    pub(crate) fn enter(&mut self, lock: &LockName) -> Option<QueueTail<'_, Waiter, Known>> {
        let queue = match self.queues.entry(lock.clone()) {
            Entry::Occupied(queue) => queue.into_mut(),
            Entry::Vacant(queue) => queue.insert(LocalQueue::new()),
        };
        if queue.enter(self.max_heads) {
            return None;
        }
        let next = &mut self.next;
        Some(QueueTail { queue, next })
    }

    /// Removes a waiter. Returns `None` if it was already promoted.
    pub(crate) fn leave(&mut self, lock: &LockName, id: WaiterId) -> Option<Waiter> {
        self.queues.get_mut(lock)?.leave(id)
    }

    /// Returns the head's knowledge about the lock.
    pub(crate) fn last_known(&self, lock: &LockName) -> Option<Known> {
        self.queues.get(lock)?.last_known()
    }

    /// Notes that a waiter without time left stays for the head's next announcement.
    pub(crate) fn await_announcement(&mut self, lock: &LockName) {
        if let Some(queue) = self.queues.get_mut(lock) {
            queue.await_announcement();
        }
    }

    /// Sets the head's knowledge about the lock.
    pub(crate) fn update(&mut self, lock: &LockName, last_known: Option<Known>) {
        if let Some(queue) = self.queues.get_mut(lock) {
            queue.update(last_known);
        }
    }

    /// Sets the head's knowledge about the lock, and removes the waiters that only stayed to learn it.
    pub(crate) fn announce(
        &mut self,
        lock: &LockName,
        last_known: &Known,
        has_time: impl FnMut(&Waiter) -> bool,
    ) -> Vec<Waiter> {
        let queue = self.queues.get_mut(lock);
        queue.map_or_else(Vec::new, |queue| queue.announce(last_known, has_time))
    }

    pub(crate) fn peek(&self, lock: &LockName) -> Option<&Waiter> {
        self.queues.get(lock)?.peek()
    }

    pub(crate) fn waiting(&self, lock: &LockName) -> usize {
        self.queues.get(lock).map_or(0, LocalQueue::waiting)
    }

    /// Promotes the first waiter if `accept` returns something for it.
    pub(crate) fn pop_if<T>(
        &mut self,
        lock: &LockName,
        accept: impl FnOnce(&Waiter) -> Option<T>,
    ) -> Option<(Waiter, T)> {
        self.queues.get_mut(lock)?.pop_if(accept)
    }

    /// Removes a head that is done, and promotes the first waiter. A queue without heads ends.
    pub(crate) fn pop(&mut self, lock: &LockName) -> Option<Waiter> {
        match self.queues.get_mut(lock)?.pop() {
            Next::Head(waiter) => return Some(waiter),
            Next::OtherHeads => {}
            Next::Nobody => {
                self.queues.remove(lock);
            }
        }
        None
    }

    /// Removes a head that is done if nobody waits. A queue without heads ends. Returns `false` if somebody waits.
    pub(crate) fn dismiss(&mut self, lock: &LockName) -> bool {
        let Entry::Occupied(mut queue) = self.queues.entry(lock.clone()) else {
            return true;
        };
        if queue.get().peek().is_some() {
            return false;
        }
        if let Next::Nobody = queue.get_mut().pop() {
            queue.remove();
        }
        true
    }
}

/// The end of a queue that has a head.
pub(crate) struct QueueTail<'a, Waiter, Known> {
    queue: &'a mut LocalQueue<Waiter, Known>,
    next: &'a mut u64,
}

impl<Waiter, Known: Clone> QueueTail<'_, Waiter, Known> {
    /// Queues a waiter behind all others.
    pub(crate) fn join(self, waiter: Waiter) -> WaiterId {
        let id = WaiterId(*self.next);
        *self.next += 1;
        self.queue.join(id, waiter);
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

    #[test]
    fn only_the_first_is_the_head() {
        let (mut queues, k) = queues();
        assert!(queues.enter(&k).is_none());
        assert!(queues.enter(&k).is_some());
        assert!(queues.enter(&name("other")).is_none());
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
    fn queue_ends_with_its_last_head() {
        let (_, k) = queues();
        let mut queues: LocalQueues<u8, &'static str> = LocalQueues::with_heads(2);
        assert_eq!(queues.pop_if(&k, |_| Some(())), None, "there is no queue");
        assert!(queues.enter(&k).is_none());
        queues.update(&k, Some("held"));
        assert!(queues.enter(&k).is_none());
        assert_eq!(queues.pop(&k), None);
        assert_eq!(queues.last_known(&k), Some("held"), "one head is left");
        assert_eq!(queues.pop(&k), None);
        assert_eq!(queues.pop(&k), None, "there is no queue any more");
        assert_eq!(queues.last_known(&k), None);
    }

    #[test]
    fn queue_with_a_waiter_is_not_dismissed() {
        let (mut queues, k) = queues();
        assert!(queues.enter(&k).is_none());
        let waiter_id = queues.enter(&k).expect("the queue has a head").join(1);
        assert!(!queues.dismiss(&k));
        queues.leave(&k, waiter_id);
        assert!(queues.dismiss(&k));
        assert!(queues.enter(&k).is_none());
    }
}
