//! The branches of the scripts, each with an answer or a trace of its own.

use std::collections::BTreeMap;
use std::fmt;

macro_rules! branches {
    ($($branch:ident)*) => {
        /// A branch.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Branch { $($branch),* }

        const ALL: &[Branch] = &[$(Branch::$branch),*];
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
    EndFrees
    EndHandsOn
    EndQueuesNext
    EndKeepsNextInTheQueue
    EndPassesToNext
    EndPassesToNextAsHead
    EndAgainConfirms
    EndAgainLengthens
    EndLeaves
    EndOfNothing
    EndOfAnothers
    EndOfASpoiledLock
    EndWithASpoiledRecord
    EndInASpoiledQueue
    WalkDropsTheDead
    WalkDropsWhoHasNoHeart
    WalkDropsTheEnded
    WalkSkipsTheUnreachable
    TokenIsTheTime
    TokenCountsOn
}

/// How often each branch was taken.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<Branch, usize>);

impl Tally {
    pub(crate) fn add(&mut self, branch: Branch) {
        *self.0.entry(branch).or_default() += 1;
    }

    /// The branches that were never taken.
    pub(crate) fn missing(&self) -> Vec<Branch> {
        let all = ALL.iter().copied();
        all.filter(|branch| !self.0.contains_key(branch)).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (branch, count) in &self.0 {
            writeln!(f, "{count:>6} {branch:?}")?;
        }
        Ok(())
    }
}
