//! One run of one script.

use super::{
    Answer, Branch, Fence, Mode, Ours, OwnerId, Queue, Records, Refusal, Rules, Site, Taken, Ticks,
    Token, Value,
};
use crate::seeded::Seeded;

/// A script in progress.
pub(super) struct Script<'a> {
    pub(super) records: &'a mut Records,
    pub(super) rules: &'a Rules,
    pub(super) site: &'a Site,
    pub(super) announced: Vec<OwnerId>,
    /// The owners that were notified of a revocation.
    pub(super) told: Vec<OwnerId>,
    pub(super) taken: Taken,
}

impl<'a> Script<'a> {
    pub(super) fn new(records: &'a mut Records, rules: &'a Rules, site: &'a Site) -> Script<'a> {
        Script {
            records,
            rules,
            site,
            announced: Vec::new(),
            told: Vec::new(),
            taken: Taken::default(),
        }
    }

    /// The announced owners, the owners notified of a revocation, and the branches taken.
    pub(super) fn traces(self) -> (Vec<OwnerId>, Vec<OwnerId>, Taken) {
        (self.announced, self.told, self.taken)
    }

    pub(super) fn acquire(&mut self, me: OwnerId, ttl: Ticks, queues: bool) -> Answer {
        if self.is_lock_wrong() {
            return self.refuse(Branch::AcquireOfASpoiledLock, Refusal::WrongType);
        }
        if self.records.holder() == Some(me) {
            if self.is_seeded(Seeded::RemoteCount) {
                self.count(1);
            }
            self.taken.insert(Branch::AcquireConfirms);
            return self.set_lease(ttl);
        }
        match (self.records.fence, &self.records.queue) {
            (Some(Fence::WrongType), _) => {
                return self.refuse(Branch::AcquireWithASpoiledFence, Refusal::WrongType);
            }
            (Some(Fence::Text), _) => {
                return self.refuse(Branch::AcquireWithABadFence, Refusal::BadFence);
            }
            (_, Queue::WrongType) => {
                return self.refuse(Branch::AcquireWithASpoiledQueue, Refusal::WrongType);
            }
            _ => {}
        }
        if self.is_seeded(Seeded::FenceByAttempt) && self.records.lock.is_some() {
            self.set_fence(self.site.now);
        }
        let is_free = self.records.lock.is_none();
        let first = self
            .records
            .queue
            .entries()
            .first()
            .map(|entry| entry.owner);
        let (head, removed) = if is_free {
            self.choose(Some(me), None)
        } else {
            (None, Vec::new())
        };
        if self.site.mode == Mode::OutOfMemory && (is_free || queues) {
            return self.refuse(Branch::AcquireWithoutMemory, Refusal::OutOfMemory);
        }
        self.drop_entries(&removed);
        let served = head.filter(|&head| head != me);
        if is_free && served.is_none() {
            self.taken.insert(match first {
                None if self.records.last_token() + self.rules.turns <= self.site.now => {
                    Branch::AcquireTakesAtOnce
                }
                None => Branch::AcquireTakes,
                Some(first) if first == me => Branch::AcquireTakesAsHead,
                Some(_) => Branch::AcquireTakesPastOthers,
            });
            return self.grant(me, ttl);
        }
        self.taken.insert(match (queues, self.place(me)) {
            (false, None) => Branch::AcquireStaysOutside,
            (false, Some(_)) => Branch::AcquireTriesFromTheQueue,
            (true, None) => Branch::AcquireJoins,
            (true, Some(_)) => Branch::AcquirePolls,
        });
        // Written first, so that the record of a lock that is granted now has the flag from the
        // beginning.
        if queues {
            self.enqueue(me);
            self.set_flag();
        }
        if let Some(head) = served {
            self.taken.insert(Branch::AcquireServesTheHead);
            self.grant(head, self.rules.claim);
        }
        let lock = self.records.lock.expect("another holds it");
        if lock.value == Value::Foreign {
            self.taken.insert(Branch::AcquireOfAForeignLock);
        }
        Answer::Waiting {
            remaining: lock.rest,
            position: self.place(me).map_or(0, |place| place as u8 + 1),
        }
    }

    pub(super) fn renew(&mut self, me: OwnerId, ttl: Ticks) -> Answer {
        if self.is_lock_wrong() {
            return self.refuse(Branch::RenewOfASpoiledLock, Refusal::WrongType);
        }
        if self.is_seeded(Seeded::RenewSetsAnew) && self.records.lock.is_none() {
            return self.write(me, ttl, self.records.last_token());
        }
        if self.records.holder() == Some(me) {
            if self.is_seeded(Seeded::RenewShortens) {
                return self.set_lease(ttl);
            }
            return self.raise(ttl, Branch::RenewLengthens, Branch::RenewConfirms);
        }
        let branch = match self.records.lock {
            None => Branch::RenewOfNothing,
            Some(_) => Branch::RenewOfAnothers,
        };
        self.answer(branch, Answer::Nil)
    }

    pub(super) fn release(&mut self, me: OwnerId) -> Answer {
        let anyone = self.is_seeded(Seeded::NoOwnerCompare);
        let (branch, code) = match self.records.lock.map(|lock| lock.value) {
            Some(Value::WrongType) => {
                return self.refuse(Branch::ReleaseOfASpoiledLock, Refusal::WrongType);
            }
            None => (Branch::ReleaseOfNothing, 0),
            Some(Value::Ours(ours)) if ours.owner == me || anyone => {
                self.fence_by_release();
                if ours.flagged && !self.is_seeded(Seeded::FreedPastWaiters) {
                    (Branch::ReleaseOfAContendedLock, 2)
                } else {
                    if !self.counts_down() {
                        self.records.lock = None;
                    }
                    (Branch::ReleaseFrees, 1)
                }
            }
            Some(_) => (Branch::ReleaseOfAnothers, -1),
        };
        self.answer(branch, Answer::Code(code))
    }

    pub(super) fn delete(&mut self, me: OwnerId, granted: Token) -> Answer {
        match self.records.lock.map(|lock| lock.value) {
            Some(Value::WrongType) => self.refuse(Branch::DeleteOfASpoiledLock, Refusal::WrongType),
            Some(Value::Ours(ours))
                if (ours.owner, ours.token, ours.flagged) == (me, granted, false) =>
            {
                self.records.lock = None;
                self.answer(Branch::DeleteFrees, Answer::Code(1))
            }
            _ => self.answer(Branch::DeleteOfAnotherRecord, Answer::Code(2)),
        }
    }

    pub(super) fn end(&mut self, me: OwnerId, successor: Option<(OwnerId, Ticks)>) -> Answer {
        if self.is_lock_wrong() {
            return self.refuse(Branch::EndOfASpoiledLock, Refusal::WrongType);
        }
        let holder = self.records.holder();
        let anyone = self.is_seeded(Seeded::NoOwnerCompare) && holder.is_some();
        if holder != Some(me) && !anyone {
            return self.end_waiter(me, successor);
        }
        if self.counts_down() {
            return Answer::Code(1);
        }
        self.fence_by_release();
        let is_bad_fence = matches!(self.records.fence, Some(Fence::WrongType | Fence::Text));
        if is_bad_fence || self.records.queue == Queue::WrongType {
            self.records.lock = None;
            return self.answer(Branch::EndWithASpoiledRecord, Answer::Code(1));
        }
        let successor_id = successor.map(|(id, _)| id);
        let (head, removed) = self.choose(successor_id, Some(me));
        let handed_off = head.filter(|&head| Some(head) != successor_id);
        if self.is_seeded(Seeded::NamesRemoved) {
            self.drop_entries(&[me]);
            self.drop_entries(&removed);
            self.drop_entries(head.as_slice());
            if self.site.mode == Mode::Migrating && self.records.queue.entries().is_empty() {
                return Answer::Unavailable;
            }
        }
        if let (Some(_), Some(successor)) = (handed_off, successor_id) {
            let stays = self.place(successor).is_some() && !removed.contains(&successor);
            self.taken.insert(if stays {
                Branch::EndKeepsSuccessorInTheQueue
            } else {
                Branch::EndQueuesSuccessor
            });
            self.enqueue(successor);
        }
        if self.place(me).is_some() {
            self.taken.insert(Branch::WalkDropsTheEnded);
        }
        self.drop_entries(&[me]);
        self.drop_entries(&removed);
        match (handed_off, successor) {
            (Some(head), _) => {
                self.grant(head, self.rules.claim);
                self.answer(Branch::EndHandsOff, Answer::Code(2))
            }
            (_, Some((successor, ttl))) => {
                self.taken.insert(match head {
                    None => Branch::EndGrantsSuccessor,
                    Some(_) => Branch::EndGrantsSuccessorAsHead,
                });
                self.grant(successor, ttl)
            }
            _ => {
                self.records.lock = None;
                self.answer(Branch::EndFrees, Answer::Code(1))
            }
        }
    }

    /// Keeps the lock taken for this long after its holder is done.
    pub(super) fn reserve(&mut self, me: OwnerId, ttl: Ticks) -> Answer {
        let (branch, code) = match self.records.lock.map(|lock| lock.value) {
            Some(Value::WrongType) => {
                return self.refuse(Branch::ReserveOfASpoiledLock, Refusal::WrongType);
            }
            None => (Branch::ReserveOfNothing, -1),
            Some(Value::Ours(ours)) if ours.owner == me => {
                self.keep_reserved(ttl);
                (Branch::ReserveKeeps, 1)
            }
            Some(_) => (Branch::ReserveOfAnothers, -1),
        };
        self.answer(branch, Answer::Code(code))
    }

    fn keep_reserved(&mut self, ttl: Ticks) {
        self.set_lease(ttl);
        let keeps_owner = self.is_seeded(Seeded::ReserveKeepsOwner);
        if let Some(ours) = self.records.ours_mut().filter(|_| !keeps_owner) {
            ours.owner = OwnerId::RESERVED;
        }
    }

    /// The end of an owner that does not hold the lock.
    fn end_waiter(&mut self, me: OwnerId, successor: Option<(OwnerId, Ticks)>) -> Answer {
        if self.records.queue == Queue::WrongType {
            return self.refuse(Branch::EndInASpoiledQueue, Refusal::WrongType);
        }
        let has_queued = self.place(me).is_some();
        self.drop_entries(&[me]);
        match successor {
            Some((successor, ttl)) if self.records.holder() == Some(successor) => {
                self.raise(ttl, Branch::EndAgainLengthens, Branch::EndAgainConfirms)
            }
            _ if has_queued => self.answer(Branch::EndLeaves, Answer::Code(3)),
            _ if self.records.lock.is_some() => {
                self.answer(Branch::EndOfAnothers, Answer::Code(-1))
            }
            _ => self.answer(Branch::EndOfNothing, Answer::Code(0)),
        }
    }

    /// Records the branch that ends a script.
    pub(super) fn answer(&mut self, branch: Branch, answer: Answer) -> Answer {
        self.taken.insert(branch);
        answer
    }

    pub(super) fn refuse(&mut self, branch: Branch, refusal: Refusal) -> Answer {
        self.answer(branch, Answer::Refused(refusal))
    }

    pub(super) fn is_seeded(&self, mistake: Seeded) -> bool {
        self.rules.seeded == Some(mistake)
    }

    pub(super) fn is_lock_wrong(&self) -> bool {
        let lock = self.records.lock;
        lock.is_some_and(|lock| lock.value == Value::WrongType)
    }

    pub(super) fn set_lease(&mut self, ttl: Ticks) -> Answer {
        let lock = self.records.lock.as_mut().expect("it is held");
        lock.rest = Some(ttl);
        self.held()
    }

    /// Lengthens the lease, or leaves it unchanged; restores an expiry that was removed.
    pub(super) fn raise(&mut self, ttl: Ticks, longer: Branch, same: Branch) -> Answer {
        let lock = self.records.lock.as_mut().expect("it is held");
        if lock.rest.is_none_or(|rest| rest < ttl) {
            lock.rest = Some(ttl);
            self.taken.insert(longer);
        } else {
            self.taken.insert(same);
        }
        self.held()
    }

    pub(super) fn held(&self) -> Answer {
        let Ours { flagged, token, .. } = self.records.ours().expect("it is held");
        Answer::Held { flagged, token }
    }

    fn counts_down(&mut self) -> bool {
        if self.rules.seeded != Some(Seeded::RemoteCount) {
            return false;
        }
        let is_counted = self.records.ours().is_some_and(|ours| ours.count > 1);
        if is_counted {
            self.count(-1);
        }
        is_counted
    }

    fn count(&mut self, by: i8) {
        if let Some(ours) = self.records.ours_mut() {
            ours.count = ours.count.saturating_add_signed(by).min(3);
        }
    }
}
