//! An operator takes a lock from its holder, as in `revoke.lua`.

use super::phase::Room;
use super::script::Script;
use super::{Answer, Branch, Fence, OwnerId, Queue, Refusal, Shares, Token, Value};
use crate::seeded::Seeded;

/// How an operator identified a holder.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    Token(Token),
    /// It had no token.
    Owner(OwnerId),
}

impl Script<'_> {
    pub(super) fn revoke(&mut self, seen: Seen) -> Answer {
        if self.is_lock_wrong() {
            return self.refuse(Branch::RevokeOfASpoiledLock, Refusal::WrongType);
        }
        let is_phase = self.is_phase();
        if is_phase && self.records.shares == Some(Shares::WrongType) {
            return self.refuse(Branch::RevokeBesideASpoiledRecord, Refusal::WrongType);
        }
        let (token, holder) = match self.records.lock.map(|lock| lock.value) {
            None => return self.answer(Branch::RevokeOfNothing, Answer::Code(0)),
            Some(Value::Ours(ours)) => (ours.token, ours.owner),
            Some(_) => return self.answer(Branch::RevokeOfAnothers, Answer::Code(-1)),
        };
        let is_seen = match seen {
            Seen::Token(seen) => token > 0 && (token..token + self.rules.turns).contains(&seen),
            Seen::Owner(seen) => seen == holder,
        };
        if !is_seen && !self.is_seeded(Seeded::RevokeUnseen) {
            return self.answer(Branch::RevokeOfAnothers, Answer::Code(-1));
        }
        let refusal = match self.records.fence {
            Some(Fence::Text) => Some(Refusal::BadFence),
            Some(Fence::WrongType) => Some(Refusal::WrongType),
            _ => None,
        };
        let is_queue_wrong = self.records.queue == Queue::WrongType;
        let is_shares_wrong = self.records.shares == Some(Shares::WrongType);
        let is_wrong = is_queue_wrong || is_shares_wrong;
        if let Some(refusal) = refusal.or(is_wrong.then_some(Refusal::WrongType)) {
            return self.refuse(Branch::RevokeBesideASpoiledRecord, refusal);
        }
        if matches!(seen, Seen::Owner(_)) {
            self.taken.insert(Branch::RevokeOfAnOwner);
        }
        let told = self.holders(holder);
        let ended = (!is_phase).then_some(holder);
        let walked = self.walk(Room::Free, None, None, ended, self.rules.shares.window);
        if token > self.records.last_token() && !self.is_seeded(Seeded::RevokeForgets) {
            self.taken.insert(Branch::RevokeRaisesTheFence);
            self.set_fence(token);
        }
        let serves = if let Some(head) = walked.head {
            self.drop_entries(&walked.gone);
            self.records.shares = None;
            self.grant(head, self.rules.claim);
            true
        } else if !walked.shares.is_empty() {
            let token = self.new_token();
            if let Err(answer) = self.settle(&walked, &[], Some(token), None) {
                return answer;
            }
            true
        } else {
            self.drop_entries(&walked.gone);
            (self.records.lock, self.records.shares) = (None, None);
            false
        };
        self.told.extend(told);
        if serves {
            self.answer(Branch::RevokeServes, Answer::Code(2))
        } else {
            self.answer(Branch::RevokeFrees, Answer::Code(1))
        }
    }

    /// The holders of the lock that listen.
    fn holders(&self, holder: OwnerId) -> Vec<OwnerId> {
        let live = self.records.members().iter().filter(|it| it.is_live());
        let mut holders: Vec<OwnerId> = match holder {
            OwnerId::PHASE => live.map(|member| member.owner).collect(),
            owner => vec![owner],
        };
        holders.retain(|&owner| self.site.has_receiver(owner));
        holders
    }
}
