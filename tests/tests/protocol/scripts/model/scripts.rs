//! What the scripts do.

use super::{CLAIM, Expected, Fence, Holder, LISTENING, Model, Queue};
use crate::branch::Branch;

impl Model {
    pub(crate) fn acquire(&mut self, me: char, ttl: i64, queues: bool) -> Expected {
        if self.holder == Holder::Spoiled {
            return self.answer(Branch::AcquireOfASpoiledLock, Expected::WrongType);
        }
        if self.is_held_by(me) {
            let until = Some(self.ms() + ttl);
            if let Holder::Ours { until: end, .. } = &mut self.holder {
                *end = until;
            }
            self.taken.insert(Branch::AcquireConfirms);
            return self.held();
        }
        match (&self.fence, &self.queue) {
            (Fence::Spoiled, _) => {
                return self.answer(Branch::AcquireWithASpoiledFence, Expected::WrongType);
            }
            (Fence::Unreadable, _) => {
                return self.answer(Branch::AcquireWithABadFence, Expected::BadFence);
            }
            (_, Queue::Spoiled) => {
                return self.answer(Branch::AcquireWithASpoiledQueue, Expected::WrongType);
            }
            _ => {}
        }
        let mut served = None;
        if self.holder == Holder::Nobody {
            let first = self.waiters().first().map(|waiter| waiter.who);
            match self.choose(Some(me), None) {
                Some(head) if head != me => {
                    self.taken.insert(Branch::AcquireServesTheHead);
                    served = Some(head);
                }
                _ => {
                    self.taken.insert(match first {
                        None if self.fence_is_behind() => Branch::AcquireTakesAtOnce,
                        None => Branch::AcquireTakes,
                        Some(first) if first == me => Branch::AcquireTakesAsHead,
                        Some(_) => Branch::AcquireTakesPastOthers,
                    });
                    self.give(me, ttl);
                    return self.held();
                }
            }
        }
        self.taken.insert(match (queues, self.place(me)) {
            (false, 0) => Branch::AcquireStaysOutside,
            (false, _) => Branch::AcquireTriesFromTheQueue,
            (true, 0) => Branch::AcquireJoins,
            (true, _) => Branch::AcquirePolls,
        });
        if queues {
            self.enqueue(me);
            if let Holder::Ours { who, flagged, .. } = &mut self.holder
                && !std::mem::replace(flagged, true)
            {
                self.taken.insert(Branch::AcquireSetsTheFlag);
                if LISTENING.contains(*who) {
                    self.pushed.push(*who);
                }
            }
        }
        if let Some(head) = served {
            self.give(head, CLAIM);
        }
        if matches!(self.holder, Holder::Foreign { .. }) {
            self.taken.insert(Branch::AcquireOfAForeignLock);
        }
        Expected::Waiting {
            remaining: self.end_of_lease().map_or(-1, |until| until - self.ms()),
            place: self.place(me),
        }
    }

    pub(crate) fn renew(&mut self, me: char, ttl: i64) -> Expected {
        if self.holder == Holder::Spoiled {
            return self.answer(Branch::RenewOfASpoiledLock, Expected::WrongType);
        }
        if self.is_held_by(me) {
            return self.confirm(ttl, Branch::RenewLengthens, Branch::RenewConfirms);
        }
        self.answer(
            match self.holder {
                Holder::Nobody => Branch::RenewOfNothing,
                _ => Branch::RenewOfAnothers,
            },
            Expected::Code(None),
        )
    }

    pub(crate) fn release(&mut self, me: char) -> Expected {
        let (branch, code) = match self.holder {
            Holder::Spoiled => {
                return self.answer(Branch::ReleaseOfASpoiledLock, Expected::WrongType);
            }
            Holder::Nobody => (Branch::ReleaseOfNothing, 0),
            Holder::Ours { who, flagged, .. } if who == me => {
                if flagged {
                    (Branch::ReleaseOfAContendedLock, 2)
                } else {
                    self.holder = Holder::Nobody;
                    (Branch::ReleaseFrees, 1)
                }
            }
            _ => (Branch::ReleaseOfAnothers, -1),
        };
        self.answer(branch, Expected::Code(Some(code)))
    }

    pub(crate) fn end(&mut self, me: char, next: Option<(char, i64)>) -> Expected {
        if self.holder == Holder::Spoiled {
            return self.answer(Branch::EndOfASpoiledLock, Expected::WrongType);
        }
        if !self.is_held_by(me) {
            return self.leave_for(me, next);
        }
        if matches!(self.fence, Fence::Spoiled | Fence::Unreadable) || self.queue == Queue::Spoiled
        {
            self.holder = Holder::Nobody;
            return self.answer(Branch::EndWithASpoiledRecord, Expected::Code(Some(1)));
        }
        let head = self.choose(next.map(|(next, _)| next), Some(me));
        if self.leave(me) {
            self.taken.insert(Branch::WalkDropsTheEnded);
        }
        match (head, next) {
            (head, Some((next, ttl))) if head.is_none_or(|head| head == next) => {
                self.taken.insert(match head {
                    None => Branch::EndPassesToNext,
                    Some(_) => Branch::EndPassesToNextAsHead,
                });
                self.give(next, ttl);
                self.held()
            }
            (Some(head), next) => {
                self.taken.insert(Branch::EndHandsOn);
                if let Some((next, _)) = next {
                    self.taken.insert(match self.place(next) {
                        0 => Branch::EndQueuesNext,
                        _ => Branch::EndKeepsNextInTheQueue,
                    });
                    self.enqueue(next);
                }
                self.give(head, CLAIM);
                Expected::Code(Some(2))
            }
            (None, _) => {
                self.holder = Holder::Nobody;
                self.answer(Branch::EndFrees, Expected::Code(Some(1)))
            }
        }
    }

    /// The end of an owner that does not hold the lock.
    fn leave_for(&mut self, me: char, next: Option<(char, i64)>) -> Expected {
        if self.queue == Queue::Spoiled {
            return self.answer(Branch::EndInASpoiledQueue, Expected::WrongType);
        }
        let left = self.leave(me);
        match (next, &self.holder) {
            (Some((next, ttl)), _) if self.is_held_by(next) => {
                self.confirm(ttl, Branch::EndAgainLengthens, Branch::EndAgainConfirms)
            }
            _ if left => self.answer(Branch::EndLeaves, Expected::Code(Some(3))),
            (_, Holder::Nobody) => self.answer(Branch::EndOfNothing, Expected::Code(Some(0))),
            _ => self.answer(Branch::EndOfAnothers, Expected::Code(Some(-1))),
        }
    }

    /// Notes the branch that ends a script.
    fn answer(&mut self, branch: Branch, answer: Expected) -> Expected {
        self.taken.insert(branch);
        answer
    }
}
