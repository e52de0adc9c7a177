//! Mistakes that the model can make: a checker that does not find them proves nothing.

listed! {
    /// One mistake, in a script or in the ballot.
    Mistake {
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
        /// A proposal raises the token of the lock, and the fence stays.
        FenceNotRaised,
        /// A vote counts from its answer instead of from its request.
        DeadlineFromReply,
    }
}
