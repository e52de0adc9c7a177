//! The steps of a sequence.

use std::time::Duration;

use harness::{RawLock, RedisServer};
use lock_model::server::{Command, Fence, Lock, Mode, Queue, QueueEntry, Share, Shares, Value};
use proptest::bool::weighted;
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use proptest::sample::select;

use super::answer::{any, code, compare, renewal};
use super::model::{DEAF, LISTENING, Model, letter_of, owner, ticks};
use super::stage::NOTICE;

/// One step; leases are in ms.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Acquire(Who, i64),
    Try(Who, i64),
    Renew(Who, i64),
    Release(Who),
    /// Keeps the lock taken by no owner any more.
    Rest(Who, i64),
    /// With the token of the record, or with another.
    Delete(Who, bool),
    End(Who),
    EndWithNext(Who, Who, i64),
    /// The end of a writer.
    EndWrite(Who),
    /// Those that wait for the whole lock leave the queue, by the script that serves none.
    WritersGiveUp,
    /// A holder becomes a reader.
    Downgrade(i64),
    /// An operator takes the lock from the holder with a token so far from that of the record.
    Revoke(i64),
    // Effects from outside.
    TimePasses(Span),
    ClockGoesBack(Span),
    HeartIsLost(Who),
    HolderIsBackInTheQueue,
    LeaseIsLifted,
    LockIsLost,
    FenceIsLost,
    QueueIsLost,
    LockIsSpoiled,
    FenceIsSpoiled,
    QueueIsSpoiled,
    SharesAreLost,
    SharesAreSpoiled,
    FenceBecomesText,
    StrangerTakes(Option<i64>),
    MemoryIsFull,
    MemoryIsFree,
}

/// An owner; the letter is used if there is no such holder or waiter.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    Any(char),
    Holder(char),
    Waiter(char, usize),
    Sharer(char, usize),
}

/// Half seconds and a little. Steps end well away from expiries, which are at half seconds, forward or
/// back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span(u64);

const HOUR: u64 = 2 * 3_600;
const DAY: u64 = 2 * 86_400;

impl Step {
    /// Releases are mostly by a command if the server `deletes`.
    pub(super) fn any(deletes: bool) -> impl Strategy<Value = Step> {
        // Mostly the scripts, then time. Steps that spoil a lock are rare, since little happens after
        // them.
        prop_oneof![
            9 => (who(), ttl()).prop_map(|(who, ttl)| Step::Acquire(who, ttl)),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Try(who, ttl)),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Renew(who, ttl)),
            3 => release(deletes),
            1 => (who(), ttl()).prop_map(|(who, ttl)| Step::Rest(who, ttl)),
            1 => revoke(),
            3 => who().prop_map(Step::End),
            4 => (who(), who(), ttl()).prop_map(|(who, next, ttl)| Step::EndWithNext(who, next, ttl)),
            2 => (letter(), waiter(), ttl())
                .prop_map(|(who, next, ttl)| Step::EndWithNext(Who::Holder(who), next, ttl)),
            4 => span(&[0, 0, 1, 1, 3, 3, 4, 12, 14, 40, HOUR, DAY]).prop_map(Step::TimePasses),
            1 => outside(),
        ]
    }

    /// Steps of a lock that is shared.
    pub(super) fn any_of_shares(deletes: bool) -> impl Strategy<Value = Step> {
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
            1 => ttl().prop_map(Step::Downgrade),
            4 => revoke(),
            2 => outside_of_shares(),
        ]
    }

    pub(super) fn play(
        self,
        server: &RedisServer,
        lock: &mut RawLock,
        model: &mut Model,
    ) -> Result<(), String> {
        match self {
            Step::Acquire(who, ttl) => {
                let who = who.is(model);
                if let Some(share) = model.share(who) {
                    return share_acquire(lock, model, who, share, ttl);
                }
                let answer = lock.acquire(who, ttl);
                compare(answer, model.run(acquire(who, ttl, true)), any)
            }
            Step::Try(who, ttl) => {
                let who = who.is(model);
                if let Some(share) = model.share(who) {
                    return share_acquire(lock, model, who, share, -ttl);
                }
                let answer = lock.try_acquire(who, ttl);
                compare(answer, model.run(acquire(who, ttl, false)), any)
            }
            Step::Renew(who, ttl) => {
                let who = who.is(model);
                let (owner, lease) = (owner(who), ticks(ttl));
                if let Some(share) = model.share(who) {
                    let (take, ttl_of_share) = (share.take, lease);
                    let answer = lock.renew_share(who, harness_share(share), ttl);
                    let command = Command::ShareRenew {
                        owner,
                        take,
                        ttl: ttl_of_share,
                    };
                    return compare(answer, model.run(command), renewal);
                }
                let command = Command::Renew { owner, ttl: lease };
                compare(lock.renew(who, ttl), model.run(command), renewal)
            }
            Step::Release(who) => {
                let who = who.is(model);
                if let Some(share) = model.share(who) {
                    let (owner, take) = (owner(who), share.take);
                    let answer = lock.release_share(who, harness_share(share));
                    let command = Command::ShareRelease { owner, take };
                    return compare(answer, model.run(command), code);
                }
                let command = Command::Release { owner: owner(who) };
                compare(lock.release(who), model.run(command), code)
            }
            Step::Rest(who, ttl) => {
                let who = who.is(model);
                let (owner, lease) = (owner(who), ticks(ttl));
                let command = Command::Rest { owner, ttl: lease };
                compare(lock.rest(who, ttl), model.run(command), code)
            }
            Step::Delete(who, with_its_token) => {
                let who = who.is(model);
                if model.share(who).is_some() {
                    return Ok(());
                }
                let (owner, token) = (owner(who), model.token().filter(|_| with_its_token));
                let token = token.unwrap_or(1);
                let answer = lock.delete(who, with_its_token);
                let answer = answer.map(|is_deleted| if is_deleted { 1 } else { 2 });
                compare(answer, model.run(Command::Delete { owner, token }), code)
            }
            Step::End(who) => {
                let who = who.is(model);
                let (owner, successor) = (owner(who), None);
                if let Some(share) = model.share(who) {
                    let answer = lock.end_share(who, harness_share(share));
                    let share = Some(share);
                    return compare(answer, model.run(Command::ShareEnd { owner, share }), any);
                }
                compare(
                    lock.end(who),
                    model.run(Command::End { owner, successor }),
                    any,
                )
            }
            Step::EndWithNext(who, next, ttl) => {
                let (who, next) = (who.is(model), next.is(model));
                let is_shared = model.share(who).or(model.share(next)).is_some();
                if who == next || is_shared {
                    return Ok(());
                }
                let answer = lock.end_with_next(who, next, ttl);
                let (owner, successor) = (owner(who), Some((owner(next), ticks(ttl))));
                compare(answer, model.run(Command::End { owner, successor }), any)
            }
            Step::EndWrite(who) => {
                let who = who.is(model);
                if model.share(who).is_some() {
                    return Step::End(Who::Any(who)).play(server, lock, model);
                }
                let (owner, share) = (owner(who), None);
                let answer = lock.end_write(who);
                compare(answer, model.run(Command::ShareEnd { owner, share }), any)
            }
            Step::WritersGiveUp => {
                let entries = model.records.queue.entries().iter();
                let writers = entries.filter(|entry| entry.share.is_none());
                let writers: Vec<_> = writers.map(|entry| letter_of(entry.owner)).collect();
                for who in writers {
                    if model.holder() != Some(who) {
                        Step::End(Who::Any(who)).play(server, lock, model)?;
                    }
                }
                Ok(())
            }
            Step::Downgrade(ttl) => match model.holder() {
                Some(who) => {
                    let share = model.share(who).unwrap_or(Share::READ);
                    share_acquire(lock, model, who, share, ttl)
                }
                None => Ok(()),
            },
            Step::Revoke(off) => {
                let seen = model.token().unwrap_or(0) + off;
                let answer = lock.revoke(seen, NOTICE);
                compare(answer, model.run(Command::Revoke { seen }), code)
            }
            Step::TimePasses(span) => {
                server.forward(span.forward());
                model.pass(server.clock().now());
                Ok(())
            }
            Step::ClockGoesBack(span) => {
                server.back(span.back());
                model.pass(server.clock().now());
                Ok(())
            }
            Step::MemoryIsFull => {
                limit_memory(server, true);
                model.mode = Mode::OutOfMemory;
                Ok(())
            }
            Step::MemoryIsFree => {
                limit_memory(server, false);
                model.mode = Mode::Normal;
                Ok(())
            }
            outside => {
                // Other commands need memory to write.
                if model.is_full() {
                    limit_memory(server, false);
                }
                outside.happen(lock, model);
                if model.is_full() {
                    limit_memory(server, true);
                }
                Ok(())
            }
        }
    }

    /// The effects of other programs and administrators.
    fn happen(self, lock: &mut RawLock, model: &mut Model) {
        let (k, f) = (lock.k.clone(), lock.f.clone());
        let (q, r) = (lock.q.clone(), lock.r.clone());
        let records = &mut model.records;
        match self {
            Step::HeartIsLost(who) => {
                if records.queue == Queue::WrongType {
                    return;
                }
                let who = who.is(model);
                let _: i64 = lock.command(&["ZREM", &q, &harness::owner(who)]);
                let entries = model.records.queue.entries_mut().iter_mut();
                for entry in entries.filter(|entry| entry.owner == owner(who)) {
                    entry.live = None;
                }
            }
            // As after a failover that restores an old queue.
            Step::HolderIsBackInTheQueue => {
                let holder = records.holder().filter(|owner| owner.is_of_a_client());
                let (Some(owner), Queue::Waiters { entries, .. }) = (holder, &mut records.queue)
                else {
                    return;
                };
                if !entries.is_empty() && entries.iter().all(|entry| entry.owner != owner) {
                    let range = ["ZRANGEBYSCORE", &q, "0", "+inf", "WITHSCORES"];
                    let tickets: Vec<(String, i64)> = lock.command(&range);
                    let first = (tickets[0].1 - 1).to_string();
                    let entry = harness::entry(letter_of(owner));
                    let _: i64 = lock.command(&["ZADD", &q, &first, &entry]);
                    let (live, share) = (None, None);
                    entries.insert(0, QueueEntry { owner, live, share });
                }
            }
            Step::LeaseIsLifted => {
                let _: i64 = lock.command(&["PERSIST", &k]);
                if let Some(lock) = &mut records.lock {
                    lock.rest = None;
                }
            }
            Step::LockIsLost => {
                let _: i64 = lock.command(&["DEL", &k]);
                records.lock = None;
            }
            Step::FenceIsLost => {
                let _: i64 = lock.command(&["DEL", &f]);
                records.fence = None;
            }
            Step::QueueIsLost => {
                let _: i64 = lock.command(&["DEL", &q]);
                records.queue = Queue::default();
            }
            Step::LockIsSpoiled => {
                spoil(lock, &k);
                let (value, rest) = (Value::WrongType, None);
                records.lock = Some(Lock { value, rest });
            }
            Step::FenceIsSpoiled => {
                spoil(lock, &f);
                records.fence = Some(Fence::WrongType);
            }
            Step::QueueIsSpoiled => {
                spoil(lock, &q);
                records.queue = Queue::WrongType;
            }
            Step::SharesAreLost => {
                let _: i64 = lock.command(&["DEL", &r]);
                records.shares = None;
            }
            Step::SharesAreSpoiled => {
                spoil(lock, &r);
                records.shares = Some(Shares::WrongType);
            }
            Step::FenceBecomesText => {
                let _: () = lock.command(&["SET", &f, "text"]);
                records.fence = Some(Fence::Text);
            }
            Step::StrangerTakes(ttl) => {
                let px = ttl.map(|ttl| ttl.to_string());
                let mut words = vec!["SET", &k, "stranger", "NX"];
                words.extend(px.iter().flat_map(|px| ["PX", px]));
                let taken: Option<String> = lock.command(&words);
                if taken.is_some() {
                    let (value, rest) = (Value::Foreign, ttl.map(ticks));
                    records.lock = Some(Lock { value, rest });
                }
            }
            script => unreachable!("{script:?} is a script"),
        }
    }
}

fn acquire(who: char, ttl: i64, queue: bool) -> Command {
    Command::Acquire {
        owner: owner(who),
        ttl: ticks(ttl),
        queue,
    }
}

fn harness_share(share: Share) -> harness::Share {
    harness::Share::permits(share.take.into(), share.limit.into())
}

fn share_acquire(
    lock: &mut RawLock,
    model: &mut Model,
    who: char,
    share: Share,
    signed: i64,
) -> Result<(), String> {
    let answer = lock.share(who, harness_share(share), signed);
    let command = Command::ShareAcquire {
        owner: owner(who),
        share,
        ttl: ticks(signed.abs()),
        queue: signed > 0,
    };
    compare(answer, model.run(command), any)
}

/// Makes the server refuse commands that need memory, or allow them again.
pub(super) fn limit_memory(server: &RedisServer, is_full: bool) {
    server.config_set("maxmemory", if is_full { "1" } else { "0" });
}

impl Who {
    pub(super) fn is(self, model: &Model) -> char {
        let entries = model.records.queue.entries();
        let members = model.records.members();
        match (self, model.holder()) {
            (Who::Holder(_), Some(holder)) => holder,
            (Who::Sharer(_, place), _) if !members.is_empty() => {
                letter_of(members[place % members.len()].owner)
            }
            (Who::Waiter(_, place), _) if !entries.is_empty() => {
                letter_of(entries[place % entries.len()].owner)
            }
            (Who::Any(who) | Who::Holder(who) | Who::Waiter(who, _) | Who::Sharer(who, _), _) => {
                who
            }
        }
    }
}

impl Span {
    fn forward(self) -> Duration {
        Duration::from_millis(500 * self.0 + 5)
    }

    fn back(self) -> Duration {
        Duration::from_millis(500 * self.0 - 5)
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

pub(super) fn who() -> impl Strategy<Value = Who> {
    // Half of the owners hold or queue already, so that sequences reach the deeper branches.
    prop_oneof![
        2 => letter().prop_map(Who::Any),
        1 => letter().prop_map(Who::Holder),
        1 => waiter(),
    ]
}

/// Mostly of the holder that there is.
fn revoke() -> impl Strategy<Value = Step> {
    select(&[0, 0, 0, 15, 16, -1][..]).prop_map(Step::Revoke)
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

pub(super) fn ttl() -> impl Strategy<Value = i64> {
    select(&[500, 2_000, 10_000, 60_000][..])
}

fn span(half_seconds: &'static [u64]) -> impl Strategy<Value = Span> {
    select(half_seconds).prop_map(Span)
}

pub(super) fn outside() -> BoxedStrategy<Step> {
    prop_oneof![
        4 => span(&[1, 2, 20, 240]).prop_map(Step::ClockGoesBack),
        12 => waiter().prop_map(Step::HeartIsLost),
        20 => Just(Step::HolderIsBackInTheQueue),
        2 => Just(Step::LeaseIsLifted),
        4 => Just(Step::LockIsLost),
        2 => Just(Step::FenceIsLost),
        2 => Just(Step::QueueIsLost),
        1 => Just(Step::LockIsSpoiled),
        1 => Just(Step::FenceIsSpoiled),
        1 => Just(Step::QueueIsSpoiled),
        1 => Just(Step::FenceBecomesText),
        3 => proptest::option::of(ttl()).prop_map(Step::StrangerTakes),
        2 => Just(Step::MemoryIsFull),
        4 => Just(Step::MemoryIsFree),
    ]
    .boxed()
}

fn outside_of_shares() -> BoxedStrategy<Step> {
    prop_oneof![
        8 => Just(Step::LockIsLost),
        3 => Just(Step::SharesAreLost),
        3 => Just(Step::LockIsSpoiled),
        2 => Just(Step::FenceIsSpoiled),
        2 => Just(Step::QueueIsSpoiled),
        1 => Just(Step::SharesAreSpoiled),
        2 => Just(Step::FenceIsLost),
        2 => Just(Step::QueueIsLost),
        2 => Just(Step::MemoryIsFull),
        2 => Just(Step::MemoryIsFree),
    ]
    .boxed()
}

fn spoil(lock: &mut RawLock, key: &str) {
    let _: i64 = lock.command(&["DEL", key]);
    let _: i64 = lock.command(&["LPUSH", key, "x"]);
}
