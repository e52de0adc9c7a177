//! The branches of a node's scripts, by the model's records before and after a command.

use lock_model::quorum::records::Records;
use lock_model::quorum::scripts::{Answer, Command, Proposal, token_of};

use super::node::{Modelled, number};

macro_rules! branches {
    ($($branch:ident)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Branch { $($branch),* }

        impl Branch {
            pub(super) const ALL: &[Branch] = &[$(Branch::$branch),*];
        }
    };
}

branches! {
    AcquireTakesAtOnce
    AcquireTakesAsHead
    AcquireTakesBeforeWaiters
    AcquireTakesFromDeadWaiters
    AcquireServesABetterStamp
    AcquireServesAndStaysOutside
    AcquireConfirms
    AcquireRaisesTheToken
    AcquireReplacesAnEarlyToken
    AcquireKeepsAnEarlyToken
    AcquireJoins
    AcquireJoinsAsHead
    AcquireComesBackFromTheDead
    AcquirePolls
    AcquireStaysOutside
    AcquireTriesFromTheQueue
    AcquireMarks
    AcquireMarksAnotherBoot
    AcquireIgnoresAGuess
    AcquireFollowsAProposal
    CedeGives
    CedeKeepsForWorse
    CedeKeepsAnotherToken
    CedeOfAnothers
    CedeOfNothing
    CedeIsEarly
    HoldWrites
    HoldWritesFromTheQueue
    HoldRaisesTheFence
    HoldRenews
    HoldOfAnothers
    HoldMarks
    RenewConfirms
    RenewOfAnothers
    RenewOfNothing
    ReleaseFrees
    ReleaseOfAContendedLock
    ReleaseOfAnothers
    ReleaseOfNothing
    EndFrees
    EndHandsOn
    EndHandsOnWithTheProposal
    EndLeaves
    EndOfNothing
    MarkMarks
    MarkMarksAnotherBoot
    MarkFindsTheNodeEarly
    MarkFindsTheNodeVoting
}

/// A command of an owner that was carried out, and what was before it.
pub(super) struct Run<'a> {
    pub(super) who: char,
    pub(super) command: Command,
    pub(super) answer: Answer,
    pub(super) before: &'a Records,
    pub(super) had_dead: bool,
    pub(super) was_dead: bool,
}

impl Run<'_> {
    /// The branches that were taken.
    pub(super) fn branches(&self, after: &Modelled<'_>) -> Vec<Branch> {
        use Branch::{
            EndFrees, EndHandsOn, EndHandsOnWithTheProposal, EndLeaves, EndOfNothing, ReleaseFrees,
            ReleaseOfAContendedLock, ReleaseOfAnothers, ReleaseOfNothing, RenewConfirms,
            RenewOfAnothers, RenewOfNothing,
        };
        match (self.command, self.answer) {
            (Command::Acquire { .. }, _) => self.of_acquire(after),
            (Command::Cede { .. }, _) => self.of_cede(),
            (Command::Hold { .. }, _) => self.of_hold(after),
            (Command::Renew { .. }, Answer::Held { .. }) => vec![RenewConfirms],
            (Command::Renew { .. }, Answer::Absent) => vec![RenewOfNothing],
            (Command::Renew { .. }, _) => vec![RenewOfAnothers],
            (Command::Release, Answer::Freed) => vec![ReleaseFrees],
            (Command::Release, Answer::Contended) => vec![ReleaseOfAContendedLock],
            (Command::Release, Answer::Absent) => vec![ReleaseOfNothing],
            (Command::Release, _) => vec![ReleaseOfAnothers],
            (Command::End { .. }, Answer::Freed) => vec![EndFrees],
            (Command::End { proposal }, Answer::HandedOn) => {
                let token = after.token();
                let is_proposed = token == proposal && token > token_of(after.now);
                vec![if is_proposed {
                    EndHandsOnWithTheProposal
                } else {
                    EndHandsOn
                }]
            }
            (Command::End { .. }, Answer::Left) => vec![EndLeaves],
            (Command::End { .. }, _) => vec![EndOfNothing],
        }
    }

    fn of_acquire(&self, after: &Modelled<'_>) -> Vec<Branch> {
        use Branch::{
            AcquireComesBackFromTheDead, AcquireConfirms, AcquireFollowsAProposal,
            AcquireIgnoresAGuess, AcquireJoins, AcquireJoinsAsHead, AcquireKeepsAnEarlyToken,
            AcquireMarks, AcquireMarksAnotherBoot, AcquirePolls, AcquireRaisesTheToken,
            AcquireReplacesAnEarlyToken, AcquireServesABetterStamp, AcquireServesAndStaysOutside,
            AcquireStaysOutside, AcquireTakesAsHead, AcquireTakesAtOnce, AcquireTakesBeforeWaiters,
            AcquireTakesFromDeadWaiters, AcquireTriesFromTheQueue,
        };
        let Command::Acquire {
            queues, proposal, ..
        } = self.command
        else {
            unreachable!("it is an acquire");
        };
        let place = self.before.place(number(self.who));
        let mut taken = Vec::new();
        match (self.before.marker, after.records.marker) {
            (None, _) => taken.push(AcquireMarks),
            (before, after) if before != after => taken.push(AcquireMarksAnotherBoot),
            _ => {}
        }
        let is_minted = self.before.fence != after.records.fence;
        match proposal {
            Proposal::Guess(guess) if guess > token_of(after.now) + after.rules.ahead => {
                taken.push(AcquireIgnoresAGuess);
            }
            Proposal::Guess(token) | Proposal::Known(token) => {
                if is_minted && token == after.records.fence && token > token_of(after.now) {
                    taken.push(AcquireFollowsAProposal);
                }
            }
        }
        let own = self
            .before
            .lock
            .filter(|lock| lock.owner == number(self.who));
        taken.push(match (self.answer, own) {
            (Answer::Held { token, early }, Some(lock)) => {
                let until = after.marker().until;
                let was_early = lock.token < token_of(until);
                match token > lock.token {
                    true if was_early && early == 0 => AcquireReplacesAnEarlyToken,
                    true => AcquireRaisesTheToken,
                    false if was_early && early > 0 => AcquireKeepsAnEarlyToken,
                    false => AcquireConfirms,
                }
            }
            (Answer::Held { .. }, None) => match (place, self.before.queue.is_empty()) {
                (Some(_), _) => AcquireTakesAsHead,
                (None, false) => AcquireTakesBeforeWaiters,
                (None, true) if self.had_dead => AcquireTakesFromDeadWaiters,
                (None, true) => AcquireTakesAtOnce,
            },
            _ if self.before.lock.is_none() && queues => AcquireServesABetterStamp,
            _ if self.before.lock.is_none() => AcquireServesAndStaysOutside,
            _ if !queues && place.is_some() => AcquireTriesFromTheQueue,
            _ if !queues => AcquireStaysOutside,
            _ if place.is_some() => AcquirePolls,
            _ if self.was_dead => AcquireComesBackFromTheDead,
            _ if after.pushed.is_empty() => AcquireJoins,
            _ => AcquireJoinsAsHead,
        });
        taken
    }

    fn of_cede(&self) -> Vec<Branch> {
        use Branch::{
            CedeGives, CedeIsEarly, CedeKeepsAnotherToken, CedeKeepsForWorse, CedeOfAnothers,
            CedeOfNothing,
        };
        let Command::Cede { token, .. } = self.command else {
            unreachable!("it is a cede");
        };
        let own = self
            .before
            .lock
            .filter(|lock| lock.owner == number(self.who));
        match (self.answer, own) {
            (Answer::Held { early, .. }, Some(lock)) => {
                let kept = match lock.token == token {
                    true => CedeKeepsForWorse,
                    false => CedeKeepsAnotherToken,
                };
                let early = (early > 0).then_some(CedeIsEarly);
                early.into_iter().chain([kept]).collect()
            }
            (_, Some(_)) => vec![CedeGives],
            (_, None) if self.before.lock.is_some() => vec![CedeOfAnothers],
            (_, None) => vec![CedeOfNothing],
        }
    }

    fn of_hold(&self, after: &Modelled<'_>) -> Vec<Branch> {
        use Branch::{
            HoldMarks, HoldOfAnothers, HoldRaisesTheFence, HoldRenews, HoldWrites,
            HoldWritesFromTheQueue,
        };
        let mut taken = Vec::new();
        if self.before.marker != after.records.marker {
            taken.push(HoldMarks);
        }
        if self.before.fence != after.records.fence {
            taken.push(HoldRaisesTheFence);
        }
        let is_queued = self.before.place(number(self.who)).is_some();
        taken.push(match (self.answer, self.before.lock) {
            (Answer::Held { .. }, None) if is_queued => HoldWritesFromTheQueue,
            (Answer::Held { .. }, None) => HoldWrites,
            (Answer::Held { .. }, Some(_)) => HoldRenews,
            _ => HoldOfAnothers,
        });
        taken
    }
}
