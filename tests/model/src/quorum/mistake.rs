//! Mistakes that the model can make: a checker that does not find them proves nothing.

use crate::control::SafetyLine;

mistakes! {
    /// One mistake, in a script or in the ballot.
    Mistake {
        /// Votes of a majority are enough, whatever their tokens are.
        NoWriteBack,
        /// A holder takes the token of its first vote instead of the largest.
        FirstToken,
        /// A node that lost its data votes at once.
        VotesAtOnce,
        /// A node that lost its data votes when the delay is over by its own clock.
        DelayByOwnClock,
        /// What a client has measured counts although the node lost its data in between.
        CountOfAnother,
        /// `yield` moves the lock whatever its token is.
        YieldWithoutToken,
        /// A vote counts while its `yield` is under way.
        YieldedVoteCounts,
        /// The token that an unanswered `yield` named still counts.
        VoidTokenCounts,
        /// A proposal raises the token of the lock, and the fence stays.
        FenceNotRaised,
        /// Half of the nodes, rounded down, are enough.
        HalfIsEnough,
        /// A vote counts from its answer instead of from its request.
        DeadlineFromReply,
    }
}

/// The mistakes that are made by removing a safety line of the runtime. The others are made in the scripts, or beside the
/// ballot.
const BY_REMOVAL: [(Mistake, SafetyLine); 4] = [
    (Mistake::NoWriteBack, SafetyLine::token_written_back),
    (Mistake::YieldedVoteCounts, SafetyLine::vote_under_a_yield),
    (Mistake::VoidTokenCounts, SafetyLine::token_of_a_lost_yield),
    (Mistake::HalfIsEnough, SafetyLine::more_than_half),
];

impl Mistake {
    /// The mistake that is made by removing the safety line of this name.
    pub fn without(line: &str) -> Option<Mistake> {
        let mut all = BY_REMOVAL.iter();
        let found = all.find(|(_, removed)| removed.name() == line);
        found.map(|(mistake, _)| *mistake)
    }

    /// The safety line that is removed for it.
    pub(super) fn removed(self) -> Option<SafetyLine> {
        if self == Mistake::FirstToken {
            // It needs votes whose tokens differ, too.
            return Some(SafetyLine::token_written_back);
        }
        let mut all = BY_REMOVAL.iter();
        let found = all.find(|(mistake, _)| *mistake == self);
        found.map(|(_, line)| *line)
    }
}
