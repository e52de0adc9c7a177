//! The callers of one client that want the same lock, first come first served.
//!
//! A lock has a line while one of this client's callers competes for it or holds it; that one is
//! at its head, and the rest wait behind it. When the head is done, it hands the turn to the next.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use crate::key::{ByLock, LockName};

/// A place behind the head of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterId(u64);

/// Every line of a client, by the name of the lock. `S` is what a caller leaves at its place, `N` what is
/// known at the head.
#[derive(Debug)]
pub(crate) struct LocalQueues<S, N> {
    queues: ByLock<LocalQueue<S, N>>,
    next: u64,
}

#[derive(Debug)]
struct LocalQueue<S, N> {
    /// Made when it is needed: every lock that is held has a line, and hardly any has somebody in it.
    #[expect(
        clippy::box_collection,
        reason = "a place for it takes a quarter of the bytes"
    )]
    waiters: Option<Box<VecDeque<(WaiterId, S)>>>,
    /// What the head knows of the lock. Those who leave behind it need not ask themselves.
    last_known: Option<N>,
    /// Somebody's time is up who waits for that alone.
    is_awaited: bool,
}

impl<S, N> Default for LocalQueues<S, N> {
    fn default() -> Self {
        LocalQueues {
            queues: ByLock::default(),
            next: 0,
        }
    }
}

impl<S, N: Clone> LocalQueues<S, N> {
    /// Becomes the head of an empty line; else says where to wait behind its head.
    pub(crate) fn head(&mut self, lock: &LockName) -> Option<QueueTail<'_, S>> {
        match self.queues.entry(lock.clone()) {
            Entry::Occupied(queue) => Some(QueueTail {
                waiters: &mut queue.into_mut().waiters,
                next: &mut self.next,
            }),
            Entry::Vacant(queue) => {
                queue.insert(LocalQueue {
                    waiters: None,
                    last_known: None,
                    is_awaited: false,
                });
                None
            }
        }
    }

    /// Gives a place up. `None` if its turn was called before.
    pub(crate) fn leave(&mut self, lock: &LockName, waiter_id: WaiterId) -> Option<S> {
        let waiters = self.queues.get_mut(lock)?.waiters.as_mut()?;
        let index = waiters.binary_search_by_key(&waiter_id.0, |(waiter_id, _)| waiter_id.0);
        waiters.remove(index.ok()?).map(|(_, waiter)| waiter)
    }

    /// What is known at the head.
    pub(crate) fn last_known(&self, lock: &LockName) -> Option<N> {
        self.queues.get(lock)?.last_known.clone()
    }

    /// Somebody in line has no more time, and stays to hear what will be known at the head.
    pub(crate) fn await_announcement(&mut self, lock: &LockName) {
        if let Some(queue) = self.queues.get_mut(lock) {
            queue.is_awaited = true;
        }
    }

    /// Changes what is known at the head.
    pub(crate) fn update(&mut self, lock: &LockName, last_known: Option<N>) {
        if let Some(queue) = self.queues.get_mut(lock) {
            queue.last_known = last_known;
        }
    }

    /// Notes what is known at the head, and takes those out of the line who wait for nothing else.
    pub(crate) fn announce(
        &mut self,
        lock: &LockName,
        last_known: &N,
        mut has_time: impl FnMut(&S) -> bool,
    ) -> Vec<S> {
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
        let (stay, leave): (VecDeque<_>, VecDeque<_>) =
            waiters.drain(..).partition(|(_, waiter)| has_time(waiter));
        **waiters = stay;
        leave.into_iter().map(|(_, waiter)| waiter).collect()
    }

    /// Who is next.
    pub(crate) fn peek(&self, lock: &LockName) -> Option<&S> {
        let waiters = self.queues.get(lock)?.waiters.as_ref()?;
        waiters.front().map(|(_, waiter)| waiter)
    }

    /// Makes the next one the head if `may` lets it, and answers with what that says.
    pub(crate) fn pop_if<T>(
        &mut self,
        lock: &LockName,
        may: impl FnOnce(&S) -> Option<T>,
    ) -> Option<(S, T)> {
        let waiters = self.queues.get_mut(lock)?.waiters.as_mut()?;
        let (_, waiter) = waiters.front()?;
        let answer = may(waiter)?;
        let (_, waiter) = waiters.pop_front()?;
        Some((waiter, answer))
    }

    /// Makes the next one the head. With nobody left the line is gone.
    pub(crate) fn pop(&mut self, lock: &LockName) -> Option<S> {
        let waiters = self.queues.get_mut(lock)?.waiters.as_mut();
        let waiter = waiters.and_then(|waiters| waiters.pop_front());
        if waiter.is_none() {
            self.queues.remove(lock);
        }
        waiter.map(|(_, waiter)| waiter)
    }

    /// Ends a line that nobody waits in. `false` if somebody does.
    pub(crate) fn remove_if_empty(&mut self, lock: &LockName) -> bool {
        let is_empty = self.peek(lock).is_none();
        if is_empty {
            self.queues.remove(lock);
        }
        is_empty
    }
}

/// The end of a line that has a head.
pub(crate) struct QueueTail<'a, S> {
    #[expect(clippy::box_collection, reason = "as in a line")]
    waiters: &'a mut Option<Box<VecDeque<(WaiterId, S)>>>,
    next: &'a mut u64,
}

impl<S> QueueTail<'_, S> {
    /// Waits behind all who are there.
    pub(crate) fn join(self, waiter: S) -> WaiterId {
        let waiter_id = WaiterId(*self.next);
        *self.next += 1;
        let waiters = self.waiters.get_or_insert_default();
        waiters.push_back((waiter_id, waiter));
        waiter_id
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
        (LocalQueues::default(), name("k"))
    }

    fn join(queues: &mut LocalQueues<u8, &'static str>, waiter: u8) -> WaiterId {
        queues
            .head(&name("k"))
            .expect("there is a head")
            .join(waiter)
    }

    #[test]
    fn only_the_first_is_the_head() {
        let (mut queues, k) = queues();
        assert!(queues.head(&k).is_none());
        assert!(queues.head(&k).is_some());
        assert!(queues.head(&name("other")).is_none());
    }

    #[test]
    fn turns_are_called_in_order_and_the_line_ends_with_the_last() {
        let (mut queues, k) = queues();
        assert!(queues.head(&k).is_none());
        join(&mut queues, 1);
        join(&mut queues, 2);
        assert_eq!(queues.peek(&k), Some(&1));
        assert_eq!(queues.pop(&k), Some(1));
        assert_eq!(queues.pop(&k), Some(2));
        let tail = queues.head(&k);
        assert!(tail.is_some(), "the last one called is still at the head");
        assert_eq!(queues.pop(&k), None);
        assert!(queues.head(&k).is_none());
    }

    #[test]
    fn whoever_may_not_be_called_stays_in_line() {
        let (mut queues, k) = queues();
        assert_eq!(queues.pop_if(&k, |_| Some(())), None, "there is no line");
        assert!(queues.head(&k).is_none());
        assert_eq!(queues.pop_if(&k, |_| Some(())), None, "there is a head");
        join(&mut queues, 1);
        join(&mut queues, 2);
        assert_eq!(queues.pop_if(&k, |_| None::<()>), None);
        assert_eq!(
            queues.pop_if(&k, |&waiter| Some(waiter * 10)),
            Some((1, 10))
        );
        assert_eq!(queues.pop(&k), Some(2));
        assert!(queues.head(&k).is_some());
    }

    #[test]
    fn whoever_leaves_is_not_called_and_knows_if_it_was_before() {
        let (mut queues, k) = queues();
        assert!(queues.head(&k).is_none());
        let [first, second, third] = [1, 2, 3].map(|waiter| join(&mut queues, waiter));
        assert_eq!(queues.leave(&k, second), Some(2));
        assert_eq!(queues.leave(&k, second), None);
        assert_eq!(queues.pop(&k), Some(1));
        assert_eq!(queues.leave(&k, first), None);
        assert_eq!(queues.pop(&k), Some(3));
        assert_eq!(queues.leave(&k, third), None);
    }

    #[test]
    fn what_the_head_knows_belongs_to_its_line() {
        let (mut queues, k) = queues();
        queues.update(&k, Some("there is no line"));
        assert!(queues.head(&k).is_none());
        assert_eq!(queues.last_known(&k), None);
        queues.update(&k, Some("held"));
        assert_eq!(queues.last_known(&k), Some("held"));
        assert_eq!(queues.pop(&k), None);
        assert!(queues.head(&k).is_none());
        assert_eq!(queues.last_known(&k), None, "this is another line");
    }

    #[test]
    fn who_stays_for_news_is_dismissed_with_it_and_nobody_else() {
        let (mut queues, k) = queues();
        assert!(queues.head(&k).is_none());
        for waiter in 1..=4 {
            join(&mut queues, waiter);
        }
        let has_time = |waiter: &u8| [2, 4].contains(waiter);
        queues.await_announcement(&k);
        assert_eq!(queues.announce(&k, &"held", has_time), [1, 3]);
        assert_eq!(queues.announce(&k, &"held", |_| false), [], "nobody stays");
        assert_eq!(queues.pop(&k), Some(2));
        assert_eq!(queues.pop(&k), Some(4));
    }

    #[test]
    fn a_line_ends_only_when_nobody_waits_in_it() {
        let (mut queues, k) = queues();
        assert!(queues.head(&k).is_none());
        let waiter_id = join(&mut queues, 1);
        assert!(!queues.remove_if_empty(&k));
        queues.leave(&k, waiter_id);
        assert!(queues.remove_if_empty(&k));
        assert!(queues.head(&k).is_none());
    }
}
