//! A lock that is taken by a plain command, and the token that its holder requests later, as in
//! `mint.lua`.

use super::script::Script;
use super::{Answer, Branch, Fence, Mode, OwnerId, Refusal, Ticks, Token, Value};
use crate::seeded::Seeded;

impl Script<'_> {
    /// `SET NX`: a key with any value counts as taken.
    pub(super) fn take(&mut self, me: OwnerId, ttl: Ticks) -> Answer {
        if self.site.mode == Mode::OutOfMemory {
            return self.refuse(Branch::TakeWithoutMemory, Refusal::OutOfMemory);
        }
        if self.records.lock.is_some() {
            return self.answer(Branch::TakeOfATaken, Answer::Nil);
        }
        self.write(me, ttl, 0);
        if let Some(ours) = self.records.ours_mut() {
            ours.flagged = false;
        }
        let held = self.held();
        self.answer(Branch::TakeTakes, held)
    }

    pub(super) fn mint(&mut self, me: OwnerId, age: Token) -> Answer {
        let anyone = self.is_seeded(Seeded::MintForAnyone);
        let given = match self.records.lock.map(|lock| lock.value) {
            None => return self.answer(Branch::MintOfNothing, Answer::Nil),
            Some(Value::WrongType) => {
                return self.refuse(Branch::MintOfASpoiledLock, Refusal::WrongType);
            }
            Some(Value::Ours(ours)) if ours.owner == me || anyone => ours.token,
            Some(_) => return self.answer(Branch::MintOfAnothers, Answer::Nil),
        };
        if given > 0 {
            let held = self.held();
            return self.answer(Branch::MintAgain, held);
        }
        match self.records.fence {
            Some(Fence::WrongType) => {
                return self.refuse(Branch::MintWithASpoiledFence, Refusal::WrongType);
            }
            Some(Fence::Text) => return self.refuse(Branch::MintWithABadFence, Refusal::BadFence),
            _ => {}
        }
        if self.site.mode == Mode::OutOfMemory {
            return self.refuse(Branch::MintWithoutMemory, Refusal::OutOfMemory);
        }
        if self.is_seeded(Seeded::MintLowersFence) {
            self.records.fence = None;
        }
        let granted_at = if self.is_seeded(Seeded::MintAtItsTime) {
            self.site.now
        } else {
            self.site.now - age
        };
        let minted = self.new_token_of(granted_at);
        if let Some(ours) = self.records.ours_mut() {
            ours.token = minted;
        }
        let held = self.held();
        self.answer(Branch::MintGives, held)
    }
}
