//! The branches of the scripts, each with an answer or a trace of its own.

macro_rules! branches {
    ($($branch:ident)* ; $($of_shares:ident)*) => {
        /// A branch of a script.
        #[allow(missing_docs, reason = "the names describe them")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Branch { $($branch,)* $($of_shares),* }

        impl Branch {
            /// Every branch of the scripts of plain locks.
            pub const ALL: &[Branch] = &[$(Branch::$branch),*];
            /// Every branch of the scripts of shares.
            pub const OF_SHARES: &[Branch] = &[$(Branch::$of_shares),*];
        }
    };
}

branches! {
    AcquireTakesAtOnce
    AcquireTakes
    AcquireTakesAsHead
    AcquireTakesPastOthers
    AcquireServesTheHead
    AcquireConfirms
    AcquireJoins
    AcquirePolls
    AcquireStaysOutside
    AcquireTriesFromTheQueue
    AcquireSetsTheFlag
    AcquireOfAForeignLock
    AcquireOfASpoiledLock
    AcquireWithASpoiledFence
    AcquireWithABadFence
    AcquireWithASpoiledQueue
    AcquireWithoutMemory
    RenewConfirms
    RenewLengthens
    RenewOfNothing
    RenewOfAnothers
    RenewOfASpoiledLock
    ReleaseFrees
    ReleaseOfAContendedLock
    ReleaseOfNothing
    ReleaseOfAnothers
    ReleaseOfASpoiledLock
    DeleteFrees
    DeleteOfAnotherRecord
    DeleteOfASpoiledLock
    EndFrees
    EndHandsOff
    EndQueuesSuccessor
    EndKeepsSuccessorInTheQueue
    EndGrantsSuccessor
    EndGrantsSuccessorAsHead
    EndAgainConfirms
    EndAgainLengthens
    EndLeaves
    EndOfNothing
    EndOfAnothers
    EndOfASpoiledLock
    EndWithASpoiledRecord
    EndInASpoiledQueue
    WalkDropsTheDead
    WalkDropsWithoutHeartbeat
    WalkDropsTheEnded
    WalkSkipsTheUnreachable
    TokenIsTheTime
    TokenCountsOn
    ;
    ShareWalkDrops
    ShareWalkFillsTheWindow
    ShareWalkStopsAtAShare
    ShareWalkStopsAtALock
    ShareWalkSkipsTheUnreachable
    ShareOfASpoiledLock
    ShareOfSpoiledShares
    ShareWithASpoiledFence
    ShareWithABadFence
    ShareWithASpoiledQueue
    ShareConfirms
    ShareBeginsWithAGrant
    ShareDowngrades
    ShareWithoutMemory
    ShareJoinsAtOnce
    ShareServesTheHead
    ShareBegins
    ShareBeginsForOthers
    ShareJoins
    ShareLetsOthersJoin
    ShareTakesLapsedOff
    ShareQueues
    ShareStaysOutside
    ShareRenewOfASpoiledLock
    ShareRenewOfALock
    ShareRenewOfNothing
    ShareRenewOfSpoiledShares
    ShareRenewOfALapsed
    ShareRenews
    ShareReleaseOfNothing
    ShareReleaseOfASpoiledLock
    ShareReleaseOfAnothers
    ShareReleaseOfALock
    ShareReleaseOfSpoiledShares
    ShareReleaseOfAContended
    ShareReleaseFrees
    ShareReleaseLeavesOthers
    ShareEndOfASpoiledLock
    ShareEndOfSpoiledShares
    ShareEndInASpoiledQueue
    ShareEndLeaves
    ShareEndOfAnothers
    ShareEndOfNothing
    ShareEndLeavesAndServes
    ShareEndServes
    ShareEndFreesALock
    ShareEndFrees
    ShareEndLeavesOthers
}

/// The branches that one run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken(u128);

impl Taken {
    pub(super) fn insert(&mut self, branch: Branch) {
        self.0 |= 1 << branch as u64;
    }

    /// The branches.
    pub fn iter(self) -> impl Iterator<Item = Branch> {
        let all = Branch::ALL.iter().chain(Branch::OF_SHARES).copied();
        all.filter(move |&branch| self.0 & (1 << branch as u64) != 0)
    }
}
