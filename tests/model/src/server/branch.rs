//! The branches of the scripts. Each has its own answer or trace.

macro_rules! branches {
    ($($branch:ident)* ; $($of_shares:ident)* ; $($of_keys:ident)*) => {
        /// A branch of a script.
        #[allow(missing_docs, reason = "the names describe them")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Branch { $($branch,)* $($of_shares,)* $($of_keys),* }

        impl Branch {
            pub const ALL: &[Branch] = &[$(Branch::$branch),*];
            pub const OF_SHARES: &[Branch] = &[$(Branch::$of_shares),*];
            pub const OF_KEYS: &[Branch] = &[$(Branch::$of_keys),*];
        }
    };
}

branches! {
    AcquireTakesAtOnce AcquireTakes AcquireTakesAsHead AcquireTakesPastOthers AcquireServesTheHead AcquireConfirms
        AcquireJoins AcquirePolls AcquireStaysOutside AcquireTriesFromTheQueue AcquireSetsTheFlag
        AcquireOfAForeignLock AcquireOfASpoiledLock AcquireWithASpoiledFence AcquireWithABadFence
        AcquireWithASpoiledQueue AcquireWithoutMemory
    RenewConfirms RenewLengthens RenewOfNothing RenewOfAnothers RenewOfASpoiledLock
    ReleaseFrees ReleaseOfAContendedLock ReleaseOfNothing ReleaseOfAnothers ReleaseOfASpoiledLock
    DeleteFrees DeleteOfAnotherRecord DeleteOfASpoiledLock
    EndFrees EndHandsOff EndQueuesSuccessor EndKeepsSuccessorInTheQueue EndGrantsSuccessor EndGrantsSuccessorAsHead
        EndAgainConfirms EndAgainLengthens EndLeaves EndOfNothing EndOfAnothers EndOfASpoiledLock
        EndWithASpoiledRecord EndInASpoiledQueue
    TakeTakes TakeOfATaken TakeWithoutMemory
    MintGives MintAgain MintOfNothing MintOfAnothers MintOfASpoiledLock MintWithASpoiledFence MintWithABadFence
        MintWithoutMemory
    ReserveKeeps ReserveOfNothing ReserveOfAnothers ReserveOfASpoiledLock
    WalkDropsTheDead WalkDropsWithoutHeartbeat WalkDropsTheEnded WalkSkipsTheUnreachable
    TokenIsTheTime TokenCountsOn
    ;
    ShareWalkDrops ShareWalkFillsTheWindow ShareWalkStopsAtAShare ShareWalkStopsAtALock ShareWalkSkipsTheAbsent
    ShareOfASpoiledLock ShareOfSpoiledShares ShareWithASpoiledFence ShareWithABadFence ShareWithASpoiledQueue
        ShareConfirms ShareBeginsWithAGrant ShareDowngrades ShareDowngradeOfALost ShareWithoutMemory ShareJoinsAtOnce
        ShareServesTheHead ShareBegins ShareBeginsForOthers ShareJoins ShareLetsOthersJoin ShareTakesLapsedOff
        ShareQueues ShareStaysOutside
    ShareRenewOfASpoiledLock ShareRenewOfALock ShareRenewOfNothing ShareRenewOfSpoiledShares ShareRenewOfALapsed
        ShareRenews
    ShareReleaseOfNothing ShareReleaseOfASpoiledLock ShareReleaseOfAnothers ShareReleaseOfALock
        ShareReleaseOfSpoiledShares ShareReleaseOfAContended ShareReleaseFrees ShareReleaseLeavesOthers
    ShareEndOfASpoiledLock ShareEndOfSpoiledShares ShareEndInASpoiledQueue ShareEndLeaves ShareEndOfAnothers
        ShareEndOfNothing ShareEndLeavesAndServes ShareEndServes ShareEndFreesALock ShareEndFrees
        ShareEndLeavesOthers
    RevokeOfASpoiledLock RevokeBesideASpoiledRecord RevokeOfNothing RevokeOfAnothers RevokeRaisesTheFence
        RevokeOfAnOwner RevokeServes RevokeFrees
    ;
    KeysOfASpoiledLock KeysWithASpoiledFence KeysWithABadFence KeysWithASpoiledQueue KeysWithoutMemory KeysTakeAll
        KeysTakeTheRest KeysTakeAPart KeysExtendAPart KeysConfirm KeysRaiseAToken KeysStayOutside KeysTryFromTheQueue
        KeysJoin KeysPoll KeysServeTheHead KeysHoldALaterOne
    KeysRenew KeysRenewOfALost KeysRenewOfASpoiledLock
    KeysReleaseFrees KeysReleaseOfAContended KeysReleaseOfAPart KeysReleaseOfNothing
    KeysEndFrees KeysEndHandsOff KeysEndOfAPart KeysEndLeaves KeysEndOfNothing KeysEndOfASpoiledLock
        KeysEndWithASpoiledRecord KeysEndInASpoiledQueue
    KeysReserve KeysReserveOfAPart KeysReserveOfNone KeysReserveOfASpoiledLock
}

/// The branches that one run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken([u64; 3]);

impl Taken {
    pub(super) fn insert(&mut self, branch: Branch) {
        let (word, bit) = place(branch);
        self.0[word] |= bit;
    }

    pub(super) fn add(&mut self, other: Taken) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    pub fn iter(self) -> impl Iterator<Item = Branch> {
        let all = [Branch::ALL, Branch::OF_SHARES, Branch::OF_KEYS];
        let all = all.into_iter().flatten().copied();
        all.filter(move |&branch| {
            let (word, bit) = place(branch);
            self.0[word] & bit != 0
        })
    }
}

/// The word and the bit of a branch.
fn place(branch: Branch) -> (usize, u64) {
    let number = branch as usize;
    (number / 64, 1 << (number % 64))
}
