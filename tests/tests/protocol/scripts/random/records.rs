//! What is on the server, in the words of the model.

use harness::{RawLock, owner};

use super::stage::agree;
use crate::model::{Fence, Holder, Model, Queue, Waiter};

/// Reads everything that belongs to a lock in one look.
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

/// Valkey 9.1 counts on from its last look at the clock. What is to happen at some time is never
/// nearer to a step than this.
pub(super) const COUNTED_ON_MS: i64 = 3;

/// Type, PTTL, string, and members of a sorted set.
type Record = (String, i64, String, Vec<(String, i64)>);

pub(crate) struct Records {
    lock: Record,
    fence: Record,
    queue: Record,
}

impl Records {
    pub(crate) fn read(lock: &mut RawLock) -> Records {
        let mut read = redis::cmd("EVAL");
        read.arg(READ).arg(3).arg(&[&lock.k, &lock.f, &lock.q]);
        let (lock, fence, queue) = read.query(&mut lock.connection).expect("all can be read");
        Records { lock, fence, queue }
    }

    pub(crate) fn compare(&self, model: &Model) -> Result<(), String> {
        let ms = model.now.div_euclid(1_000);
        agree(
            "lock",
            self.holder(ms, &model.holder)?,
            model.holder.clone(),
        )?;
        agree("fence", self.fence(ms, &model.fence)?, model.fence.clone())?;
        agree("queue", self.queue(ms, &model.queue)?, model.queue.clone())
    }

    fn holder(&self, ms: i64, expected: &Holder) -> Result<Holder, String> {
        let (kind, rest, value, _) = &self.lock;
        let (token, until) = match expected {
            Holder::Ours { token, until, .. } => (*token, *until),
            Holder::Foreign { until } => (0, *until),
            _ => (0, None),
        };
        let until = until_of(*rest, ms, until);
        Ok(match (kind.as_str(), value.as_str()) {
            ("none", _) => Holder::Nobody,
            ("list", _) => Holder::Spoiled,
            ("string", "stranger") => Holder::Foreign { until },
            ("string", ours) => {
                let who = letter(ours);
                let number = ours.get(23..39).and_then(|digits| digits.parse().ok());
                let number = number.ok_or_else(|| format!("no token in {ours:?}"))?;
                let flag = ours.as_bytes()[22];
                let whole = format!("{}{}{number:016} host-{who}", owner(who), char::from(flag));
                agree("value", ours, &whole)?;
                Holder::Ours {
                    who,
                    flagged: flag == b'+',
                    token: near_token(number, token),
                    until,
                }
            }
            other => return Err(format!("an unknown lock: {other:?}")),
        })
    }

    fn fence(&self, ms: i64, expected: &Fence) -> Result<Fence, String> {
        let (kind, rest, value, _) = &self.fence;
        let (token, until) = match expected {
            Fence::Token { token, until } => (*token, Some(*until)),
            _ => (0, None),
        };
        Ok(match (kind.as_str(), value.parse()) {
            ("none", _) => Fence::Absent,
            ("list", _) => Fence::Spoiled,
            ("string", Err(_)) => Fence::Unreadable,
            ("string", Ok(number)) => Fence::Token {
                token: near_token(number, token),
                until: until_of(*rest, ms, until).ok_or("a fence for ever")?,
            },
            (other, _) => return Err(format!("a fence of type {other}")),
        })
    }

    fn queue(&self, ms: i64, expected: &Queue) -> Result<Queue, String> {
        let (kind, rest, _, members) = &self.queue;
        let (waiters, until) = match expected {
            Queue::Waiters(waiters, until) => (&waiters[..], Some(*until)),
            _ => (&[][..], None),
        };
        match kind.as_str() {
            "none" => return Ok(Queue::Absent),
            "list" => return Ok(Queue::Spoiled),
            "zset" => {}
            other => return Err(format!("a queue of type {other}")),
        }
        let heart = |who: char| {
            let twin = members.iter().find(|(member, _)| *member == owner(who));
            let expected = waiters.iter().find(|waiter| waiter.who == who);
            let expected = expected.and_then(|waiter| waiter.live_until);
            twin.map(|(_, score)| near_token(-score, expected.unwrap_or_default()))
        };
        let seen: Vec<_> = members
            .iter()
            .filter(|(_, score)| *score > 0)
            .map(|(entry, _)| Waiter {
                who: letter(entry),
                live_until: heart(letter(entry)),
            })
            .collect();
        let hearts = seen.iter().filter(|waiter| waiter.live_until.is_some());
        agree("members", members.len(), seen.len() + hearts.count())?;
        let until = until_of(*rest, ms, until).ok_or("a queue for ever")?;
        Ok(Queue::Waiters(seen, until))
    }
}

/// The expected end if the server's rest may come from it.
fn until_of(rest: i64, ms: i64, expected: Option<i64>) -> Option<i64> {
    let until = (rest >= 0).then_some(ms + rest);
    match (until, expected) {
        (Some(until), Some(expected)) => Some(near(until, expected, COUNTED_ON_MS)),
        _ => until,
    }
}

/// Tokens and hearts are µs.
pub(super) fn near_token(token: i64, expected: i64) -> i64 {
    near(token, expected, COUNTED_ON_MS * 1_000)
}

/// What is `expected` where the difference does not count.
pub(super) fn near(seen: i64, expected: i64, slack: i64) -> i64 {
    if (seen - expected).abs() <= slack {
        expected
    } else {
        seen
    }
}

fn letter(text: &str) -> char {
    text.chars().next().expect("a value or an entry of ours")
}
