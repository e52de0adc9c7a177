//! The steps of a sequence.

use std::time::Duration;

use harness::{Answer, RawLock, ScriptServer};
use lock_model::server::{
    Command, Fence, Lock, Mode, OwnerId, Queue, QueueEntry, Share, Shares, Value,
};
use redis::RedisResult;

use super::answer::{any, code, compare, renewal, shown};
use super::model::{Model, letter_of, owner, ticks};
use crate::scripts::{NOTICE, spoil};

/// One step; leases are in ms.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Acquire(Who, i64),
    Try(Who, i64),
    /// The plain command for a lock that is free.
    Take(Who, i64),
    /// A token for a holder that has none, and the age of its grant.
    Mint(Who, i64),
    Renew(Who, i64),
    Release(Who),
    /// Keeps the lock taken without an owner.
    Reserve(Who, i64),
    /// With the token of the record, or with another.
    Delete(Who, bool),
    End(Who),
    EndWithNext(Who, Who, i64),
    /// The end of a writer.
    EndWrite(Who),
    /// Owners that wait for the whole lock leave the queue, by the script that grants nothing.
    WritersGiveUp,
    /// A holder becomes a reader, and the age of its grant.
    Downgrade(Who, i64, i64),
    /// An operator revokes the lock of the holder, with a token this far from the record's.
    Revoke(i64),
    /// An operator revokes the lock of an owner that had no token.
    RevokeOwner(Who),
    // Effects from outside.
    TimePasses(Span),
    ClockGoesBack(Span),
    HeartIsLost(Who),
    HolderIsBackInTheQueue,
    LeaseIsLifted,
    IsLost(Record),
    IsSpoiled(Record),
    FenceBecomesText,
    StrangerTakes(Option<i64>),
    MemoryIsFull,
    MemoryIsFree,
}

/// One of the records of a lock.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Record {
    Lock,
    Fence,
    Queue,
    Shares,
}

/// An owner; the letter is used if there is no such holder or waiter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    Any(char),
    Holder(char),
    Waiter(char, usize),
    Sharer(char, usize),
}

/// Half seconds and a little. Steps end well away from expiries, which are at half seconds, also if the clock was set
/// back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span(pub(crate) u64);

impl Step {
    pub(crate) fn play(
        self,
        server: &dyn ScriptServer,
        lock: &mut RawLock,
        model: &mut Model,
    ) -> Result<(), String> {
        if let Some((command, seen)) = self.send(lock, model) {
            let expected = model.run(command);
            return match seen {
                Seen::Answer(answer) => {
                    model.shown = answer.as_ref().ok().and_then(shown);
                    compare(answer, expected, any)
                }
                Seen::Renewal(answer) => compare(answer, expected, renewal),
                Seen::Code(answer) => compare(answer, expected, code),
            };
        }
        match self {
            // The rest are steps of scripts that have nothing to send.
            Step::Take(..) | Step::EndWithNext(..) | Step::Delete(..) => Ok(()),
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
            Step::TimePasses(span) => {
                server.forward(span.forward());
                model.pass(server.time());
                Ok(())
            }
            Step::ClockGoesBack(span) => {
                server.back(span.back());
                model.pass(server.time());
                Ok(())
            }
            Step::MemoryIsFull => {
                limit_memory(lock, true);
                model.mode = Mode::OutOfMemory;
                Ok(())
            }
            Step::MemoryIsFree => {
                limit_memory(lock, false);
                model.mode = Mode::Normal;
                Ok(())
            }
            outside => {
                // Other commands need memory to write.
                if model.is_full() {
                    limit_memory(lock, false);
                }
                outside.happen(lock, model);
                if model.is_full() {
                    limit_memory(lock, true);
                }
                Ok(())
            }
        }
    }

    /// Sends the command to the server, unless this state has none. Returns it for the model, too.
    fn send(self, lock: &mut RawLock, model: &Model) -> Option<(Command, Seen)> {
        let is = |who: Who| {
            let who = who.is(model);
            (who, owner(who), model.share(who))
        };
        Some(match self {
            Step::Acquire(who, ttl) => acquire(lock, is(who), ttl),
            Step::Try(who, ttl) => acquire(lock, is(who), -ttl),
            Step::Take(who, ms) => {
                let ((who, owner, share), ttl) = (is(who), ticks(ms));
                if share.is_some() {
                    return None;
                }
                let taken = lock.take(who, ms);
                (Command::Take { owner, ttl }, Seen::Renewal(taken))
            }
            Step::Mint(who, ms) => {
                let (who, owner, _) = is(who);
                let (minted, age) = (lock.mint(who, ms), 1_000 * ms);
                (Command::Mint { owner, age }, Seen::Renewal(minted))
            }
            Step::Downgrade(who, lease, held) => {
                let ((who, owner, share), ttl) = (is(who), ticks(lease));
                let share = share.unwrap_or(Share::READ);
                let answer = lock.downgrade(who, harness_share(share), lease, held);
                let age = 1_000 * held;
                (
                    Command::Downgrade {
                        owner,
                        share,
                        ttl,
                        age,
                    },
                    Seen::Renewal(answer),
                )
            }
            Step::Renew(who, lease) => {
                let ((who, owner, share), ttl) = (is(who), ticks(lease));
                let Some(share) = share else {
                    let renewed = lock.renew(who, lease);
                    return Some((Command::Renew { owner, ttl }, Seen::Renewal(renewed)));
                };
                let renewed = lock.renew_share(who, harness_share(share), lease);
                let take = share.take;
                (
                    Command::ShareRenew { owner, take, ttl },
                    Seen::Renewal(renewed),
                )
            }
            Step::Release(who) => match is(who) {
                (who, owner, None) => (Command::Release { owner }, Seen::Code(lock.release(who))),
                (who, owner, Some(share)) => {
                    let (code, take) = (lock.release_share(who, harness_share(share)), share.take);
                    (Command::ShareRelease { owner, take }, Seen::Code(code))
                }
            },
            Step::Reserve(who, ms) => {
                let ((who, owner, _), ttl) = (is(who), ticks(ms));
                (
                    Command::Reserve { owner, ttl },
                    Seen::Code(lock.reserve(who, ms)),
                )
            }
            Step::Delete(who, with_its_token) => {
                let (who, owner, share) = is(who);
                let token = model.token().filter(|_| with_its_token).unwrap_or(1);
                if share.is_some() {
                    return None;
                }
                let answer = lock.delete(who, with_its_token);
                let code = answer.map(|is_deleted| if is_deleted { 1 } else { 2 });
                (Command::Delete { owner, token }, Seen::Code(code))
            }
            Step::End(who) | Step::EndWrite(who) => {
                let (is_writer, successor) = (matches!(self, Step::EndWrite(_)), None);
                match is(who) {
                    (who, owner, None) if is_writer => {
                        let (answer, share) = (lock.end_write(who), None);
                        (Command::ShareEnd { owner, share }, Seen::Answer(answer))
                    }
                    (who, owner, None) => (
                        Command::End { owner, successor },
                        Seen::Answer(lock.end(who)),
                    ),
                    (who, owner, Some(share)) => {
                        let answer = lock.end_share(who, harness_share(share));
                        let share = Some(share);
                        (Command::ShareEnd { owner, share }, Seen::Answer(answer))
                    }
                }
            }
            Step::EndWithNext(who, next, ttl) => {
                let ((who, owner, share), (next, next_owner, next_share)) = (is(who), is(next));
                if who == next || share.or(next_share).is_some() {
                    return None;
                }
                let answer = lock.end_with_next(who, next, ttl);
                let successor = Some((next_owner, ticks(ttl)));
                (Command::End { owner, successor }, Seen::Answer(answer))
            }
            Step::Revoke(off) => {
                let seen = model.token().unwrap_or(0) + off;
                (
                    Command::Revoke { seen },
                    Seen::Code(lock.revoke(seen, NOTICE)),
                )
            }
            Step::RevokeOwner(who) => {
                let (who, owner, _) = is(who);
                let revoked = lock.revoke_owner(who, NOTICE);
                (Command::RevokeOwner { owner }, Seen::Code(revoked))
            }
            _ => return None,
        })
    }

    /// The effects of other programs and administrators.
    fn happen(self, lock: &mut RawLock, model: &mut Model) {
        let (k, f) = (lock.k.clone(), lock.f.clone());
        let q = lock.q.clone();
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
                // An owner that shares locks queues with another entry.
                let holder = model.holder().filter(|&who| model.share(who).is_none());
                let (Some(who), Queue::Waiters { entries, .. }) =
                    (holder, &mut model.records.queue)
                else {
                    return;
                };
                let owner = owner(who);
                if !entries.is_empty() && entries.iter().all(|entry| entry.owner != owner) {
                    let range = ["ZRANGEBYSCORE", &q, "0", "+inf", "WITHSCORES"];
                    let tickets: Vec<(String, i64)> = lock.command(&range);
                    let first = (tickets[0].1 - 1).to_string();
                    let entry = harness::entry(who);
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
            Step::IsLost(record) => {
                let key = record.key(lock);
                let _: i64 = lock.command(&["DEL", &key]);
                match record {
                    Record::Lock => records.lock = None,
                    Record::Fence => records.fence = None,
                    Record::Queue => records.queue = Queue::default(),
                    Record::Shares => records.shares = None,
                }
            }
            Step::IsSpoiled(record) => {
                let key = record.key(lock);
                spoil(lock, &key);
                let (value, rest) = (Value::WrongType, None);
                match record {
                    Record::Lock => records.lock = Some(Lock { value, rest }),
                    Record::Fence => records.fence = Some(Fence::WrongType),
                    Record::Queue => records.queue = Queue::WrongType,
                    Record::Shares => records.shares = Some(Shares::WrongType),
                }
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

/// The server's answer.
enum Seen {
    Answer(RedisResult<Answer>),
    Renewal(RedisResult<Option<String>>),
    Code(RedisResult<i64>),
}

/// An acquire of the lock, or of a share; a negative ttl does not queue.
fn acquire(
    lock: &mut RawLock,
    (who, owner, share): (char, OwnerId, Option<Share>),
    signed: i64,
) -> (Command, Seen) {
    let (ttl, queue) = (ticks(signed.abs()), signed > 0);
    match share {
        None => {
            let answer = lock.acquire(who, signed);
            (Command::Acquire { owner, ttl, queue }, Seen::Answer(answer))
        }
        Some(share) => {
            let answer = lock.share(who, harness_share(share), signed);
            (
                Command::ShareAcquire {
                    owner,
                    share,
                    ttl,
                    queue,
                },
                Seen::Answer(answer),
            )
        }
    }
}

fn harness_share(share: Share) -> harness::Share {
    harness::Share::permits(share.take.into(), share.limit.into())
}

/// Makes the server refuse commands that need memory, or allow them again.
pub(crate) fn limit_memory(lock: &mut RawLock, is_full: bool) {
    let bytes = if is_full { "1" } else { "0" };
    let _: () = lock.command(&["CONFIG", "SET", "maxmemory", bytes]);
}

impl Record {
    pub(crate) fn key(self, lock: &RawLock) -> String {
        let key = match self {
            Record::Lock => &lock.k,
            Record::Fence => &lock.f,
            Record::Queue => &lock.q,
            Record::Shares => &lock.r,
        };
        key.clone()
    }
}

impl Who {
    pub(crate) fn is(self, model: &Model) -> char {
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
    pub(crate) fn forward(self) -> Duration {
        Duration::from_millis(500 * self.0 + 5)
    }

    pub(crate) fn back(self) -> Duration {
        Duration::from_millis(500 * self.0 - 5)
    }
}
