//! Mistakes that the model can be told to make: what does not find them proves nothing.

/// One mistake, in a script or in a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seeded {
    /// `release` and `end` free the lock whoever holds it.
    NoOwnerCompare,
    /// `renew` is `SET NX`: it makes a lock that is gone.
    RenewSetsAnew,
    /// How often the owner acquired is counted in the record, and a release only counts down.
    RemoteCount,
    /// A waiter takes the announcement of a grant for the grant.
    GrantUnchecked,
    /// A lease counts from the answer instead of from before the request.
    DeadlineFromReply,
    /// An owner is forgotten once its end was answered, tainted or not.
    SettleUntilAnswered,
    /// Queue entries belong to processes instead of owners.
    ProcessKeyed,
    /// A waiter whose announcement nobody received leaves the queue.
    UnreachableDropped,
    /// `renew` sets the lease's rest, also to less than it was.
    RenewShortens,
    /// An owner is forgotten when its time is over, whenever its last end was sent: a process that
    /// was stopped meanwhile sends none after that.
    ForgottenInTime,
    /// An owner that was named as the next one is forgotten if the answer does not say that it is.
    SuccessorForgotten,
    /// Whoever loses a lock at the head of a line keeps the next one waiting.
    HeadKept,
    /// A token is one more than the fence, and nothing more than that.
    TokenFromFence,
    /// An attempt that is refused has written the clock into the fence: what a transaction of `SET K NX` and
    /// `SET F` does.
    FenceByAttempt,
    /// A grant leaves the fence to its release.
    FenceByRelease,
    /// A lease is passed on whether or not it is still held.
    TurnUnchecked,
    /// A lease is passed on to a caller that asked for another ttl, or with little of it left.
    TurnUnfit,
    /// A lease that is passed on keeps its token.
    TokenReused,
    /// A lease is passed on more often than its grant has tokens.
    RangeUnbounded,
    /// A lease that is passed on counts from when it is.
    LeaseFromTurn,
    /// The next one named in an end is not ended if its caller is gone when it turns out to hold.
    SuccessorNotEnded,
    /// `end` asks the queue for something after it has removed who was in it.
    NamesRemoved,
    /// A place in the queue goes to a caller that asks for another ttl, under the same owner.
    OwnerOfAnotherTtl,
    /// A retained lease is taken however late the next caller comes.
    RetainedLate,
    /// A retained lease stays so when its client is told that somebody waits.
    RetainedContended,
    /// A retained lease is not ended when its time is over.
    RetainedForever,
    /// A lease is retained although its connection broke.
    RetainedTorn,
}

impl Seeded {
    /// All of them.
    pub const ALL: [Seeded; 27] = [
        Seeded::NoOwnerCompare,
        Seeded::RenewSetsAnew,
        Seeded::RemoteCount,
        Seeded::GrantUnchecked,
        Seeded::DeadlineFromReply,
        Seeded::SettleUntilAnswered,
        Seeded::ProcessKeyed,
        Seeded::UnreachableDropped,
        Seeded::RenewShortens,
        Seeded::ForgottenInTime,
        Seeded::SuccessorForgotten,
        Seeded::HeadKept,
        Seeded::TokenFromFence,
        Seeded::FenceByAttempt,
        Seeded::FenceByRelease,
        Seeded::TurnUnchecked,
        Seeded::TurnUnfit,
        Seeded::TokenReused,
        Seeded::RangeUnbounded,
        Seeded::LeaseFromTurn,
        Seeded::SuccessorNotEnded,
        Seeded::NamesRemoved,
        Seeded::OwnerOfAnotherTtl,
        Seeded::RetainedLate,
        Seeded::RetainedContended,
        Seeded::RetainedForever,
        Seeded::RetainedTorn,
    ];
}
