//! Translates the server's records for the model.

use harness::{RawLock, entry, owner};
use lock_model::server::{
    Fence, Lock, Member, Ours, OwnerId, Queue, QueueEntry, Share, Shares, Ticks, Value,
};

use super::model::{self, Model, ticks};
use super::stage::agree;

/// Reads all records of a lock in one command.
const READ: &str = "
    local records = {}
    for n, key in ipairs(KEYS) do
        local kind = redis.call('TYPE', key).ok
        records[n] = {
            kind,
            redis.call('PTTL', key),
            kind == 'string' and redis.call('GET', key) or '',
            kind == 'zset' and redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') or {},
        }
    end
    return records";

/// Valkey 9.1 counts on from its last look at the clock. Every expiry is farther than this from a step.
pub(crate) const COUNTED_ON_MS: i64 = 3;

/// A smaller number is not a token.
pub(crate) const FIRST_TOKEN: i64 = 1_000_000_000_000_000;

/// Type, PTTL, string, and members of a sorted set.
type Record = (String, i64, String, Vec<(String, i64)>);

pub(crate) struct Records {
    lock: Record,
    fence: Record,
    queue: Record,
    shares: Record,
}

impl Records {
    pub(crate) fn read(lock: &mut RawLock) -> Records {
        let mut read = redis::cmd("EVAL");
        let keys = [&lock.k, &lock.f, &lock.q, &lock.r];
        read.arg(READ).arg(keys.len()).arg(&keys);
        let all = read.query(&mut *lock.connection).expect("all can be read");
        let (lock, fence, queue, shares) = all;
        Records {
            lock,
            fence,
            queue,
            shares,
        }
    }

    pub(crate) fn compare(&self, model: &Model) -> Result<(), String> {
        let records = &model.records;
        agree("lock", self.lock(records.lock)?, records.lock)?;
        if let Some(shown) = &model.shown {
            // The caller that queues first sets the flag after it has read the value.
            let flagless = |value: &str| value.replacen('+', " ", 1);
            agree(
                "value in the answer",
                flagless(shown),
                flagless(&self.lock.2),
            )?;
        }
        agree("fence", self.fence(records.fence)?, records.fence)?;
        let queue = self.queue(model.now, &records.queue)?;
        agree("queue", &queue, &records.queue)?;
        let mut expected = records.shares.clone();
        let members = expected.iter_mut().map(Shares::members_mut);
        members.for_each(|members| members.sort_unstable());
        agree(
            "shares",
            self.shares(model.now, expected.as_ref())?,
            expected,
        )
    }

    fn lock(&self, expected: Option<Lock>) -> Result<Option<Lock>, String> {
        let (kind, rest, text, _) = &self.lock;
        let value = match (kind.as_str(), text.as_str()) {
            ("none", _) => return Ok(None),
            ("list", _) => Value::WrongType,
            ("string", "stranger") => Value::Foreign,
            ("string", text) => Value::Ours(match text.get(..6).unwrap_or_default() {
                "shared" => self::shared(text, expected)?,
                "rested" => self::reserved(text, expected)?,
                _ => self::ours(text, expected)?,
            }),
            other => return Err(format!("an unknown lock: {other:?}")),
        };
        let expected = expected.and_then(|lock| lock.rest);
        let rest = near_rest(rest_of(*rest), expected);
        Ok(Some(Lock { value, rest }))
    }

    fn fence(&self, expected: Option<Fence>) -> Result<Option<Fence>, String> {
        let (kind, rest, text, _) = &self.fence;
        let (token, until) = match expected {
            Some(Fence::Token { token, rest }) => (token, rest),
            _ => (0, None),
        };
        Ok(Some(match (kind.as_str(), text.parse()) {
            ("none", _) => return Ok(None),
            ("list", _) => Fence::WrongType,
            ("string", Err(_)) => Fence::Text,
            ("string", Ok(number)) => Fence::Token {
                token: near_token(number, token),
                rest: near_rest(rest_of(*rest), until),
            },
            (other, _) => return Err(format!("a fence of type {other}")),
        }))
    }

    fn queue(&self, now: i64, expected: &Queue) -> Result<Queue, String> {
        let (kind, rest, _, members) = &self.queue;
        match kind.as_str() {
            "none" => return Ok(Queue::default()),
            "list" => return Ok(Queue::WrongType),
            "zset" => {}
            other => return Err(format!("a queue of type {other}")),
        }
        let live = |who: char| {
            let (_, score) = members.iter().find(|(member, _)| *member == owner(who))?;
            let left = ticks((-score - now).div_euclid(1_000));
            let mut expected = expected.entries().iter();
            let expected = expected.find(|entry| entry.owner == model::owner(who));
            near_rest(Some(left), expected.and_then(|entry| entry.live))
        };
        let waiters = members.iter().filter(|(_, score)| *score > 0);
        let entries: Vec<_> = waiters
            .map(|(entry, _)| QueueEntry {
                owner: model::owner(letter(entry)),
                live: live(letter(entry)),
                share: share_of(&entry[owner('A').len()..]),
            })
            .collect();
        let hearts = entries.iter().filter(|entry| entry.live.is_some());
        agree("members", members.len(), entries.len() + hearts.count())?;
        let rest = rest_of(*rest).ok_or("a queue for ever")?;
        let expected = match expected {
            Queue::Waiters { rest, .. } => Some(*rest),
            Queue::WrongType => None,
        };
        let rest = near_rest(Some(rest), expected).unwrap_or(rest);
        Ok(Queue::Waiters { entries, rest })
    }
}

impl Records {
    fn shares(&self, now: i64, expected: Option<&Shares>) -> Result<Option<Shares>, String> {
        let (kind, rest, _, members) = &self.shares;
        match kind.as_str() {
            "none" => return Ok(None),
            "list" => return Ok(Some(Shares::WrongType)),
            "zset" => {}
            other => return Err(format!("shares of type {other}")),
        }
        let (known, until) = match expected {
            Some(Shares::Counted { members, rest, .. }) => (&members[..], Some(*rest)),
            _ => (&[][..], None),
        };
        let sum = members.iter().find(|(member, _)| member == "=");
        let sum = -sum.ok_or("shares without a sum")?.1;
        let owners = members.iter().filter(|(member, _)| member != "=");
        let mut members: Vec<_> = owners
            .map(|(member, ends)| {
                let owner = model::owner(letter(member));
                let take = member
                    .split_once('*')
                    .map(|(_, take)| take.parse().expect("digits"));
                let left = ticks((ends - now).div_euclid(1_000));
                let known = known.iter().find(|known| known.owner == owner);
                let rest = near_rest(Some(left), known.map(|known| known.rest)).unwrap_or(left);
                Member {
                    owner,
                    take: take.unwrap_or(1),
                    rest,
                }
            })
            .collect();
        members.sort_unstable();
        let rest = rest_of(*rest).ok_or("shares for ever")?;
        let rest = near_rest(Some(rest), until).unwrap_or(rest);
        let sum = i32::try_from(sum).map_err(|error| error.to_string())?;
        Ok(Some(Shares::Counted { members, sum, rest }))
    }
}

/// A value that a script wrote for several owners.
fn shared(text: &str, expected: Option<Lock>) -> Result<Ours, String> {
    let digits = text.get(6..22).filter(|_| text.len() > 39);
    let number = digits.and_then(|digits| digits.parse().ok());
    let number = number.ok_or_else(|| format!("no token in {text:?}"))?;
    let flagged = text.as_bytes()[22] == b'+';
    let (flag, label) = (if flagged { '+' } else { ' ' }, &text[39..]);
    agree("label", &label[..label.len() - 1], " shared: host-")?;
    agree(
        "value",
        text,
        &format!("shared{number:016}{flag}{number:016}{label}"),
    )?;
    Ok(Ours {
        owner: OwnerId::PHASE,
        flagged,
        token: token_near(number, expected),
        count: 0,
        share: None,
    })
}

/// A value that a script wrote for an owner, whose lock was reserved.
fn reserved(text: &str, expected: Option<Lock>) -> Result<Ours, String> {
    let token = text.get(23..39).ok_or("no token")?;
    agree("name", &text[6..22], token)?;
    let who = text.chars().last().expect("a label ends in the letter");
    let ours = ours(&format!("{}{}", owner(who), &text[22..]), expected)?;
    Ok(Ours {
        owner: OwnerId::RESERVED,
        ..ours
    })
}

/// The share in the remainder of an entry.
fn share_of(rest: &str) -> Option<Share> {
    let (take, limit) = rest.split('\u{1f}').nth(1)?.split_once('/')?;
    let (take, limit) = (take.parse().ok()?, limit.parse().ok()?);
    Some(Share { take, limit })
}

/// A value that a script wrote for one owner.
fn ours(text: &str, expected: Option<Lock>) -> Result<Ours, String> {
    let who = letter(text);
    let number = text.get(23..39).and_then(|digits| digits.parse().ok());
    let number = number.ok_or_else(|| format!("no token in {text:?}"))?;
    let flagged = text.as_bytes()[22] == b'+';
    let flag = if flagged { '+' } else { ' ' };
    let share = share_of(&text[39..]);
    let entry = match share {
        Some(Share { take, limit }) => {
            harness::Share::permits(take.into(), limit.into()).entry(who)
        }
        None => entry(who),
    };
    let label = &entry[owner(who).len()..];
    let whole = format!("{}{flag}{number:016}{label}", owner(who));
    agree("value", text, &whole)?;
    Ok(Ours {
        owner: model::owner(who),
        flagged,
        token: token_near(number, expected),
        count: 0,
        share,
    })
}

/// The model has zero for a number that is not a token.
fn token_near(number: i64, expected: Option<Lock>) -> i64 {
    let number = minted(number);
    match expected.map(|lock| lock.value) {
        Some(Value::Ours(Ours { token, .. })) => near_token(number, token),
        _ => number,
    }
}

/// PTTL is −1 for a key that does not expire.
fn rest_of(pttl: i64) -> Option<Ticks> {
    (pttl >= 0).then(|| ticks(pttl))
}

/// The expected time if it agrees with the server's. Heartbeats are in µs there, which adds one rounding.
pub(crate) fn near_rest(rest: Option<Ticks>, expected: Option<Ticks>) -> Option<Ticks> {
    let seen = rest.map(i64::from).zip(expected.map(i64::from));
    let is_near = seen.is_some_and(|(rest, expected)| (rest - expected).abs() <= COUNTED_ON_MS + 1);
    if is_near { expected } else { rest }
}

/// A number in a record, or zero if it is not a token.
pub(crate) fn minted(number: i64) -> i64 {
    if number < FIRST_TOKEN { 0 } else { number }
}

/// The expected token if it agrees with the server's. Tokens are in µs.
pub(crate) fn near_token(token: i64, expected: i64) -> i64 {
    let is_near = (token - expected).abs() <= COUNTED_ON_MS * 1_000;
    if is_near { expected } else { token }
}

fn letter(text: &str) -> char {
    text.chars().next().expect("a value or an entry of ours")
}
