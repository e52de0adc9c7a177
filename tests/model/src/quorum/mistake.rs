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
        /// `cede` moves the lock whatever its token is.
        CedeWithoutToken,
        /// A vote counts while its `cede` is under way.
        CededVoteCounts,
        /// The token that an unanswered `cede` named still counts.
        VoidTokenCounts,
        /// A proposal raises the token of the lock, and the fence stays.
        FenceNotRaised,
        /// Half of the nodes, rounded down, are enough.
        HalfIsEnough,
        /// A vote counts from its answer instead of from its request.
        DeadlineFromReply,
    }
}

impl Mistake {
    /// The line of the runtime without which it is made. The others are made in the scripts, or beside the ballot.
    pub(super) fn removed(self) -> Option<SafetyLine> {
        match self {
            Mistake::NoWriteBack | Mistake::FirstToken => Some(SafetyLine::token_written_back),
            Mistake::CededVoteCounts => Some(SafetyLine::vote_under_a_cede),
            Mistake::VoidTokenCounts => Some(SafetyLine::token_of_a_lost_cede),
            Mistake::HalfIsEnough => Some(SafetyLine::more_than_half),
            _ => None,
        }
    }
}
