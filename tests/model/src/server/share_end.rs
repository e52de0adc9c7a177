//! The renewal and the two ends of shares.

use super::phase::{Phase, Room, Walked};
use super::script::Script;
use super::{Answer, Branch, Member, OwnerId, Queue, Refusal, Share, Shares, Ticks, Value};
use crate::seeded::Seeded;

impl Script<'_> {
    pub(super) fn share_renew(&mut self, me: OwnerId, take: u8, ttl: Ticks) -> Answer {
        if self.is_lock_wrong() {
            return self.refuse(Branch::ShareRenewOfASpoiledLock, Refusal::WrongType);
        }
        if self.records.holder() == Some(me) {
            return self.raise(ttl, Branch::ShareRenewOfALock, Branch::ShareRenewOfALock);
        }
        if !self.is_phase() {
            return self.answer(Branch::ShareRenewOfNothing, Answer::Nil);
        }
        if self.records.shares == Some(Shares::WrongType) {
            return self.refuse(Branch::ShareRenewOfSpoiledShares, Refusal::WrongType);
        }
        if !self.member(me, take).is_some_and(|mine| mine.is_live()) {
            return self.answer(Branch::ShareRenewOfALapsed, Answer::Nil);
        }
        self.raise_share(me, take, ttl, Seeded::RenewalKeepsExpiry);
        self.taken.insert(Branch::ShareRenews);
        self.held()
    }

    /// Lengthens a live share, and K with it; never shortens it.
    pub(super) fn raise_share(&mut self, me: OwnerId, take: u8, ttl: Ticks, keeps_expiry: Seeded) {
        let Some(Shares::Counted { members, .. }) = &mut self.records.shares else {
            unreachable!("the share is there");
        };
        let mut members = members.iter_mut();
        let mine = members.find(|member| (member.owner, member.take) == (me, take));
        let mine = mine.expect("the share is there");
        mine.rest = mine.rest.max(ttl);
        if !self.is_seeded(keeps_expiry) {
            self.expire_in(self.last_rest());
        }
    }

    pub(super) fn share_release(&mut self, me: OwnerId, take: u8) -> Answer {
        let (holder, flagged) = match self.records.lock.map(|lock| lock.value) {
            None => return self.answer(Branch::ShareReleaseOfNothing, Answer::Code(0)),
            Some(Value::WrongType) => {
                return self.refuse(Branch::ShareReleaseOfASpoiledLock, Refusal::WrongType);
            }
            Some(Value::Foreign) => {
                return self.answer(Branch::ShareReleaseOfAnothers, Answer::Code(-1));
            }
            Some(Value::Ours(ours)) => (ours.owner, ours.flagged),
        };
        if holder == me {
            return self.answer(Branch::ShareReleaseOfALock, Answer::Code(2));
        }
        if holder != OwnerId::PHASE {
            return self.answer(Branch::ShareReleaseOfAnothers, Answer::Code(-1));
        }
        if self.records.shares == Some(Shares::WrongType) {
            return self.refuse(Branch::ShareReleaseOfSpoiledShares, Refusal::WrongType);
        }
        let mine = self.member(me, take);
        if mine.is_none() && !self.is_seeded(Seeded::TakenOffTwice) || self.records.shares.is_none()
        {
            return self.answer(Branch::ShareReleaseOfAnothers, Answer::Code(-1));
        }
        if flagged {
            return self.answer(Branch::ShareReleaseOfAContended, Answer::Code(2));
        }
        let before = self.last_rest();
        let walk = self.rules.shares.walk;
        let Some(Shares::Counted { members, sum, .. }) = &mut self.records.shares else {
            unreachable!("R is there");
        };
        let is_own = |member: &Member| (member.owner, member.take) == (me, take);
        let mut gone: Vec<_> = members.iter().filter(|m| !m.is_live()).copied().collect();
        gone.sort_by_key(|member| (member.rest, member.owner));
        gone.truncate(walk);
        gone.retain(|member| !is_own(member));
        *sum -= gone
            .iter()
            .map(|member| i32::from(member.take))
            .sum::<i32>()
            + i32::from(take);
        members.retain(|member| !is_own(member) && !gone.contains(member));
        if *sum <= 0 || self.is_seeded(Seeded::LastForAll) {
            (self.records.lock, self.records.shares) = (None, None);
            return self.answer(Branch::ShareReleaseFrees, Answer::Code(1));
        }
        let last = self.last_rest();
        if last < before && !self.is_seeded(Seeded::ExpiryNotLowered) {
            self.expire_in(last);
            if last <= 0 {
                (self.records.lock, self.records.shares) = (None, None);
            }
        }
        self.answer(Branch::ShareReleaseLeavesOthers, Answer::Code(1))
    }

    /// Ends any owner: a share, an exclusive holder, or a waiter.
    pub(super) fn share_end(&mut self, me: OwnerId, share: Option<Share>) -> Answer {
        if self.is_lock_wrong() {
            return self.refuse(Branch::ShareEndOfASpoiledLock, Refusal::WrongType);
        }
        let take = share.map_or(1, |share| share.take);
        let mut phase = match self.phase(me, take) {
            Ok(phase) => phase,
            Err(refusal) => return self.refuse(Branch::ShareEndOfSpoiledShares, refusal),
        };
        let mut mine = self.member(me, take).filter(|_| phase.is_some());
        if self.is_seeded(Seeded::AnothersTakenOff) && phase.is_some() {
            mine = self.records.all_members().first().copied();
        }
        let holder = self.records.holder().filter(|_| phase.is_none());
        let anyone = self.is_seeded(Seeded::NoOwnerCompare) && holder.is_some();
        let is_alone = holder == Some(me) || anyone;
        let has_bad_shares = phase.is_none() && self.records.shares == Some(Shares::WrongType);
        let is_unreadable =
            self.has_bad_fence() || self.records.queue == Queue::WrongType || has_bad_shares;
        let mut has_left = false;
        if mine.is_none() && !is_alone {
            if self.records.queue == Queue::WrongType {
                return self.refuse(Branch::ShareEndInASpoiledQueue, Refusal::WrongType);
            }
            has_left = self.place(me).is_some();
            let is_anothers = self.records.lock.is_some() && phase.is_none();
            let is_unknown = phase
                .as_ref()
                .is_some_and(|phase| phase.room == Room::Unknown);
            if !has_left || is_unreadable || is_unknown || is_anothers {
                self.drop_entries(&[me]);
                let (branch, code) = match (has_left, self.records.lock) {
                    (true, _) => (Branch::ShareEndLeaves, 3),
                    (_, Some(_)) => (Branch::ShareEndOfAnothers, -1),
                    (_, None) => (Branch::ShareEndOfNothing, 0),
                };
                return self.answer(branch, Answer::Code(code));
            }
        }
        let freed = phase.as_ref().map_or(0, Phase::freed);
        if let (
            Some(Phase {
                room: Room::Taken(sum),
                ..
            }),
            Some(mine),
        ) = (&mut phase, mine)
            && mine.is_live()
        {
            *sum -= i32::from(mine.take);
        }
        let is_free = phase.as_ref().is_none_or(Phase::is_over);
        let room = phase
            .as_ref()
            .filter(|_| !is_free)
            .map_or(Room::Free, |phase| phase.room);
        let window = self.rules.shares.window;
        let batch = if is_free {
            window
        } else {
            window.min(usize::from(take) + freed)
        };
        let stays = self.is_seeded(Seeded::EndedStaysQueued) && mine.is_some();
        let ended = (!stays).then_some(me);
        let walked = if is_unreadable {
            Walked::default()
        } else {
            self.walk(room, None, None, ended, batch)
        };
        self.drop_entries(ended.as_slice());
        if let (Some(mine), Some(Shares::Counted { members, sum, .. })) =
            (mine, &mut self.records.shares)
        {
            members.retain(|member| *member != mine);
            *sum -= i32::from(mine.take);
        }
        let lapsed = phase.as_ref().map_or(&[][..], |phase| &phase.lapsed);
        let mut serves = !walked.shares.is_empty();
        if !is_free {
            if room == Room::Unknown {
                // R is unreadable, so nothing is written.
            } else if let Err(answer) = self.settle(&walked, lapsed, None, None) {
                return answer;
            }
        } else if let Some(head) = walked.head {
            self.drop_entries(&walked.gone);
            self.records.shares = None;
            self.grant(head, self.rules.claim);
            serves = true;
        } else if serves {
            let token = self.new_token();
            if let Err(answer) = self.settle(&walked, lapsed, Some(token), None) {
                return answer;
            }
        } else {
            self.drop_entries(&walked.gone);
            if self.records.lock.take().is_some() {
                self.records.shares = None;
            }
        }
        let (branch, code) = match (has_left, serves) {
            (true, true) => (Branch::ShareEndLeavesAndServes, 3),
            (true, false) => (Branch::ShareEndLeaves, 3),
            (_, true) => (Branch::ShareEndServes, 2),
            (_, false) if is_alone => (Branch::ShareEndFreesALock, 1),
            (_, false) if is_free => (Branch::ShareEndFrees, 1),
            _ => (Branch::ShareEndLeavesOthers, 1),
        };
        self.answer(branch, Answer::Code(code))
    }
}
