//! The acquire of shares.

use super::phase::{Phase, Room, Walked};
use super::script::Script;
use super::{
    Answer, Branch, Fence, Mode, Ours, OwnerId, Queue, Refusal, Share, Shares, Ticks, Token,
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
        let phase = match self.of_holder(me, share, ttl, 0) {
            Ok(phase) => phase,
            Err(answer) => return answer,
        };
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
        if phase.is_none() && self.records.shares == Some(Shares::WrongType) {
            return self.refuse(Branch::ShareOfSpoiledShares, Refusal::WrongType);
        }
        self.share_from_the_queue(me, share, ttl, queues, phase.as_ref())
    }

    /// Turns the sender's lock into a share; a lock that it has lost stays lost. The grant is this old.
    pub(super) fn downgrade(
        &mut self,
        me: OwnerId,
        share: Share,
        ttl: Ticks,
        age: Token,
    ) -> Answer {
        if self.is_seeded(Seeded::DowngradeTakes) {
            return self.share_acquire(me, share, ttl, false);
        }
        match self.of_holder(me, share, ttl, age) {
            Ok(_) => self.answer(Branch::ShareDowngradeOfALost, Answer::Nil),
            Err(answer) => answer,
        }
    }

    /// Answers an owner that holds or shares the lock. For any other owner, returns the phase.
    fn of_holder(
        &mut self,
        me: OwnerId,
        share: Share,
        ttl: Ticks,
        age: Token,
    ) -> Result<Option<Phase>, Answer> {
        if self.is_lock_wrong() {
            return Err(self.refuse(Branch::ShareOfASpoiledLock, Refusal::WrongType));
        }
        let phase = match self.phase(me, share.take) {
            Ok(phase) => phase,
            Err(refusal) => return Err(self.refuse(Branch::ShareOfSpoiledShares, refusal)),
        };
        if let Some(phase) = &phase {
            if self
                .member(me, share.take)
                .is_some_and(|mine| mine.is_live())
            {
                return Err(self.confirm_share(me, share, ttl, phase));
            }
        } else if self.records.holder() == Some(me) {
            return Err(self.begin_with_holder(me, share, ttl, age));
        }
        Ok(phase)
    }

    /// The share exists: a confirmation, or a duplicated command. It continues to serve waiters
    /// where the script that granted it stopped.
    fn confirm_share(&mut self, me: OwnerId, share: Share, ttl: Ticks, phase: &Phase) -> Answer {
        self.raise_share(me, share.take, ttl, Seeded::JoinKeepsExpiry);
        self.taken.insert(Branch::ShareConfirms);
        let is_readable = self.records.queue != Queue::WrongType;
        if is_readable && self.records.is_flagged() {
            let walked = self.walk(phase.room, None, None, Some(me), 1 + phase.freed());
            let is_queue_empty = self.records.queue == Queue::default();
            if (!walked.gone.is_empty() || !phase.lapsed.is_empty() || is_queue_empty)
                && let Err(answer) = self.settle(&walked, &phase.lapsed, None, None)
            {
                return answer;
            }
        }
        self.held()
    }

    /// K is the sender's alone: granted by a script that does not know shares, or about to be
    /// downgraded. A held lock gets the token after those that its local turns have used, or that of its grant.
    fn begin_with_holder(&mut self, me: OwnerId, share: Share, ttl: Ticks, age: Token) -> Answer {
        let Ours {
            token,
            share: granted,
            ..
        } = self.records.ours().expect("K is the sender's");
        let is_granted = granted.is_some();
        match self.records.fence {
            Some(Fence::WrongType) if !is_granted => {
                return self.refuse(Branch::ShareWithASpoiledFence, Refusal::WrongType);
            }
            Some(Fence::Text) if !is_granted => {
                return self.refuse(Branch::ShareWithABadFence, Refusal::BadFence);
            }
            _ => {}
        }
        if self.records.shares == Some(Shares::WrongType) {
            return self.refuse(Branch::ShareOfSpoiledShares, Refusal::WrongType);
        }
        let taken = Room::Taken(self.counted(share));
        let mut walked = self.walk(taken, None, None, Some(me), self.rules.shares.window);
        walked.shares.push((me, share));
        self.taken.insert(if is_granted {
            Branch::ShareBeginsWithAGrant
        } else {
            Branch::ShareDowngrades
        });
        let is_minted = !is_granted && !self.is_seeded(Seeded::DowngradeKeepsToken);
        let of_the_grant = match token {
            _ if self.is_seeded(Seeded::DowngradeAtItsTime) => self.site.now,
            0 => self.site.now - age,
            _ => token + self.rules.turns,
        };
        let token = if is_minted {
            self.new_token_of(of_the_grant)
        } else {
            token
        };
        match self.settle(&walked, &[], Some(token), Some((me, ttl))) {
            Ok(()) => self.held(),
            Err(answer) => answer,
        }
    }

    /// Whether a share joins others without reading the queue, since it is empty.
    fn joins_at_once(&self, me: OwnerId, share: Share, phase: &Phase) -> bool {
        let Some(Shares::Counted { sum, .. }) = self.records.shares else {
            return false;
        };
        let past_waiters = self.is_seeded(Seeded::JoinsPastWaiters);
        let is_alone = !self.records.is_flagged() && self.records.queue == Queue::default();
        (is_alone || past_waiters)
            && self.member(me, share.take).is_none()
            && !phase.is_over()
            && self.last_rest() > 0
            // Lapsed shares still count.
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
        let (lasts, before) = (self.last_rest(), self.records.lock);
        if let Err(answer) = self.settle(&walked, &[], None, Some((me, ttl))) {
            return answer;
        }
        if ttl < lasts {
            // The mistake: the expiry of K is not written.
            self.records.lock = before;
        }
        self.held()
    }

    /// K is free, another owner's, or shared; the waiters go first.
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
        let is_known = phase.is_some_and(|phase| phase.room != Room::Unknown);
        let is_behind = place.is_some_and(|place| place >= window);
        let leaves_it = is_behind && self.is_seeded(Seeded::DeadCountForPlace);
        let may_serve = is_free || is_known && !leaves_it;
        let room = match phase {
            _ if is_free => Room::Free,
            Some(phase) => phase.room,
            None => Room::Unknown,
        };
        let is_full = self.site.mode == Mode::OutOfMemory;
        let (mut walked, mut inside) = (Walked::default(), false);
        if may_serve {
            let batch = if is_free || place.is_some() {
                window
            } else {
                1
            };
            let place = place.filter(|_| !is_free);
            walked = self.walk(room, Some(me), place, None, batch);
            inside = walked.serves(me);
            if place.is_none() && !walked.blocked && self.fits(room, walked.sum, share) {
                walked.shares.push((me, share));
                inside = true;
            }
        }
        let lapsed = phase
            .filter(|_| may_serve)
            .map_or(&[][..], |phase| &phase.lapsed);
        let begins = is_free && (walked.head.is_some() || !walked.shares.is_empty());
        let goes_on = !is_free
            && (!walked.shares.is_empty() || !walked.gone.is_empty() || !lapsed.is_empty());
        let changes = begins || goes_on;
        if is_full && (changes || queues) {
            return self.refuse(Branch::ShareWithoutMemory, Refusal::OutOfMemory);
        }
        // Written first, so that the record of a lock that is granted now has the flag from the
        // beginning.
        if !inside {
            self.taken.insert(if queues {
                Branch::ShareQueues
            } else {
                Branch::ShareStaysOutside
            });
            if queues {
                self.enqueue_entry(me, Some(share));
                if !is_free {
                    self.set_flag();
                }
            }
        }
        if let Some(head) = walked.head {
            self.taken.insert(Branch::ShareServesTheHead);
            self.drop_entries(&walked.gone);
            self.records.shares = None;
            self.grant(head, self.rules.claim);
        } else if changes {
            self.taken.insert(match (is_free, inside) {
                (true, true) => Branch::ShareBegins,
                (true, false) => Branch::ShareBeginsForOthers,
                (false, true) => Branch::ShareJoins,
                (false, false) if walked.shares.is_empty() => Branch::ShareTakesLapsedOff,
                (false, false) => Branch::ShareLetsOthersJoin,
            });
            let token = is_free.then(|| self.new_token());
            if let Err(answer) = self.settle(&walked, lapsed, token, Some((me, ttl))) {
                return answer;
            }
            if inside {
                return self.held();
            }
        } else {
            // So many waiters are dead that the next poll must continue.
            self.drop_entries(&walked.gone);
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
            // It waits for the first share to lapse.
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
