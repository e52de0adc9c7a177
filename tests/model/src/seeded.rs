//! Mistakes that the model can make: a checker that does not find them proves nothing.

listed! {
    /// One mistake, in a script or in a client.
    Seeded {
        /// `release` and `end` free the lock of any owner, and `renew` confirms several locks to any.
        NoOwnerCompare,
        /// `renew` is `SET NX`: it makes an absent lock anew.
        RenewSetsAnew,
        /// The record counts the acquires of its owner, and a release only counts down.
        RemoteCount,
        /// A lease counts from the answer instead of from before the request.
        DeadlineFromReply,
        /// An owner is forgotten once its end was answered, tainted or not.
        SettleUntilAnswered,
        /// Queue entries belong to processes instead of owners.
        ProcessKeyed,
        /// A waiter is dropped from the queue if its announcement has no receiver.
        UnreachableDropped,
        /// `renew` sets the remaining time of the lease, also to less than it was.
        RenewShortens,
        /// An owner is forgotten when its time is over, whenever its last `end` was sent. A process that was
        /// stopped meanwhile sends none after that time.
        ForgottenInTime,
        /// A successor is forgotten if the answer to the `end` that names it does not say that
        /// it holds or queues.
        SuccessorForgotten,
        /// A release reports what its last end found, although an earlier one was not answered.
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
        /// A lease is handed over to a caller that asks for another ttl, or with little of it left.
        TurnUnfit,
        /// A lease that is handed over keeps its token.
        TokenReused,
        /// A lease is handed over more often than its grant has tokens.
        RangeUnbounded,
        /// The deadline of a lease that is handed over counts from the hand-over.
        LeaseFromTurn,
        /// A successor that holds is not ended if the local queue is empty by then.
        SuccessorNotEnded,
        /// `end` names the queue after it has removed the last entry.
        NamesRemoved,
        /// A retained lease is taken after its time is over.
        RetainedLate,
        /// A lease stays retained when a message says that a waiter queues.
        RetainedContended,
        /// A retained lease is not ended when its time is over.
        RetainedForever,
        /// A lease is retained although its connection broke.
        RetainedTorn,
        /// A share joins although a waiter queues.
        JoinsPastWaiters,
        /// A waiter counts as there until it counts as dead.
        AbsentKeepsPlace,
        /// A waiter with a window of others before it leaves the queue to them, dead or not.
        DeadCountForPlace,
        /// The end of a writer names a successor, as the end of any other lock does.
        WriterNamesSuccessor,
        /// A share goes in whatever is taken.
        LimitIgnored,
        /// Every share counts as one, whatever it takes.
        TakeCountedAsOne,
        /// The renewal of a share leaves the expiry of the lock as it is.
        RenewalKeepsExpiry,
        /// A share that goes in leaves the expiry of the lock as it is.
        JoinKeepsExpiry,
        /// The lock keeps its expiry when the longest share leaves.
        ExpiryNotLowered,
        /// Shares that have lapsed are taken off, and stay in the sum.
        LapsedCounted,
        /// A share that is granted anew counts twice if its owner's lapsed one was not taken off.
        CountedTwice,
        /// A phase begins with the shares of the one before it.
        SharesKept,
        /// An end takes off another's share.
        AnothersTakenOff,
        /// A share is taken off once for each release of it.
        TakenOffTwice,
        /// The release of a share frees the lock although others share it.
        LastForAll,
        /// The end of a share leaves the queue entry of its owner.
        EndedStaysQueued,
        /// A script names the shares after it has removed them.
        SharesNamedAgain,
        /// A lock that becomes a share keeps its token.
        DowngradeKeepsToken,
        /// A downgrade takes a lock that is free, as the acquire of a share does.
        DowngradeTakes,
        /// A lock that becomes a share is renewed as a lock until the answer.
        DowngradeRenewsAlone,
        /// Leases are not confirmed when their server may be another.
        MoveUnconfirmed,
        /// A client that notices that another server has taken over stays with the one that says it is the primary.
        RoleBelieved,
        /// A reserved lock still names its owner.
        ReserveKeepsOwner,
        /// An owner whose lock should rest is ended again as any other if the first time is not answered.
        ReserveEndedAgain,
        /// A lock whose minimum is not over goes to the next caller of its process.
        ReserveHandedOver,
        /// A revocation takes the lock whatever its operator saw.
        RevokeUnseen,
        /// A release frees a lock although a waiter has set its flag.
        FreedPastWaiters,
        /// A mint gives a token to whoever has the lock.
        MintForAnyone,
        /// A mint takes its token from the clock alone, and lowers the fence.
        MintLowersFence,
        /// A plain command of an earlier connection is not waited for when its owner is ended.
        TakeUnsettled,
        /// Each caller takes its locks in the order in which its call names them.
        Unsorted,
        /// A caller goes on waiting although it has lost a lock before the one in the way.
        LossUnnoticed,
        /// The acquire of several locks leaves the leases of those that the owner has already.
        LeavesLeases,
        /// It takes the locks before the one for which the owner queues for held.
        EarlierUnchecked,
        /// It mints a token for the last lock that it takes, whatever those of the others.
        TokenOfTheLast,
        /// It looks at no lock behind the one in the way.
        LaterUnseen,
        /// The renewal of several locks looks at the first alone.
        RenewsTheFirst,
        /// The release of several locks frees those without waiters, and answers that it freed all.
        ReleasesAPart,
        /// Their end stops at the first that the owner does not have.
        EndsAPart,
        /// A revocation does not raise a fence that was lost to the token that it takes.
        RevokeForgets,
    }
}
