//! Each seeded mistake breaks a rule that callers rely on, and is found by that rule.

use lock_model::properties::{
    AS_LONG, CONNECTED, COUNTED, DEADLINE, EXCLUSION, FENCED, INFORMED, MINIMUM, NOTICED, PHANTOM,
    RECOVERY, UNBROKEN, UNCONTENDED,
};
use lock_model::{Seeded, configurations, explore_for};

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
const NOT_ENDED: &str = "an ended owner neither holds nor queues";
const WRONGLY_LOST: &str = "a renewal fails only if its owner does not have the lock";
const FREED_EARLY: &str = "no end frees a lock before its minimum is over";
const AS_SEEN: &str = "a revocation takes the grant that its operator saw, or changes nothing";
const NOT_FORGOTTEN: &str = "a revocation leaves no fence below the token that it took";
const MADE_ANEW: &str = "only an acquire makes a lock";

/// A mistake, the configuration that shows it, and the rule that it breaks there.
const SHOWS: &[(Seeded, &str, &str)] = &[
    (Seeded::NoOwnerCompare, "three clients", EXCLUSION),
    (Seeded::RenewSetsAnew, "renewal", MADE_ANEW),
    (Seeded::RemoteCount, "three clients", PHANTOM),
    (Seeded::GrantUnchecked, "three clients", EXCLUSION),
    (Seeded::DeadlineFromReply, "three clients", EXCLUSION),
    (Seeded::DeadlineFromReply, "renewal", DEADLINE),
    (Seeded::SettleUntilAnswered, "torn, giving up", PHANTOM),
    (Seeded::ProcessKeyed, "local queue", KEPT_PLACE),
    (Seeded::UnreachableDropped, "uncounted", KEPT_PLACE),
    (Seeded::RenewShortens, "renewal", SHORTENED),
    (Seeded::RenewShortens, "renewal", EXCLUSION),
    (Seeded::ForgottenInTime, "torn, giving up", PHANTOM),
    (
        Seeded::SuccessorForgotten,
        "doubled with a successor",
        PHANTOM,
    ),
    (Seeded::HeadKept, "local queue", RECOVERY),
    (Seeded::TokenFromFence, "empty restart", TOKENS_RISE),
    (Seeded::TokenFromFence, "empty restart", FENCED),
    (Seeded::TokenFromFence, "failover", FENCED),
    (Seeded::FenceByAttempt, "clock behind", TOKENS_RISE),
    (Seeded::FenceByRelease, "clock behind", TOKENS_RISE),
    (Seeded::TurnUnchecked, "turns", TOKEN_A_BODY),
    (Seeded::TurnUnfit, "turns of mixed ttls", TWO_THIRDS),
    (Seeded::TurnUnfit, "turns", TWO_THIRDS),
    (Seeded::TokenReused, "turns", TOKEN_A_BODY),
    (Seeded::RangeUnbounded, "turns", TOKEN_A_BODY),
    (Seeded::RangeUnbounded, "turns", BYPASS),
    (Seeded::LeaseFromTurn, "turns", DEADLINE),
    (Seeded::LeaseFromTurn, "turns", EXCLUSION),
    (Seeded::SuccessorNotEnded, "turns, giving up", PHANTOM),
    (Seeded::NamesRemoved, "migration", HALF_DONE),
    (Seeded::NamesRemoved, "slot moves", HALF_DONE),
    (Seeded::NamesRemoved, "slot moves", KEPT_PLACE),
    (Seeded::MoveUnconfirmed, "lost suffix", INFORMED),
    (
        Seeded::MoveUnconfirmed,
        "lost suffix, clock behind",
        INFORMED,
    ),
    (Seeded::MoveUnconfirmed, "two primaries", INFORMED),
    (Seeded::MoveUnconfirmed, "takeover, clock ahead", INFORMED),
    (Seeded::RoleBelieved, "two primaries", INFORMED),
    (Seeded::RoleBelieved, "two primaries", NOTICED),
    (Seeded::OwnerOfAnotherTtl, "torn, mixed ttls", DEADLINE),
    (Seeded::RetainedLate, "retained", IN_TIME),
    (Seeded::RetainedLate, "retained", TWO_THIRDS),
    (Seeded::RetainedContended, "retained", UNCONTENDED),
    (Seeded::RetainedForever, "retained", RECOVERY),
    (Seeded::RetainedTorn, "retained, torn", CONNECTED),
    (Seeded::TokenReused, "retained", TOKEN_A_BODY),
    (Seeded::RangeUnbounded, "retained", TOKEN_A_BODY),
    (Seeded::TurnUnfit, "retained, mixed ttls", TWO_THIRDS),
    (Seeded::JoinsPastWaiters, "readers and a writer", OVERTAKEN),
    (Seeded::LimitIgnored, "permits", EXCLUSION),
    (Seeded::TakeCountedAsOne, "permits", COUNTED),
    (Seeded::TakeCountedAsOne, "permits", EXCLUSION),
    (Seeded::RenewalKeepsExpiry, "readers, renewal", AS_LONG),
    (Seeded::RenewalKeepsExpiry, "readers, renewal", DEADLINE),
    (Seeded::JoinKeepsExpiry, "readers and a writer", AS_LONG),
    (Seeded::JoinKeepsExpiry, "readers and a writer", DEADLINE),
    (Seeded::JoinKeepsExpiry, "readers and a writer", EXCLUSION),
    (Seeded::ExpiryNotLowered, "readers of mixed ttls", AS_LONG),
    (Seeded::LapsedCounted, "shares, crash", COUNTED),
    (Seeded::LapsedCounted, "permits", COUNTED),
    (Seeded::CountedTwice, "permits, short walks", COUNTED),
    (Seeded::SharesKept, "shares, deleted", COUNTED),
    (Seeded::AnothersTakenOff, "readers and a writer", OWN_END),
    (Seeded::AnothersTakenOff, "readers and a writer", EXCLUSION),
    (Seeded::TakenOffTwice, "shares, doubled", OWN_END),
    (Seeded::TakenOffTwice, "shares, doubled", DEADLINE),
    (Seeded::LastForAll, "readers and a writer", OWN_END),
    (Seeded::LastForAll, "readers and a writer", EXCLUSION),
    (
        Seeded::NoOwnerCompare,
        "readers and a writer's end",
        EXCLUSION,
    ),
    (Seeded::DeadlineFromReply, "readers and a writer", EXCLUSION),
    (Seeded::DeadlineFromReply, "permits", EXCLUSION),
    (Seeded::EndedStaysQueued, "downgrade, torn", NOT_ENDED),
    (Seeded::SharesNamedAgain, "shares, migration", HALF_DONE),
    (Seeded::DowngradeKeepsToken, "downgrade", TOKENS_RISE),
    (Seeded::DowngradeKeepsToken, "downgrade, turns", TOKENS_RISE),
    (Seeded::DowngradeLate, "downgrade, writers", UNBROKEN),
    (
        Seeded::DowngradeRenewsAlone,
        "downgrade, lost",
        WRONGLY_LOST,
    ),
    (Seeded::SettleUntilAnswered, "shares, torn", PHANTOM),
    (Seeded::RestKeepsOwner, "rest", MINIMUM),
    (Seeded::RestKeepsOwner, "rest", PHANTOM),
    (Seeded::RestEndedAgain, "rest, lost", FREED_EARLY),
    (Seeded::RestEndedAgain, "rest, torn", FREED_EARLY),
    (Seeded::RestHandedOver, "rest, local queue", FREED_EARLY),
    (Seeded::RevokeUnseen, "revoked", AS_SEEN),
    (Seeded::RevokeForgets, "revoked, evicted", NOT_FORGOTTEN),
];

#[test]
fn every_mistake_is_found() {
    for &(mistake, name, rule) in SHOWS {
        let report = explore_for(&configurations::named(name).with(mistake), rule);
        report.expect_broken(rule, &mistake);
    }
}

#[test]
fn every_mistake_is_tried() {
    for mistake in Seeded::ALL {
        assert!(
            SHOWS.iter().any(|(tried, ..)| *tried == mistake),
            "{mistake:?}"
        );
    }
}
