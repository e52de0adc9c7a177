//! Mistakes that the model can make: a checker that does not find them proves nothing.

listed! {
    /// One mistake, in a script or in the ballot.
    Mistake {
        /// A holder takes the token of its first vote instead of the largest.
        FirstToken,
        /// A node that lost its data votes immediately.
        VotesAtOnce,
        /// A node that lost its data votes when the delay is over by its own clock.
        DelayByOwnClock,
        /// A client's measurement counts although the node lost its data meanwhile.
        CountOfAnother,
        /// `yield` moves the lock whatever its token.
        YieldWithoutToken,
        /// A proposal raises the token of the lock, but not the fence.
        FenceNotRaised,
        /// A vote counts from its answer instead of from its request.
        DeadlineFromReply,
    }
}
