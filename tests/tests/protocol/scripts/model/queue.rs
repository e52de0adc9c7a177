//! Who waits, and whose turn it is.

use super::{LISTENING, LIVE, Model, QUEUE, Queue, Waiter};
use crate::branch::Branch;

impl Model {
    /// Who is to be served; on the way, the dead leave the queue.
    pub(super) fn choose(&mut self, me: Option<char>, ended: Option<char>) -> Option<char> {
        for waiter in self.waiters().to_vec() {
            if Some(waiter.who) == me {
                return me;
            }
            if Some(waiter.who) == ended {
                self.leave(waiter.who);
                self.taken.insert(Branch::WalkDropsTheEnded);
            } else if waiter.live_until.is_none_or(|until| until <= self.now) {
                self.leave(waiter.who);
                self.taken.insert(match waiter.live_until {
                    None => Branch::WalkDropsWhoHasNoHeart,
                    Some(_) => Branch::WalkDropsTheDead,
                });
            } else if LISTENING.contains(waiter.who) {
                self.pushed.push(waiter.who);
                return Some(waiter.who);
            } else {
                self.taken.insert(Branch::WalkSkipsTheUnreachable);
            }
        }
        None
    }

    pub(super) fn enqueue(&mut self, who: char) {
        let live_until = Some(self.now + LIVE);
        let until = self.ms() + QUEUE;
        if let Queue::Absent = self.queue {
            self.queue = Queue::Waiters(Vec::new(), until);
        }
        let Queue::Waiters(waiters, end) = &mut self.queue else {
            panic!("a spoiled queue is refused before")
        };
        *end = until;
        match waiters.iter_mut().find(|waiter| waiter.who == who) {
            Some(waiter) => waiter.live_until = live_until,
            None => waiters.push(Waiter { who, live_until }),
        }
    }

    pub(super) fn leave(&mut self, who: char) -> bool {
        let Queue::Waiters(waiters, _) = &mut self.queue else {
            return false;
        };
        let before = waiters.len();
        waiters.retain(|waiter| waiter.who != who);
        let left = waiters.len() < before;
        if waiters.is_empty() {
            self.queue = Queue::Absent;
        }
        left
    }

    /// The waiters, head first.
    pub(super) fn waiters(&self) -> &[Waiter] {
        match &self.queue {
            Queue::Waiters(waiters, _) => waiters,
            _ => &[],
        }
    }

    /// From 1 at the head; 0 is outside.
    pub(super) fn place(&self, who: char) -> usize {
        let place = self.waiters().iter().position(|waiter| waiter.who == who);
        place.map_or(0, |place| place + 1)
    }
}
