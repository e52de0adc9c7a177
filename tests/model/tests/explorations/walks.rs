//! Random walks break no rule, and find most seeded mistakes.
//!
//! The first walk of each configuration has the number `LOCK_TEST_SEED`, or a different one in each
//! run. A failed test prints the number with which its first walk repeats the failure.

use std::env;
use std::fmt::Debug;
use std::time::Duration;

use libtest_mimic::Trial;
use lock_model::quorum::{self, Mistake as OfQuorum};
use lock_model::{Enough, Seeded, Walk, configurations, seed, walks};

use crate::{is_long, named, trial};

/// Walks, from number 1 on, within which a mistake must be found. Most take fewer than a hundred.
pub(crate) const ENOUGH: Enough = Enough::Walks(20_000);

/// A mistake, and the configuration whose walks find it.
type Finds<M> = &'static [(M, &'static str)];

macro_rules! finds {
    ($of:ident: $($configuration:literal finds $($mistake:ident),+;)+) => {
        &[$($(($of::$mistake, $configuration)),+),+]
    };
}

const FINDS: Finds<Seeded> = finds! { Seeded:
    "walk" finds SettleUntilAnswered, ProcessKeyed;
    "walk, local queues" finds ForgottenInTime, SuccessorNotEnded;
    "walk, impaired" finds SuccessorForgotten;
    "walk, turns" finds NoOwnerCompare, DeadlineFromReply, UnreachableDropped, TurnUnfit, TokenReused, LeaseFromTurn,
        RetainedLate, RetainedContended, RetainedForever, RetainedTorn;
    "walk, reserve" finds HeadKept, ReserveKeepsOwner, ReserveEndedAgain, ReserveHandedOver;
    "walk, takes" finds OutcomeOfTheLast, FenceByAttempt, FenceByRelease, RangeUnbounded, FreedPastWaiters,
        MintLowersFence, TakeUnsettled;
    "walk, shares" finds JoinsPastWaiters, AbsentKeepsPlace, WriterNamesSuccessor, LimitIgnored, RenewalKeepsExpiry,
        ExpiryNotLowered, LapsedCounted, DowngradeKeepsToken, DowngradeRenewsAlone;
    "walk, shares deleted" finds TakeCountedAsOne, JoinKeepsExpiry, CountedTwice, SharesKept, AnothersTakenOff,
        TakenOffTwice, LastForAll, DowngradeTakes;
    "walk, deleted" finds RenewSetsAnew, RemoteCount, RenewShortens, TokenFromFence, RevokeUnseen, RevokeForgets;
    "walk, several" finds LaterUnseen, EarlierUnchecked, TokenOfTheLast, ReleasesAPart, EndsAPart;
    "walk, two primaries" finds MoveUnconfirmed, RoleBelieved;
};

/// Mistakes that only a search finds: they need a rare order of rare events, fewer waiters than a
/// script examines, the deletion of one of two locks, two primaries and a late token, a lease of several locks that
/// lasts two ticks, or a deadlock, which no lease outlives here.
const UNFOUND: &[Seeded] = &[
    Seeded::LeavesLeases,
    Seeded::TurnUnchecked,
    Seeded::NamesRemoved,
    Seeded::DeadCountForPlace,
    Seeded::EndedStaysQueued,
    Seeded::SharesNamedAgain,
    Seeded::MintForAnyone,
    Seeded::MintAtItsTime,
    Seeded::DowngradeAtItsTime,
    Seeded::Unsorted,
    Seeded::LossUnnoticed,
    Seeded::RenewsTheFirst,
];

const OF_QUORUM: Finds<OfQuorum> = finds! { OfQuorum:
    "walk, quorum" finds FirstToken, DeadlineFromReply;
    "walk, quorum of five" finds FenceNotRaised;
    "walk, quorum without data" finds VotesAtOnce, DelayByOwnClock;
};

/// Mistakes that only a search finds.
const UNFOUND_OF_QUORUM: &[OfQuorum] = &[OfQuorum::CountOfAnother, OfQuorum::YieldWithoutToken];

/// A test of each configuration, and of each mistake.
pub(crate) fn trials() -> Vec<Trial> {
    let first = seed();
    let all = walks();
    let time = time() / all.len() as u32;
    let walks = all.into_iter().map(|(name, configuration)| {
        trial(&named(&format!("walks::{name}")), move || {
            configuration.walk(first, Enough::Time(time)).expect_sound();
        })
    });
    let mut trials: Vec<Trial> = walks.collect();
    trials.push(trial("walks::mistakes::each_is_found_or_named", || {
        are_named(Seeded::ALL, FINDS, UNFOUND);
        are_named(OfQuorum::ALL, OF_QUORUM, UNFOUND_OF_QUORUM);
    }));
    trials.extend(found(FINDS, |name, mistake| {
        configurations::named(name).with(mistake)
    }));
    trials.extend(found(OF_QUORUM, |name, mistake| {
        quorum::named(name).expect("a configuration").with(mistake)
    }));
    trials
}

/// How long all walks take together: the seconds in `LOCK_TEST_WALK`, if it is set.
fn time() -> Duration {
    let seconds = env::var("LOCK_TEST_WALK").map(|text| text.parse().expect("a number"));
    Duration::from_secs(seconds.unwrap_or(if is_long() { 60 } else { 5 }))
}

fn are_named<M: Copy + PartialEq + Debug>(all: &[M], finds: Finds<M>, unfound: &[M]) {
    for mistake in all {
        let is_found = finds.iter().any(|(found, _)| found == mistake);
        assert_ne!(is_found, unfound.contains(mistake), "{mistake:?}");
    }
}

fn found<M, W>(finds: Finds<M>, with: fn(&'static str, M) -> W) -> impl Iterator<Item = Trial>
where
    M: Copy + Debug + Sync + Send,
    W: Walk + 'static,
{
    finds.iter().map(move |&(mistake, name)| {
        trial(
            &named(&format!("walks::mistakes::{mistake:?}")),
            move || {
                with(name, mistake).walk(1, ENOUGH).expect_broken(&mistake);
            },
        )
    })
}
