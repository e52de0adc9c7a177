//! Each seeded mistake breaks a rule that callers rely on, and is found by that rule.

use libtest_mimic::Trial;
use lock_model::properties::{
    AS_LONG, CONNECTED, COUNTED, DEADLINE, EXCLUSION, FENCED, INFORMED, LET_IN, MINIMUM, NOTICED,
    ONE_HEAD, PHANTOM, RECOVERY, UNBROKEN, UNCONTENDED,
};
use lock_model::quorum::{self, Mistake as OfQuorum};
use lock_model::server::KeysMistake as OfKeys;
use lock_model::several::{self, Mistake as OfSeveral};
use lock_model::{Explore, Seeded, configurations};

use crate::{controls, named, trial};

const KEPT_PLACE: &str = "a waiter that polls keeps its place";
const TOKENS_RISE: &str = "tokens rise with every grant";
const TOKEN_A_BODY: &str = "tokens rise with every body";
const TWO_THIRDS: &str = "a turn begins with two thirds of its caller's ttl left";
const BYPASS: &str =
    "no process overtakes the head of the queue more often than a grant has tokens";
const SHORTENED: &str = "no lease is shortened";
const HALF_DONE: &str = "a script that fails changes nothing";
const IN_TIME: &str = "a retained lease is taken in its time or not at all";
const OVERTAKEN: &str = "waiters queue in order of arrival";
const OWN_END: &str = "a share ends only by its owner's end or by its lapse";
const ALL_READERS: &str = "a writer's end lets in all readers that are next, and not one of them";
const NOT_ENDED: &str = "an ended owner neither holds nor queues";
const WRONGLY_LOST: &str = "a renewal fails only if its owner does not have the lock";
const FREED_EARLY: &str = "no end frees a lock before its minimum is over";
const AS_SEEN: &str = "a revocation takes the grant that its operator saw, or changes nothing";
const NOT_FORGOTTEN: &str = "a revocation leaves no fence below the token that it took";
const BARGED: &str = "a plain command takes a lock past a live waiter only after a holder lost it";
const MINTED: &str = "a mint gives the holder that asks a token, or changes nothing";
const MISREPORTED: &str = "a release reports that it freed the lock only if it did, and that it had lost it only if it had";
const MADE_ANEW: &str = "only an acquire makes a lock";

/// A mistake, the configuration that shows it, and the rules that it breaks there.
type Shows<M> = &'static [(M, &'static str, &'static [&'static str])];

macro_rules! shows {
    ($of:ident: $($mistake:ident in $configuration:literal breaks $($rule:expr),+;)+) => {
        &[$(($of::$mistake, $configuration, &[$($rule),+])),+]
    };
}

/// Beside those that `controls` shows by walks.
const SHOWS: Shows<Seeded> = shows! { Seeded:
    NoOwnerCompare in "three clients" breaks EXCLUSION;
    RenewSetsAnew in "renewal" breaks MADE_ANEW;
    RemoteCount in "three clients" breaks PHANTOM;
    DeadlineFromReply in "three clients" breaks EXCLUSION;
    DeadlineFromReply in "renewal" breaks DEADLINE;
    SettleUntilAnswered in "torn, giving up" breaks PHANTOM;
    OwnerForEachAttempt in "lost" breaks PHANTOM;
    ProcessKeyed in "local queue" breaks KEPT_PLACE;
    UnreachableDropped in "uncounted" breaks KEPT_PLACE;
    RenewShortens in "renewal" breaks SHORTENED, EXCLUSION;
    ForgottenInTime in "torn, giving up" breaks PHANTOM;
    SuccessorForgotten in "doubled with a successor" breaks PHANTOM;
    OutcomeOfTheLast in "deletes, doubled" breaks MISREPORTED;
    OutcomeOfTheLast in "reserve, lost" breaks MISREPORTED;
    HeadKept in "local queue" breaks ONE_HEAD, RECOVERY;
    TokenFromFence in "empty restart" breaks TOKENS_RISE, FENCED;
    TokenFromFence in "failover" breaks FENCED;
    FenceByAttempt in "clock behind" breaks TOKENS_RISE;
    FenceByRelease in "clock behind" breaks TOKENS_RISE;
    TurnUnchecked in "turns" breaks TOKEN_A_BODY;
    TurnUnfit in "turns of mixed ttls" breaks TWO_THIRDS;
    TurnUnfit in "turns" breaks TWO_THIRDS;
    TokenReused in "turns" breaks TOKEN_A_BODY;
    RangeUnbounded in "turns" breaks TOKEN_A_BODY, BYPASS;
    LeaseFromTurn in "turns" breaks DEADLINE, EXCLUSION;
    SuccessorNotEnded in "turns, giving up" breaks PHANTOM;
    NamesRemoved in "migration" breaks HALF_DONE;
    NamesRemoved in "slot moves" breaks HALF_DONE, KEPT_PLACE;
    MoveUnconfirmed in "lost suffix" breaks INFORMED;
    MoveUnconfirmed in "lost suffix, clock behind" breaks INFORMED;
    MoveUnconfirmed in "two primaries" breaks INFORMED;
    MoveUnconfirmed in "takeover, clock ahead" breaks INFORMED;
    RoleBelieved in "two primaries" breaks INFORMED, NOTICED;
    OwnerOfAnotherTtl in "torn, mixed ttls" breaks DEADLINE;
    RetainedLate in "retained" breaks IN_TIME, TWO_THIRDS;
    RetainedContended in "retained" breaks UNCONTENDED;
    RetainedForever in "retained" breaks RECOVERY;
    RetainedTorn in "retained, torn" breaks CONNECTED;
    TokenReused in "retained" breaks TOKEN_A_BODY;
    RangeUnbounded in "retained" breaks TOKEN_A_BODY;
    TurnUnfit in "retained, mixed ttls" breaks TWO_THIRDS;
    JoinsPastWaiters in "readers and a writer" breaks OVERTAKEN;
    AbsentKeepsPlace in "readers and an absent writer" breaks LET_IN;
    DeadCountForPlace in "readers and an absent writer" breaks LET_IN;
    WriterNamesSuccessor in "readers behind two writers" breaks ALL_READERS;
    LimitIgnored in "permits" breaks EXCLUSION;
    TakeCountedAsOne in "permits" breaks COUNTED, EXCLUSION;
    RenewalKeepsExpiry in "readers, renewal" breaks AS_LONG, DEADLINE;
    JoinKeepsExpiry in "readers and a writer" breaks AS_LONG, DEADLINE, EXCLUSION;
    ExpiryNotLowered in "readers of mixed ttls" breaks AS_LONG;
    LapsedCounted in "shares, crash" breaks COUNTED;
    LapsedCounted in "permits" breaks COUNTED;
    CountedTwice in "permits, short walks" breaks COUNTED;
    SharesKept in "shares, deleted" breaks COUNTED;
    AnothersTakenOff in "readers and a writer" breaks OWN_END, EXCLUSION;
    TakenOffTwice in "shares, doubled" breaks OWN_END, DEADLINE;
    LastForAll in "readers and a writer" breaks OWN_END, EXCLUSION;
    NoOwnerCompare in "readers and a writer's end" breaks EXCLUSION;
    DeadlineFromReply in "readers and a writer" breaks EXCLUSION;
    DeadlineFromReply in "permits" breaks EXCLUSION;
    EndedStaysQueued in "downgrade, torn" breaks NOT_ENDED;
    SharesNamedAgain in "shares, migration" breaks HALF_DONE;
    DowngradeKeepsToken in "downgrade" breaks TOKENS_RISE;
    DowngradeKeepsToken in "downgrade, turns" breaks TOKENS_RISE;
    DowngradeTakes in "downgrade, deleted" breaks UNBROKEN;
    DowngradeRenewsAlone in "downgrade, lost" breaks WRONGLY_LOST;
    SettleUntilAnswered in "shares, torn" breaks PHANTOM;
    ReserveKeepsOwner in "reserve" breaks MINIMUM, PHANTOM;
    ReserveEndedAgain in "reserve, lost" breaks FREED_EARLY;
    ReserveEndedAgain in "reserve, torn" breaks FREED_EARLY;
    ReserveHandedOver in "reserve, local queue" breaks FREED_EARLY;
    RevokeUnseen in "revoked" breaks AS_SEEN;
    FreedPastWaiters in "takes, crash" breaks BARGED;
    MintForAnyone in "takes" breaks MINTED;
    MintLowersFence in "takes, clock behind" breaks TOKENS_RISE;
    TakeUnsettled in "takes, torn" breaks PHANTOM;
    RevokeForgets in "revoked, evicted" breaks NOT_FORGOTTEN;
};

const OF_SEVERAL: Shows<OfSeveral> = shows! { OfSeveral:
    Unsorted in "opposite orders" breaks several::RECOVERY;
    LossUnnoticed in "one lock each" breaks several::IN_ORDER;
};

const OF_KEYS: Shows<OfKeys> = shows! { OfKeys:
    LaterUnseen in "torn" breaks several::LATER_SEEN;
    LeavesLeases in "renewal" breaks several::DEADLINE;
    LeavesLeases in "one lock each" breaks several::EXCLUSION;
    EarlierUnchecked in "one lock each" breaks several::EXCLUSION;
    TokenOfTheLast in "one lock each" breaks several::TOKENS_RISE;
    NoOwnerCompare in "deleted, renewal" breaks several::ALL_RENEWED;
    RenewsTheFirst in "deleted, renewal" breaks several::ALL_RENEWED;
    ReleasesAPart in "renewal" breaks several::ALL_FREED;
    EndsAPart in "giving up" breaks several::PHANTOM;
};

/// Beside those that `controls` shows by a search.
const OF_QUORUM: Shows<OfQuorum> = shows! { OfQuorum:
    NoWriteBack in "quorum, two owners" breaks quorum::TOKENS_RISE;
    FirstToken in "quorum, two owners" breaks quorum::TOKENS_RISE;
    VotesAtOnce in "quorum, flushed" breaks quorum::EXCLUSION;
    VotesAtOnce in "quorum, restarted" breaks quorum::EXCLUSION;
    VotesAtOnce in "quorum, after a loss" breaks quorum::TOKENS_RISE;
    DelayByOwnClock in "quorum, restarted with a wrong clock" breaks quorum::EXCLUSION;
    CountOfAnother in "quorum, flushed after a loss" breaks quorum::EXCLUSION;
    YieldWithoutToken in "quorum, a break and a poll" breaks quorum::BACKED;
    YieldedVoteCounts in "quorum, a slow answer" breaks quorum::BACKED;
    FenceNotRaised in "quorum, two owners" breaks quorum::TOKENS_RISE;
    HalfIsEnough in "quorum, two owners" breaks quorum::EXCLUSION, quorum::BACKED;
    HalfIsEnough in "quorum, two owners for longer" breaks quorum::MAJORITY;
    DeadlineFromReply in "quorum, slow answers" breaks quorum::BACKED;
};

/// A test of each line of the tables, and one that they have every mistake.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![trial("every_mistake_is_tried", || {
        are_tried(Seeded::ALL, SHOWS, &controls::walked());
        are_tried(OfQuorum::ALL, OF_QUORUM, &controls::searched());
    })];
    trials.extend(found(SHOWS, |name, mistake| {
        configurations::named(name).with(mistake)
    }));
    trials.extend(found(OF_SEVERAL, |name, mistake| {
        of_several(name).with(mistake)
    }));
    trials.extend(found(OF_KEYS, |name, mistake| {
        of_several(name).with(OfSeveral::InScript(mistake))
    }));
    trials.extend(found(OF_QUORUM, |name, mistake| {
        let mut all = quorum::CONFIGURATIONS.iter().chain(quorum::DEEP);
        all.find(|of| of.name == name)
            .expect("a configuration")
            .with(mistake)
    }));
    trials
}

fn of_several(name: &str) -> several::Several {
    let mut all = several::CONFIGURATIONS.iter();
    *all.find(|of| of.name == name).expect("a configuration")
}

fn are_tried<M: Copy + PartialEq + std::fmt::Debug>(all: &[M], shows: Shows<M>, removed: &[M]) {
    for mistake in all {
        let is_tried =
            shows.iter().any(|(tried, ..)| tried == mistake) || removed.contains(mistake);
        assert!(is_tried, "{mistake:?}");
    }
}

fn found<M, E>(shows: Shows<M>, with: fn(&'static str, M) -> E) -> impl Iterator<Item = Trial>
where
    M: Copy + std::fmt::Debug + Sync + Send,
    E: Explore + 'static,
{
    shows.iter().map(move |&(mistake, name, rules)| {
        trial(
            &named(&format!("mistakes::{mistake:?}_in_{name}")),
            move || {
                for &rule in rules {
                    let report = with(name, mistake).explore_for(rule);
                    report.expect_broken(rule, &mistake);
                }
            },
        )
    })
}
