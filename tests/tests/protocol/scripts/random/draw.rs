//! How steps are drawn.

use proptest::bool::weighted;
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use proptest::sample::select;

use super::model::{DEAF, LISTENING};
use super::step::{Record, Span, Step, Who};

const HOUR: u64 = 2 * 3_600;
const DAY: u64 = 2 * 86_400;

impl Step {
    /// If the server `deletes`, most releases use a command.
    pub(crate) fn any(deletes: bool) -> impl Strategy<Value = Step> {
        // Most steps are scripts, then time passes. Steps that damage a lock are rare, since little happens after them.
        prop_oneof![
            9 => (who(), ttl()).prop_map(|(who, ttl)| Step::Acquire(who, ttl)),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Try(who, ttl)),
            5 => (who(), ttl()).prop_map(|(who, ttl)| Step::Take(who, ttl)),
            3 => (who(), age()).prop_map(|(who, age)| Step::Mint(who, age)),
            2 => (letter(), age()).prop_map(|(who, age)| Step::Mint(Who::Holder(who), age)),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Renew(who, ttl)),
            3 => release(deletes),
            1 => (who(), ttl()).prop_map(|(who, ttl)| Step::Reserve(who, ttl)),
            1 => revoke(),
            3 => who().prop_map(Step::End),
            4 => (who(), who(), ttl()).prop_map(|(who, next, ttl)| Step::EndWithNext(who, next, ttl)),
            2 => (letter(), waiter(), ttl())
                .prop_map(|(who, next, ttl)| Step::EndWithNext(Who::Holder(who), next, ttl)),
            4 => span(&[0, 0, 1, 1, 3, 3, 4, 12, 14, 40, HOUR, DAY]).prop_map(Step::TimePasses),
            1 => outside(),
        ]
    }

    pub(crate) fn any_of_shares(deletes: bool) -> impl Strategy<Value = Step> {
        prop_oneof![
            12 => Step::any(deletes),
            14 => (who(), ttl()).prop_map(|(who, ttl)| Step::Acquire(who, ttl)),
            3 => (sharer(), ttl()).prop_map(|(who, ttl)| Step::Acquire(who, ttl)),
            4 => (letter(), ttl()).prop_map(|(who, ttl)| Step::Try(Who::Any(who), ttl)),
            3 => (sharer(), ttl()).prop_map(|(who, ttl)| Step::Renew(who, ttl)),
            2 => sharer().prop_map(Step::Release),
            3 => sharer().prop_map(Step::End),
            3 => who().prop_map(Step::EndWrite),
            3 => Just(Step::WritersGiveUp),
            3 => letter().prop_map(|who| Step::End(Who::Holder(who))),
            2 => (letter(), ttl()).prop_map(|(who, ttl)| Step::Renew(Who::Holder(who), ttl)),
            2 => letter().prop_map(|who| Step::Release(Who::Holder(who))),
            2 => letter().prop_map(|who| Step::HeartIsLost(Who::Waiter(who, 0))),
            1 => (letter(), ttl(), age()).prop_map(|(who, ttl, age)| Step::Downgrade(Who::Holder(who), ttl, age)),
            1 => (who(), ttl(), age()).prop_map(|(who, ttl, age)| Step::Downgrade(who, ttl, age)),
            4 => revoke(),
            2 => outside_of_shares(),
        ]
    }
}

fn release(deletes: bool) -> BoxedStrategy<Step> {
    let release = who().prop_map(Step::Release);
    if !deletes {
        return release.boxed();
    }
    let delete = (who(), weighted(0.75)).prop_map(|(who, its)| Step::Delete(who, its));
    prop_oneof![release, delete].boxed()
}

pub(crate) fn who() -> impl Strategy<Value = Who> {
    // Half of the letters hold or queue already, so that sequences reach the deeper branches.
    prop_oneof![
        2 => letter().prop_map(Who::Any),
        1 => letter().prop_map(Who::Holder),
        1 => waiter(),
    ]
}

/// Usually a step of the current holder.
fn revoke() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => select(&[0, 0, 0, 15, 16, -1][..]).prop_map(Step::Revoke),
        1 => who().prop_map(Step::RevokeOwner),
        1 => letter().prop_map(|who| Step::RevokeOwner(Who::Holder(who))),
    ]
}

fn waiter() -> impl Strategy<Value = Who> {
    (letter(), 0..3_usize).prop_map(|(who, place)| Who::Waiter(who, place))
}

fn sharer() -> impl Strategy<Value = Who> {
    (letter(), 0..4_usize).prop_map(|(who, place)| Who::Sharer(who, place))
}

fn letter() -> impl Strategy<Value = char> {
    let letters: Vec<char> = [LISTENING, DEAF].concat().chars().collect();
    select(letters)
}

/// How long ago a lock was taken without a token, up to more than a day.
fn age() -> impl Strategy<Value = i64> {
    select(&[0, 0, 1_000, 30_000, 100_000_000][..])
}

pub(crate) fn ttl() -> impl Strategy<Value = i64> {
    select(&[500, 2_000, 10_000, 60_000][..])
}

pub(crate) fn span(half_seconds: &'static [u64]) -> impl Strategy<Value = Span> {
    select(half_seconds).prop_map(Span)
}

pub(crate) fn outside() -> BoxedStrategy<Step> {
    prop_oneof![
        4 => span(&[1, 2, 20, 240]).prop_map(Step::ClockGoesBack),
        12 => waiter().prop_map(Step::HeartIsLost),
        20 => Just(Step::HolderIsBackInTheQueue),
        2 => Just(Step::LeaseIsLifted),
        4 => Just(Step::IsLost(Record::Lock)),
        2 => Just(Step::IsLost(Record::Fence)),
        2 => Just(Step::IsLost(Record::Queue)),
        1 => Just(Step::IsSpoiled(Record::Lock)),
        1 => Just(Step::IsSpoiled(Record::Fence)),
        1 => Just(Step::IsSpoiled(Record::Queue)),
        1 => Just(Step::FenceBecomesText),
        3 => proptest::option::of(ttl()).prop_map(Step::StrangerTakes),
        2 => Just(Step::MemoryIsFull),
        4 => Just(Step::MemoryIsFree),
    ]
    .boxed()
}

fn outside_of_shares() -> BoxedStrategy<Step> {
    prop_oneof![
        8 => Just(Step::IsLost(Record::Lock)),
        3 => Just(Step::IsLost(Record::Shares)),
        3 => Just(Step::IsSpoiled(Record::Lock)),
        2 => Just(Step::IsSpoiled(Record::Fence)),
        2 => Just(Step::IsSpoiled(Record::Queue)),
        1 => Just(Step::IsSpoiled(Record::Shares)),
        2 => Just(Step::IsLost(Record::Fence)),
        2 => Just(Step::IsLost(Record::Queue)),
        2 => Just(Step::MemoryIsFull),
        2 => Just(Step::MemoryIsFree),
    ]
    .boxed()
}
