//! The steps of a sequence.

use std::time::Duration;

use harness::{Answer, RawLock, RedisServer, entry, owner};
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use proptest::sample::select;

use super::answer::{compare, compare_renewal};
use crate::model::{DEAF, Fence, Holder, LISTENING, Model, Queue, Waiter};

/// One step; leases are in ms.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Acquire(Who, i64),
    Try(Who, i64),
    Renew(Who, i64),
    Release(Who),
    End(Who),
    EndWithNext(Who, Who, i64),
    // What happens from outside.
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
    FenceBecomesText,
    StrangerTakes(Option<i64>),
}

/// An owner: the letter, where there is no holder or waiter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    Any(char),
    Holder(char),
    Waiter(char, usize),
}

/// Half seconds and a little: steps end well away from the ends of what lives for half seconds, be
/// they forward or back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span(u64);

const DAY: u64 = 2 * 86_400;

impl Step {
    pub(crate) fn any() -> impl Strategy<Value = Step> {
        // Mostly the scripts, then time; what spoils a lock is rare, since little happens then.
        prop_oneof![
            9 => (who(), ttl()).prop_map(|(who, ttl)| Step::Acquire(who, ttl)),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Try(who, ttl)),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Renew(who, ttl)),
            3 => who().prop_map(Step::Release),
            3 => who().prop_map(Step::End),
            4 => (who(), who(), ttl()).prop_map(|(who, next, ttl)| Step::EndWithNext(who, next, ttl)),
            4 => span(&[0, 0, 1, 1, 3, 3, 4, 12, 14, 40, DAY]).prop_map(Step::TimePasses),
            1 => outside(),
        ]
    }

    pub(crate) fn play(
        self,
        server: &RedisServer,
        lock: &mut RawLock,
        model: &mut Model,
    ) -> Result<(), String> {
        let (answer, expected) = match self {
            Step::Acquire(who, ttl) => {
                let who = who.is(model);
                (lock.acquire(who, ttl), model.acquire(who, ttl, true))
            }
            Step::Try(who, ttl) => {
                let who = who.is(model);
                (lock.try_acquire(who, ttl), model.acquire(who, ttl, false))
            }
            Step::Renew(who, ttl) => {
                let who = who.is(model);
                return compare_renewal(lock.renew(who, ttl), model.renew(who, ttl));
            }
            Step::Release(who) => {
                let who = who.is(model);
                (lock.release(who).map(Answer::Code), model.release(who))
            }
            Step::End(who) => {
                let who = who.is(model);
                (lock.end(who), model.end(who, None))
            }
            Step::EndWithNext(who, next, ttl) => {
                let (who, next) = (who.is(model), next.is(model));
                if who == next {
                    return Ok(());
                }
                let answer = lock.end_with_next(who, next, ttl);
                (answer, model.end(who, Some((next, ttl))))
            }
            outside => {
                outside.happen(server, lock, model);
                return Ok(());
            }
        };
        compare(answer, expected)
    }

    /// What time, strangers and administrators do.
    fn happen(self, server: &RedisServer, lock: &mut RawLock, model: &mut Model) {
        let (k, f, q) = (lock.k.clone(), lock.f.clone(), lock.q.clone());
        match self {
            Step::TimePasses(span) => {
                server.forward(span.forward());
                model.pass(server.clock().now());
            }
            Step::ClockGoesBack(span) => {
                server.back(span.back());
                model.pass(server.clock().now());
            }
            Step::HeartIsLost(who) => {
                let who = who.is(model);
                if let Queue::Waiters(waiters, _) = &mut model.queue {
                    let _: i64 = lock.command(&["ZREM", &q, &owner(who)]);
                    for waiter in waiters.iter_mut().filter(|waiter| waiter.who == who) {
                        waiter.live_until = None;
                    }
                }
            }
            // As after a failover that brings back an old queue.
            Step::HolderIsBackInTheQueue => {
                let (Holder::Ours { who, .. }, Queue::Waiters(waiters, _)) =
                    (&model.holder, &mut model.queue)
                else {
                    return;
                };
                if waiters.iter().all(|waiter| waiter.who != *who) {
                    let range = ["ZRANGEBYSCORE", &q, "0", "+inf", "WITHSCORES"];
                    let tickets: Vec<(String, i64)> = lock.command(&range);
                    let first = (tickets[0].1 - 1).to_string();
                    let _: i64 = lock.command(&["ZADD", &q, &first, &entry(*who)]);
                    let heartless = Waiter {
                        who: *who,
                        live_until: None,
                    };
                    waiters.insert(0, heartless);
                }
            }
            Step::LeaseIsLifted => {
                let _: i64 = lock.command(&["PERSIST", &k]);
                if let Holder::Ours { until, .. } | Holder::Foreign { until } = &mut model.holder {
                    *until = None;
                }
            }
            Step::LockIsLost => {
                let _: i64 = lock.command(&["DEL", &k]);
                model.holder = Holder::Nobody;
            }
            Step::FenceIsLost => {
                let _: i64 = lock.command(&["DEL", &f]);
                model.fence = Fence::Absent;
            }
            Step::QueueIsLost => {
                let _: i64 = lock.command(&["DEL", &q]);
                model.queue = Queue::Absent;
            }
            Step::LockIsSpoiled => {
                spoil(lock, &k);
                model.holder = Holder::Spoiled;
            }
            Step::FenceIsSpoiled => {
                spoil(lock, &f);
                model.fence = Fence::Spoiled;
            }
            Step::QueueIsSpoiled => {
                spoil(lock, &q);
                model.queue = Queue::Spoiled;
            }
            Step::FenceBecomesText => {
                let _: () = lock.command(&["SET", &f, "text"]);
                model.fence = Fence::Unreadable;
            }
            Step::StrangerTakes(ttl) => {
                let ttl = ttl.map(|ttl| ttl.to_string());
                let mut words = vec!["SET", &k, "stranger", "NX"];
                words.extend(ttl.iter().flat_map(|ttl| ["PX", ttl]));
                let taken: Option<String> = lock.command(&words);
                if taken.is_some() {
                    let ms = model.now.div_euclid(1_000);
                    let until = ttl.map(|ttl| ms + ttl.parse::<i64>().expect("it was a number"));
                    model.holder = Holder::Foreign { until };
                }
            }
            script => unreachable!("{script:?} is a script"),
        }
    }
}

impl Who {
    fn is(self, model: &Model) -> char {
        match (self, &model.holder, &model.queue) {
            (Who::Holder(_), Holder::Ours { who, .. }, _) => *who,
            (Who::Waiter(_, place), _, Queue::Waiters(waiters, _)) => {
                waiters[place % waiters.len()].who
            }
            (Who::Any(who) | Who::Holder(who) | Who::Waiter(who, _), _, _) => who,
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

fn who() -> impl Strategy<Value = Who> {
    // Half of them play a part already, so that it is no matter of luck to get anywhere.
    prop_oneof![
        2 => letter().prop_map(Who::Any),
        1 => letter().prop_map(Who::Holder),
        1 => waiter(),
    ]
}

fn waiter() -> impl Strategy<Value = Who> {
    (letter(), 0..3_usize).prop_map(|(who, place)| Who::Waiter(who, place))
}

fn letter() -> impl Strategy<Value = char> {
    let letters: Vec<char> = [LISTENING, DEAF].concat().chars().collect();
    select(letters)
}

fn ttl() -> impl Strategy<Value = i64> {
    select(&[500, 2_000, 10_000, 60_000][..])
}

fn span(half_seconds: &'static [u64]) -> impl Strategy<Value = Span> {
    select(half_seconds).prop_map(Span)
}

fn outside() -> BoxedStrategy<Step> {
    prop_oneof![
        4 => span(&[1, 2, 20, 240]).prop_map(Step::ClockGoesBack),
        12 => waiter().prop_map(Step::HeartIsLost),
        4 => Just(Step::HolderIsBackInTheQueue),
        2 => Just(Step::LeaseIsLifted),
        4 => Just(Step::LockIsLost),
        2 => Just(Step::FenceIsLost),
        2 => Just(Step::QueueIsLost),
        1 => Just(Step::LockIsSpoiled),
        1 => Just(Step::FenceIsSpoiled),
        1 => Just(Step::QueueIsSpoiled),
        1 => Just(Step::FenceBecomesText),
        3 => proptest::option::of(ttl()).prop_map(Step::StrangerTakes),
    ]
    .boxed()
}

fn spoil(lock: &mut RawLock, key: &str) {
    let _: i64 = lock.command(&["DEL", key]);
    let _: i64 = lock.command(&["LPUSH", key, "x"]);
}
