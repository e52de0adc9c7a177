//! Mistakes that the model can make: a checker that does not find them proves nothing.

listed! {
    /// One mistake, in a script or in a client.
    Seeded {
        /// `release` and `end` free the lock of any owner, and `renew` confirms several locks to any.
        NoOwnerCompare,
        /// `renew` is `SET NX`: it recreates an absent lock.
        RenewSetsAnew,
        /// The record counts the acquires of its owner, and a release only counts down.
        RemoteCount,
        /// A lease counts from the answer instead of from before the request.
        DeadlineFromReply,
        /// An owner is forgotten once its end was answered, even if an acquire may be late.
        SettleUntilAnswered,
        /// Queue entries belong to processes instead of owners.
        ProcessKeyed,
        /// A waiter is dropped from the queue if its announcement has no receiver.
        UnreachableDropped,
        /// `renew` sets the remaining time of the lease, even to less than before.
        RenewShortens,
        /// An owner is forgotten when its time is over, no matter when its last `end` was sent. A
        /// process that was stopped meanwhile sends none after that time.
        ForgottenInTime,
        /// A successor is forgotten unless the answer to the `end` that names it reports that it
        /// holds or queues.
        SuccessorForgotten,
        /// A release reports the result of its last end, although an earlier one was not answered.
        OutcomeOfTheLast,
        /// A holder that loses its lock stays the head of its local queue.
        HeadKept,
        /// A token is computed from the fence alone, without the clock.
        TokenFromFence,
        /// An unsuccessful attempt writes the clock into the fence, as a transaction of `SET K NX` and `SET F`
        /// does.
        FenceByAttempt,
        /// The fence is written by the release instead of the grant.
        FenceByRelease,
        /// A lease is handed over although it may be lost.
        TurnUnchecked,
        /// A lease is handed over to a caller that asks for another ttl, or when little of it is
        /// left.
        TurnUnfit,
        /// A lease that is handed over keeps its token.
        TokenReused,
        /// A lease is handed over more often than its grant has tokens.
        RangeUnbounded,
        /// The deadline of a lease that is handed over counts from the hand-over.
        LeaseFromTurn,
        /// A successor that holds is not ended if the local queue is empty by then.
        SuccessorNotEnded,
        /// `end` accesses the key of the queue after it has removed the last entry.
        NamesRemoved,
        /// A retained lease is taken after its time is over.
        RetainedLate,
        /// A lease stays retained when a message reports that a waiter queues.
        RetainedContended,
        /// A retained lease is not ended when its time is over.
        RetainedForever,
        /// A lease is retained although its connection broke.
        RetainedTorn,
        /// A share joins although a waiter queues.
        JoinsPastWaiters,
        /// A waiter counts as present until it counts as dead.
        AbsentKeepsPlace,
        /// A waiter with a window of others before it leaves the queue to them, even if they are
        /// dead.
        DeadCountForPlace,
        /// The end of a writer names a successor, like the end of any other lock.
        WriterNamesSuccessor,
        /// A share is admitted however much is taken.
        LimitIgnored,
        /// Every share counts as one, whatever it takes.
        TakeCountedAsOne,
        /// The renewal of a share does not raise the expiry of the lock.
        RenewalKeepsExpiry,
        /// A joining share does not raise the expiry of the lock.
        JoinKeepsExpiry,
        /// The lock keeps its expiry when the longest share leaves.
        ExpiryNotLowered,
        /// Lapsed shares are removed, but still counted in the sum.
        LapsedCounted,
        /// A share that is granted again counts twice if its owner's lapsed share was not removed.
        CountedTwice,
        /// A phase begins with the shares of the one before it.
        SharesKept,
        /// An end removes another owner's share.
        AnothersTakenOff,
        /// Each release of a share subtracts it again.
        TakenOffTwice,
        /// The release of a share frees the lock although others share it.
        LastForAll,
        /// The end of a share leaves the queue entry of its owner.
        EndedStaysQueued,
        /// A script accesses the key of the shares after it has removed them.
        SharesNamedAgain,
        /// A lock that becomes a share keeps its token.
        DowngradeKeepsToken,
        /// It gets the time of the downgrade, not the token after its own, or the time of its grant.
        DowngradeAtItsTime,
        /// A downgrade takes a free lock, like the acquire of a share.
        DowngradeTakes,
        /// A lock that becomes a share is renewed as a lock until the answer.
        DowngradeRenewsAlone,
        /// Leases are not confirmed when their server may be another.
        MoveUnconfirmed,
        /// A client that notices a takeover by another server stays with a server that claims to be
        /// the primary.
        RoleBelieved,
        /// A reserved lock still names its owner.
        ReserveKeepsOwner,
        /// A second end of an owner whose lock is reserved frees it if the first is not answered.
        ReserveEndedAgain,
        /// A lock whose minimum is not over goes to the next caller of its process.
        ReserveHandedOver,
        /// A revocation takes the lock from any holder, whatever its operator saw.
        RevokeUnseen,
        /// A release frees a lock although a waiter has set its flag.
        FreedPastWaiters,
        /// A mint gives a token to a sender that does not hold the lock.
        MintForAnyone,
        /// A mint gives the time at which it runs, not that of the grant.
        MintAtItsTime,
        /// A mint takes its token from the clock alone, and lowers the fence.
        MintLowersFence,
        /// The end of an owner does not wait for a plain command on an earlier connection.
        TakeUnsettled,
        /// Each caller takes its locks in the order of its call.
        Unsorted,
        /// A caller continues to wait although it has lost a lock before the one in the way.
        LossUnnoticed,
        /// The acquire of several locks does not extend the leases of locks that the owner already
        /// has.
        LeavesLeases,
        /// It assumes that the owner still holds the locks before the one that it queues for.
        EarlierUnchecked,
        /// It mints a token for the last lock that it takes, ignoring the tokens of the others.
        TokenOfTheLast,
        /// It ignores the locks behind the one in the way.
        LaterUnseen,
        /// The renewal of several locks checks only the first.
        RenewsTheFirst,
        /// The release of several locks frees only those without waiters, and answers that it freed
        /// all.
        ReleasesAPart,
        /// The end of several locks stops at the first that the owner does not have.
        EndsAPart,
        /// A revocation does not raise a lost fence to the token that it revokes.
        RevokeForgets,
    }
}
