//! One node, and the calls of its scripts. Owners are letters.

use std::sync::LazyLock;

use harness::{RawLock, ScriptServer, entry, owner};
use redis::{RedisResult, Script, Value};

use super::super::{NOTICE, sources};
use super::{DELAY, TTL};

static ACQUIRE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::QUORUM_ACQUIRE));
static YIELD: LazyLock<Script> = LazyLock::new(|| Script::new(sources::QUORUM_YIELD));
static HOLD: LazyLock<Script> = LazyLock::new(|| Script::new(sources::QUORUM_HOLD));
static END: LazyLock<Script> = LazyLock::new(|| Script::new(sources::QUORUM_END));
static REVOKE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::QUORUM_REVOKE));
static MARK: LazyLock<Script> = LazyLock::new(|| Script::new(sources::QUORUM_MARK));

pub(crate) struct Node {
    pub(crate) lock: RawLock,
    /// The node's marker.
    pub(crate) m: String,
    pub(crate) boot: String,
    /// The restart delay of the client, in ms.
    pub(crate) delay: i64,
    /// Stamps and proposals of the tests count from here: the server's clock (µs) when the test began.
    pub(crate) zero: i64,
}

/// The parameters of an acquire.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// In ms; negative: without queueing.
    pub(crate) ttl: i64,
    /// In µs from the node's zero.
    pub(crate) stamp: i64,
    /// The proposed token, as it is sent.
    pub(crate) proposal: String,
}

/// The answers of acquire, yield and hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Held {
        flag: char,
        token: i64,
        now: i64,
    },
    /// The node does not vote for this long (ms).
    Early {
        left: i64,
        now: i64,
    },
    Waiting {
        remaining: i64,
        position: i64,
        value: String,
        now: i64,
    },
    /// `hold`: another owner has K.
    Nil,
}

impl Ask {
    /// A lease of [`TTL`] without a proposal.
    pub(crate) fn by(stamp: i64) -> Ask {
        Ask {
            ttl: TTL,
            stamp,
            proposal: "0".to_owned(),
        }
    }

    pub(crate) fn ttl(self, ttl: i64) -> Ask {
        Ask { ttl, ..self }
    }

    pub(crate) fn proposing(self, proposal: impl ToString) -> Ask {
        let proposal = proposal.to_string();
        Ask { proposal, ..self }
    }
}

impl Node {
    /// `revoke` of the owner whose record begins like this; a length of -1 matches any.
    pub(crate) fn revoke(&mut self, record: &str, length: i64, token: i64) -> RedisResult<i64> {
        let mut call = REVOKE.key(&self.lock.k);
        call.key(&self.lock.f).key(&self.lock.q).key(&self.m);
        call.arg(record)
            .arg(length)
            .arg(token)
            .arg(&self.boot)
            .arg(self.delay)
            .arg(NOTICE);
        call.invoke(&mut *self.lock.connection)
    }

    /// A node without any records.
    pub(crate) fn new(server: &dyn ScriptServer, name: &str) -> Node {
        let mut lock = RawLock::new(server, name);
        Node {
            zero: lock.now(),
            lock,
            m: "{lock:}:n".to_owned(),
            boot: "boot-1".to_owned(),
            delay: DELAY,
        }
    }

    /// The node votes.
    pub(crate) fn mark_as_voting(&mut self) {
        let marker = format!("{} {}", self.boot, self.delay);
        let m = self.m.clone();
        let _: () = self.lock.command(&["SET", &m, &marker]);
    }

    pub(crate) fn ask(&mut self, who: char, ask: &Ask) -> RedisResult<Reply> {
        let stamp = (self.zero + ask.stamp).to_string();
        let (ttl, delay) = (ask.ttl.to_string(), self.delay.to_string());
        let boot = self.boot.clone();
        let arguments = [&entry(who), &ttl, &stamp, &ask.proposal, &boot, &delay];
        self.call(&ACQUIRE, &arguments)
    }

    pub(crate) fn yielding(&mut self, who: char, token: i64, stamp: i64) -> RedisResult<Reply> {
        let (token, stamp) = (format!("{token:016}"), (self.zero + stamp).to_string());
        let (boot, delay) = (self.boot.clone(), self.delay.to_string());
        self.call(&YIELD, &[&entry(who), &token, &stamp, &boot, &delay])
    }

    pub(crate) fn hold(&mut self, who: char, ttl: i64, token: i64) -> RedisResult<Reply> {
        let (ttl, token) = (ttl.to_string(), format!("{token:016}"));
        let (boot, delay) = (self.boot.clone(), self.delay.to_string());
        self.call(&HOLD, &[&entry(who), &ttl, &token, &boot, &delay])
    }

    pub(crate) fn end(&mut self, who: char, proposal: impl ToString) -> RedisResult<i64> {
        let mut call = END.key(&self.lock.k);
        call.key(&self.lock.f).key(&self.lock.q).key(&self.m);
        call.arg(entry(who)).arg(proposal.to_string());
        call.arg(&self.boot).arg(self.delay);
        call.invoke(&mut *self.lock.connection)
    }

    /// Marks the node, with the name of a new count, and the name and time (ms) of the count that the client knows.
    pub(crate) fn mark(&mut self, new: &str, (known, waited): (&str, i64)) -> RedisResult<Marked> {
        let mut call = MARK.key(&self.m);
        call.arg(&self.boot).arg(self.delay);
        call.arg(new).arg(known).arg(waited);
        let parts: Vec<Value> = call.invoke(&mut *self.lock.connection)?;
        let mut parts = parts.into_iter();
        let (left, now) = (parts.next(), parts.next());
        let number = |part: Option<Value>| redis::from_redis_value(part.expect("two numbers"));
        let (left, now) = (number(left)?, number(now)?);
        let count = parts.next().map(redis::from_redis_value).transpose()?;
        let waited = parts.next().map(redis::from_redis_value).transpose()?;
        let count = count.zip(waited);
        Ok(Marked { left, now, count })
    }

    fn call(&mut self, script: &Script, arguments: &[&String]) -> RedisResult<Reply> {
        let (lock, m) = (&mut self.lock, &self.m);
        let mut call = script.key(&lock.k);
        call.key(&lock.f).key(&lock.q).key(m).arg(arguments);
        call.invoke(&mut *lock.connection).and_then(Reply::parse)
    }

    /// The stamp of an entry, from the node's zero.
    pub(crate) fn stamp(&mut self, who: char) -> i64 {
        let (q, entry) = (self.lock.q.clone(), entry(who));
        let stamp: i64 = self.lock.command(&["ZSCORE", &q, &entry]);
        stamp - self.zero
    }

    /// M's text.
    pub(crate) fn marker(&mut self) -> Option<String> {
        let m = self.m.clone();
        self.lock.command(&["GET", &m])
    }
}

/// The answer of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    /// How long the node will not vote (ms).
    pub(crate) left: i64,
    /// The time (µs).
    pub(crate) now: i64,
    /// The name of its count, and how long that has run (ms).
    pub(crate) count: Option<(String, i64)>,
}

impl Reply {
    /// The server's clock (µs), if the answer has it.
    pub(crate) fn now(&self) -> Option<i64> {
        match self {
            Reply::Held { now, .. } | Reply::Early { now, .. } | Reply::Waiting { now, .. } => {
                Some(*now)
            }
            Reply::Nil => None,
        }
    }

    fn parse(value: Value) -> RedisResult<Reply> {
        let parts = match value {
            Value::Nil => return Ok(Reply::Nil),
            value => value,
        };
        let (count, is_early) = match &parts {
            Value::Array(parts) => (parts.len(), matches!(parts[0], Value::Int(_))),
            other => panic!("an answer of another shape: {other:?}"),
        };
        if count == 2 && is_early {
            let (left, now) = redis::from_redis_value(parts)?;
            return Ok(Reply::Early { left, now });
        }
        if count == 2 {
            let (text, now): (String, i64) = redis::from_redis_value(parts)?;
            assert_eq!(text.len(), 17, "flag and token: {text:?}");
            let flag = if text.starts_with('+') { '+' } else { ' ' };
            let token = text[1..].parse().expect("digits");
            return Ok(Reply::Held { flag, token, now });
        }
        let (remaining, position, value, now) = redis::from_redis_value(parts)?;
        Ok(Reply::Waiting {
            remaining,
            position,
            value,
            now,
        })
    }
}

/// The value of K of `who`.
pub(crate) fn value(who: char, flag: char, token: i64) -> String {
    let (owner, entry) = (owner(who), entry(who));
    format!("{owner}{flag}{token:016}{}", &entry[owner.len()..])
}
