//! The branches of the scripts, each with an answer or a trace of its own.

macro_rules! branches {
    ($($branch:ident)*) => {
        /// A branch of a script.
        #[allow(missing_docs, reason = "the names describe them")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Branch { $($branch),* }

        impl Branch {
            /// Every branch.
            pub const ALL: &[Branch] = &[$(Branch::$branch),*];
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
}

/// The branches that one run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken(u64);

impl Taken {
    pub(super) fn insert(&mut self, branch: Branch) {
        self.0 |= 1 << branch as u64;
    }

    /// The branches.
    pub fn iter(self) -> impl Iterator<Item = Branch> {
        let all = Branch::ALL.iter().copied();
        all.filter(move |&branch| self.0 & (1 << branch as u64) != 0)
    }
}
