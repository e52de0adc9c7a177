//! Each seeded mistake breaks a rule that callers rely on, and that rule finds it.

use libtest_mimic::Trial;
use lock_model::properties::{
    AS_LONG, CONNECTED, COUNTED, DEADLINE, EXCLUSION, FENCED, INFORMED, LET_IN, MINIMUM, NOTICED,
    ONE_HEAD, PHANTOM, RECOVERY, UNBROKEN, UNCONTENDED,
};
use lock_model::quorum::{self, Mistake as OfQuorum};
use lock_model::{Breach, Explore, SafetyLine, Seeded, configurations};

use crate::{named, trial};

/// A mistake, the configuration that shows it, and the rules that it breaks there.
type Shows<M> = &'static [(M, &'static str, &'static [&'static str])];

macro_rules! shows {
    ($of:ident: $($mistake:ident in $configuration:literal breaks $($rule:expr),+;)+) => {
        &[$(($of::$mistake, $configuration, &[$($rule),+])),+]
    };
}

const SHOWS: Shows<Seeded> = shows! { Seeded:
    NoOwnerCompare in "three clients" breaks EXCLUSION;
    RenewSetsAnew in "renewal" breaks Breach::MadeAnew.rule();
    RemoteCount in "three clients" breaks PHANTOM;
    DeadlineFromReply in "three clients" breaks EXCLUSION;
    DeadlineFromReply in "renewal" breaks DEADLINE;
    SettleUntilAnswered in "torn, giving up" breaks PHANTOM;
    ProcessKeyed in "local queue" breaks Breach::LostPlace.rule();
    UnreachableDropped in "uncounted" breaks Breach::LostPlace.rule();
    RenewShortens in "renewal" breaks Breach::Shortened.rule(), EXCLUSION;
    ForgottenInTime in "torn, giving up" breaks PHANTOM;
    SuccessorForgotten in "doubled with a successor" breaks PHANTOM;
    OutcomeOfTheLast in "deletes, doubled" breaks Breach::Misreported.rule();
    OutcomeOfTheLast in "reserve, lost" breaks Breach::Misreported.rule();
    HeadKept in "local queue" breaks ONE_HEAD, RECOVERY;
    TokenFromFence in "empty restart" breaks Breach::TokenFell.rule(), FENCED;
    TokenFromFence in "failover" breaks FENCED;
    FenceByAttempt in "clock behind" breaks Breach::TokenFell.rule();
    FenceByRelease in "clock behind" breaks Breach::TokenFell.rule();
    TurnUnchecked in "turns" breaks Breach::TurnToken.rule();
    TurnUnfit in "turns of mixed ttls" breaks Breach::ShortTurn.rule();
    TurnUnfit in "turns" breaks Breach::ShortTurn.rule();
    TokenReused in "turns" breaks Breach::TurnToken.rule();
    RangeUnbounded in "turns" breaks Breach::TurnToken.rule(), Breach::Bypassed.rule();
    LeaseFromTurn in "turns" breaks DEADLINE, EXCLUSION;
    SuccessorNotEnded in "turns, giving up" breaks PHANTOM;
    NamesRemoved in "migration" breaks Breach::HalfDone.rule();
    NamesRemoved in "slot moves" breaks Breach::HalfDone.rule(), Breach::LostPlace.rule();
    MoveUnconfirmed in "lost suffix" breaks INFORMED;
    MoveUnconfirmed in "lost suffix, clock behind" breaks INFORMED;
    MoveUnconfirmed in "two primaries" breaks INFORMED;
    MoveUnconfirmed in "takeover, clock ahead" breaks INFORMED;
    RoleBelieved in "two primaries" breaks INFORMED, NOTICED;
    RetainedLate in "retained" breaks Breach::TakenLate.rule(), Breach::ShortTurn.rule();
    RetainedContended in "retained" breaks UNCONTENDED;
    RetainedForever in "retained" breaks RECOVERY;
    RetainedTorn in "retained, torn" breaks CONNECTED;
    TokenReused in "retained" breaks Breach::TurnToken.rule();
    RangeUnbounded in "retained" breaks Breach::TurnToken.rule();
    TurnUnfit in "retained, mixed ttls" breaks Breach::ShortTurn.rule();
    JoinsPastWaiters in "readers and a writer" breaks Breach::Overtook.rule();
    AbsentKeepsPlace in "readers and an absent writer" breaks LET_IN;
    DeadCountForPlace in "readers and an absent writer" breaks LET_IN;
    WriterNamesSuccessor in "readers behind two writers" breaks Breach::OneReader.rule();
    LimitIgnored in "permits" breaks EXCLUSION;
    TakeCountedAsOne in "permits" breaks COUNTED, EXCLUSION;
    RenewalKeepsExpiry in "readers, renewal" breaks AS_LONG, DEADLINE;
    JoinKeepsExpiry in "readers and a writer" breaks AS_LONG, DEADLINE, EXCLUSION;
    ExpiryNotLowered in "readers of mixed ttls" breaks AS_LONG;
    LapsedCounted in "shares, crash" breaks COUNTED;
    LapsedCounted in "permits" breaks COUNTED;
    CountedTwice in "permits, short walks" breaks COUNTED;
    SharesKept in "shares, deleted" breaks COUNTED;
    AnothersTakenOff in "readers and a writer" breaks Breach::ShareTaken.rule(), EXCLUSION;
    TakenOffTwice in "shares, doubled" breaks Breach::ShareTaken.rule(), DEADLINE;
    LastForAll in "readers and a writer" breaks Breach::ShareTaken.rule(), EXCLUSION;
    NoOwnerCompare in "readers and a writer's end" breaks EXCLUSION;
    DeadlineFromReply in "readers and a writer" breaks EXCLUSION;
    DeadlineFromReply in "permits" breaks EXCLUSION;
    EndedStaysQueued in "downgrade, torn" breaks Breach::NotEnded.rule();
    SharesNamedAgain in "shares, migration" breaks Breach::HalfDone.rule();
    DowngradeKeepsToken in "downgrade" breaks Breach::TokenFell.rule();
    DowngradeKeepsToken in "downgrade, turns" breaks Breach::TokenFell.rule();
    DowngradeAtItsTime in "two primaries, downgrade" breaks Breach::LateToken.rule();
    DowngradeAtItsTime in "two primaries, downgraded takes" breaks Breach::LateToken.rule();
    DowngradeTakes in "downgrade, deleted" breaks UNBROKEN;
    DowngradeRenewsAlone in "downgrade, lost" breaks Breach::WronglyLost.rule();
    SettleUntilAnswered in "shares, torn" breaks PHANTOM;
    ReserveKeepsOwner in "reserve" breaks MINIMUM, PHANTOM;
    ReserveEndedAgain in "reserve, lost" breaks Breach::FreedEarly.rule();
    ReserveEndedAgain in "reserve, torn" breaks Breach::FreedEarly.rule();
    ReserveHandedOver in "reserve, local queue" breaks Breach::FreedEarly.rule();
    RevokeUnseen in "revoked" breaks Breach::WronglyRevoked.rule();
    FreedPastWaiters in "takes, crash" breaks Breach::Barged.rule();
    MintForAnyone in "takes" breaks Breach::Minted.rule();
    MintAtItsTime in "two primaries, takes" breaks Breach::LateToken.rule();
    MintLowersFence in "takes, clock behind" breaks Breach::TokenFell.rule();
    TakeUnsettled in "takes, torn" breaks PHANTOM;
    RevokeForgets in "revoked, evicted" breaks Breach::TokenForgotten.rule();
    Unsorted in "several, opposite orders" breaks RECOVERY;
    LossUnnoticed in "several, one lock each" breaks Breach::OutOfOrder.rule();
    LaterUnseen in "several, torn" breaks Breach::LaterUnseen.rule();
    LeavesLeases in "several, renewal" breaks DEADLINE;
    LeavesLeases in "several, one lock each" breaks EXCLUSION;
    EarlierUnchecked in "several, one lock each" breaks EXCLUSION;
    TokenOfTheLast in "several, one lock each" breaks Breach::TokenFell.rule();
    NoOwnerCompare in "several, deleted, renewal" breaks Breach::PartRenewed.rule();
    RenewsTheFirst in "several, deleted, renewal" breaks Breach::PartRenewed.rule();
    ReleasesAPart in "several, renewal" breaks Breach::Misreported.rule();
    EndsAPart in "several, giving up" breaks PHANTOM;
};

const OF_QUORUM: Shows<OfQuorum> = shows! { OfQuorum:
    FirstToken in "quorum, two owners" breaks quorum::TOKENS_RISE;
    VotesAtOnce in "quorum, flushed" breaks quorum::EXCLUSION;
    VotesAtOnce in "quorum, restarted" breaks quorum::EXCLUSION;
    VotesAtOnce in "quorum, after a loss" breaks quorum::TOKENS_RISE;
    DelayByOwnClock in "quorum, restarted with a wrong clock" breaks quorum::EXCLUSION;
    CountOfAnother in "quorum, flushed after a loss" breaks quorum::EXCLUSION;
    YieldWithoutToken in "quorum, a break and a poll" breaks quorum::BACKED;
    FenceNotRaised in "quorum, two owners" breaks quorum::TOKENS_RISE;
    DeadlineFromReply in "quorum, slow answers" breaks quorum::BACKED;
};

/// Rules that the absence of a safety line breaks, in addition to the rule in `controls`.
const WITHOUT: Shows<SafetyLine> = shows! { SafetyLine:
    same_owner_for_each_attempt in "lost" breaks PHANTOM;
    ttl_of_the_successor in "torn, mixed ttls" breaks DEADLINE;
};

const QUORUM_WITHOUT: Shows<SafetyLine> = shows! { SafetyLine:
    token_written_back in "quorum, two owners" breaks quorum::TOKENS_RISE;
    vote_under_a_yield in "quorum, a slow answer" breaks quorum::BACKED;
    more_than_half in "quorum, two owners" breaks quorum::EXCLUSION, quorum::BACKED;
    more_than_half in "quorum, two owners for longer" breaks quorum::MAJORITY;
};

/// A test of each line of the tables, and a test that the tables contain every mistake.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![trial("every_mistake_is_tried", || {
        are_tried(Seeded::ALL, SHOWS);
        are_tried(OfQuorum::ALL, OF_QUORUM);
    })];
    trials.extend(found(SHOWS, |name, mistake| {
        configurations::named(name).with(mistake)
    }));
    trials.extend(found(WITHOUT, |name, line| {
        configurations::named(name).without(line)
    }));
    trials.extend(found(OF_QUORUM, |name, mistake| {
        of_quorum(name).with(mistake)
    }));
    trials.extend(found(QUORUM_WITHOUT, |name, line| {
        of_quorum(name).without(line)
    }));
    trials
}

fn of_quorum(name: &str) -> quorum::Quorum {
    quorum::named(name).expect("a configuration")
}

fn are_tried<M: Copy + PartialEq + std::fmt::Debug>(all: &[M], shows: Shows<M>) {
    for mistake in all {
        assert!(
            shows.iter().any(|(tried, ..)| tried == mistake),
            "{mistake:?}"
        );
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
