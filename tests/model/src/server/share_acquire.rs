//! The acquire of shares.

use super::phase::{Phase, Room, Walked};
use super::script::Script;
use super::{
    Answer, Branch, Fence, Lock, Mode, OwnerId, Queue, Refusal, Share, Shares, Ticks, Value,
};
use crate::seeded::Seeded;

impl Script<'_> {
    pub(super) fn share_acquire(
        &mut self,
        me: OwnerId,
        share: Share,
        ttl: Ticks,
        queues: bool,
    ) -> Answer {
        if self.is_lock_wrong() {
            return self.refuse(Branch::ShareOfASpoiledLock, Refusal::WrongType);
        }
        let phase = match self.phase(me, share.take) {
            Ok(phase) => phase,
            Err(refusal) => return self.refuse(Branch::ShareOfSpoiledShares, refusal),
        };
        if let Some(phase) = &phase {
            if self
                .member(me, share.take)
                .is_some_and(|mine| mine.is_live())
            {
                return self.confirm_share(me, share, ttl, phase);
            }
        } else if self.records.holder() == Some(me) {
            return self.begin_with_holder(me, share, ttl);
        }
        if let Some(phase) = &phase
            && self.joins_at_once(me, share, phase)
        {
            return self.join_at_once(me, share, ttl);
        }
        match (self.records.fence, &self.records.queue) {
            (Some(Fence::WrongType), _) => {
                return self.refuse(Branch::ShareWithASpoiledFence, Refusal::WrongType);
            }
            (Some(Fence::Text), _) => {
                return self.refuse(Branch::ShareWithABadFence, Refusal::BadFence);
            }
            (_, Queue::WrongType) => {
                return self.refuse(Branch::ShareWithASpoiledQueue, Refusal::WrongType);
            }
            _ => {}
        }
        self.share_from_the_queue(me, share, ttl, queues, phase.as_ref())
    }

    /// A share that is there: a confirmation, or a command sent twice. It goes on serving where the
    /// script that granted it stopped.
    fn confirm_share(&mut self, me: OwnerId, share: Share, ttl: Ticks, phase: &Phase) -> Answer {
        self.raise_share(me, share.take, ttl, Seeded::JoinKeepsExpiry);
        self.taken.insert(Branch::ShareConfirms);
        if let Answer::Held { flagged: true, .. } = self.held() {
            let walked = self.walk(phase.room, None, Some(me), 1 + phase.freed());
            let is_queue_empty = self.records.queue == Queue::default();
            if (!walked.gone.is_empty() || !phase.lapsed.is_empty() || is_queue_empty)
                && let Err(answer) = self.settle(&walked, &phase.lapsed, None, None)
            {
                return answer;
            }
        }
        self.held()
    }

    /// K is the sender's alone: granted by a script that knows nothing of shares, or to be downgraded.
    /// A lock that was held gets a token above those that its local turns have used.
    fn begin_with_holder(&mut self, me: OwnerId, share: Share, ttl: Ticks) -> Answer {
        let Some(Lock {
            value:
                Value::Ours {
                    token,
                    share: granted,
                    ..
                },
            ..
        }) = self.records.lock
        else {
            unreachable!("K is the sender's");
        };
        let taken = Room::Taken(self.counted(share));
        let mut walked = self.walk(taken, None, Some(me), self.rules.shares.window);
        walked.shares.push((me, share));
        let is_granted = granted.is_some();
        self.taken.insert(match is_granted {
            true => Branch::ShareBeginsWithAGrant,
            false => Branch::ShareDowngrades,
        });
        let is_minted =
            !is_granted && !self.has_bad_fence() && !self.is_seeded(Seeded::DowngradeKeepsToken);
        let token = if is_minted { self.new_token() } else { token };
        match self.settle(&walked, &[], Some(token), Some((me, ttl))) {
            Ok(()) => self.held(),
            Err(answer) => answer,
        }
    }

    /// Whether a share goes in beside others without a look at the queue, since there is none.
    fn joins_at_once(&self, me: OwnerId, share: Share, phase: &Phase) -> bool {
        let Some(Shares::Counted { sum, .. }) = self.records.shares else {
            return false;
        };
        let past_waiters = self.is_seeded(Seeded::JoinsPastWaiters);
        let flagged = matches!(self.held(), Answer::Held { flagged: true, .. });
        let is_alone = !flagged && self.records.queue == Queue::default();
        (is_alone || past_waiters)
            && self.member(me, share.take).is_none()
            && !phase.is_over()
            && self.last_rest() > 0
            // Lapsed shares count still.
            && self.fits(Room::Taken(sum), sum, share)
    }

    fn join_at_once(&mut self, me: OwnerId, share: Share, ttl: Ticks) -> Answer {
        if self.site.mode == Mode::OutOfMemory {
            return self.refuse(Branch::ShareWithoutMemory, Refusal::OutOfMemory);
        }
        self.taken.insert(Branch::ShareJoinsAtOnce);
        let walked = Walked {
            shares: vec![(me, share)],
            ..Walked::default()
        };
        match self.settle(&walked, &[], None, Some((me, ttl))) {
            Ok(()) => self.held(),
            Err(answer) => answer,
        }
    }

    /// K is free, another owner's, or shared; the waiters come first.
    fn share_from_the_queue(
        &mut self,
        me: OwnerId,
        share: Share,
        ttl: Ticks,
        queues: bool,
        phase: Option<&Phase>,
    ) -> Answer {
        let window = self.rules.shares.window;
        let place = self.place(me);
        let is_free = self.records.lock.is_none() || phase.is_some_and(Phase::is_over);
        // A waiter that stands further behind leaves it to those in front.
        let may_serve = is_free || phase.is_some() && place.is_none_or(|place| place < window);
        let room = match phase {
            _ if is_free => Room::Free,
            Some(phase) => phase.room,
            None => Room::Unknown,
        };
        let is_full = self.site.mode == Mode::OutOfMemory;
        let mut has_written = false;
        if may_serve {
            let batch = if is_free || place.is_some() {
                window
            } else {
                1
            };
            let mut walked = self.walk(room, Some(me), None, batch);
            let mut inside = walked.serves(me);
            if !inside && place.is_none() && !walked.blocked && self.fits(room, walked.sum, share) {
                walked.shares.push((me, share));
                inside = true;
            }
            let lapsed = phase.map_or(&[][..], |phase| &phase.lapsed);
            let writes_first =
                walked.head.is_some() || inside || is_free && !walked.shares.is_empty();
            if is_full && writes_first {
                return self.refuse(Branch::ShareWithoutMemory, Refusal::OutOfMemory);
            }
            if let Some(head) = walked.head {
                self.taken.insert(Branch::ShareServesTheHead);
                self.drop_entries(&walked.gone);
                self.records.shares = None;
                self.grant(head, self.rules.claim);
                has_written = true;
            } else if !walked.shares.is_empty() {
                self.taken.insert(match (is_free, inside) {
                    (true, true) => Branch::ShareBegins,
                    (true, false) => Branch::ShareBeginsForOthers,
                    (false, true) => Branch::ShareJoins,
                    (false, false) => Branch::ShareLetsOthersJoin,
                });
                let token = is_free.then(|| self.new_token());
                if let Err(answer) = self.settle(&walked, lapsed, token, Some((me, ttl))) {
                    return answer;
                }
                if inside {
                    return self.held();
                }
                has_written = true;
            } else if !is_free && !lapsed.is_empty() {
                self.taken.insert(Branch::ShareTakesLapsedOff);
                if let Err(answer) = self.settle(&walked, lapsed, None, None) {
                    return answer;
                }
                has_written = true;
            } else if !walked.gone.is_empty() {
                self.drop_entries(&walked.gone);
                has_written = true;
            }
        }
        if queues {
            if is_full && !has_written {
                return self.refuse(Branch::ShareWithoutMemory, Refusal::OutOfMemory);
            }
            self.taken.insert(Branch::ShareQueues);
            self.enqueue_entry(me, Some(share));
            self.set_flag();
        } else {
            self.taken.insert(Branch::ShareStaysOutside);
        }
        self.share_waits(me, share)
    }

    /// The answer to a share that waits.
    fn share_waits(&self, me: OwnerId, share: Share) -> Answer {
        let position = self.place(me).map_or(0, |place| place as u8 + 1);
        let mut remaining = self.records.lock.map_or(Some(0), |lock| lock.rest);
        let shares = self.records.shares.as_ref().filter(|_| self.is_phase());
        let Some(Shares::Counted { members, sum, .. }) = shares else {
            return Answer::Waiting {
                remaining,
                position,
            };
        };
        if share.limit > 0 {
            // It waits for the first share that lapses.
            let live = members.iter().filter(|member| member.is_live());
            let first = live.map(|member| member.rest).min();
            remaining = remaining.into_iter().chain(first).min();
        }
        Answer::WaitingForShares {
            remaining,
            position,
            owners: members.len() as u8,
            taken: *sum,
        }
    }
}
