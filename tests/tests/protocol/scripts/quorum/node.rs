//! One node, and the calls of its scripts. Owners are letters.

use std::sync::LazyLock;

use harness::{RawLock, RedisServer, entry, owner};
use redis::{RedisResult, Script, Value};

use super::{COUNTED_ON_MS, DELAY, TTL};

macro_rules! lua {
    ($($name:literal),+) => {
        LazyLock::new(|| Script::new(concat!($(include_str!(concat!(
            "../../../../../lock-runtime/src/backend/redis/lua/", $name, ".lua"
        ))),+)))
    };
}

static ACQUIRE: LazyLock<Script> = lua!(
    "quorum_take",
    "grant",
    "choose",
    "queue",
    "quorum_node",
    "quorum_queue",
    "quorum_acquire"
);
static CEDE: LazyLock<Script> = lua!(
    "grant",
    "choose",
    "queue",
    "quorum_node",
    "quorum_queue",
    "quorum_cede"
);
static HOLD: LazyLock<Script> = lua!("grant", "quorum_node", "quorum_hold");
static END: LazyLock<Script> = lua!("grant", "choose", "quorum_node", "quorum_end");
static REVOKE: LazyLock<Script> = lua!("grant", "choose", "quorum_node", "quorum_revoke");
static MARK: LazyLock<Script> = lua!("grant", "quorum_node", "quorum_mark");

/// What holders are told.
pub(super) const NOTICE: &str = "\u{1f}0192\u{1f}ann\u{1f}stuck\u{1f}";

pub(super) struct Node {
    pub(super) lock: RawLock,
    /// The node's marker.
    pub(super) m: String,
    pub(super) boot: String,
    /// The restart delay of the client, in ms.
    pub(super) delay: i64,
    /// Stamps and proposals of the tests count from here: the server's clock (µs) when the test began.
    pub(super) zero: i64,
}

/// What an acquire asks for.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    /// In ms; negative: without queueing.
    pub(super) ttl: i64,
    /// In µs from the node's zero.
    pub(super) stamp: i64,
    /// The proposed token, as it is sent.
    pub(super) proposal: String,
}

/// The answers of acquire, cede and hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Held {
        flag: char,
        token: i64,
        early: i64,
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
    pub(super) fn by(stamp: i64) -> Ask {
        Ask {
            ttl: TTL,
            stamp,
            proposal: "0".to_owned(),
        }
    }

    pub(super) fn ttl(self, ttl: i64) -> Ask {
        Ask { ttl, ..self }
    }

    pub(super) fn without_queueing(self) -> Ask {
        Ask {
            ttl: -self.ttl,
            ..self
        }
    }

    pub(super) fn proposing(self, proposal: impl ToString) -> Ask {
        let proposal = proposal.to_string();
        Ask { proposal, ..self }
    }
}

impl Node {
    /// `revoke` of the owner whose record begins so; a length of -1 is any.
    pub(super) fn revoke(&mut self, record: &str, length: i64, token: i64) -> RedisResult<i64> {
        let mut call = REVOKE.key(&self.lock.k);
        call.key(&self.lock.f).key(&self.lock.q);
        call.arg(record)
            .arg(length)
            .arg(token)
            .arg(self.delay)
            .arg(NOTICE);
        call.invoke(&mut self.lock.connection)
    }

    /// A node of which nothing is known.
    pub(super) fn new(server: &RedisServer) -> Node {
        let mut lock = RawLock::new(server, "order:42");
        Node {
            zero: lock.now(),
            lock,
            m: "{lock:}:n".to_owned(),
            boot: "boot-1".to_owned(),
            delay: DELAY,
        }
    }

    /// Votes count.
    pub(super) fn mark_as_voting(&mut self) {
        let till = self.zero - 1_000 * COUNTED_ON_MS;
        let marker = format!("{} {} {till:016}", self.boot, self.delay);
        let m = self.m.clone();
        let _: () = self.lock.command(&["SET", &m, &marker]);
    }

    pub(super) fn acquire(&mut self, who: char, stamp: i64) -> Reply {
        self.ask(who, &Ask::by(stamp)).expect("it is answered")
    }

    pub(super) fn ask(&mut self, who: char, ask: &Ask) -> RedisResult<Reply> {
        let stamp = (self.zero + ask.stamp).to_string();
        let (ttl, delay) = (ask.ttl.to_string(), self.delay.to_string());
        let boot = self.boot.clone();
        let arguments = [&entry(who), &ttl, &stamp, &ask.proposal, &boot, &delay];
        self.call(&ACQUIRE, &arguments)
    }

    pub(super) fn cede(&mut self, who: char, token: i64, stamp: i64) -> RedisResult<Reply> {
        let (token, stamp) = (format!("{token:016}"), (self.zero + stamp).to_string());
        let (boot, delay) = (self.boot.clone(), self.delay.to_string());
        self.call(&CEDE, &[&entry(who), &token, &stamp, &boot, &delay])
    }

    pub(super) fn hold(&mut self, who: char, ttl: i64, token: i64) -> RedisResult<Reply> {
        let (ttl, token) = (ttl.to_string(), format!("{token:016}"));
        let (boot, delay) = (self.boot.clone(), self.delay.to_string());
        self.call(&HOLD, &[&entry(who), &ttl, &token, &boot, &delay])
    }

    pub(super) fn end(&mut self, who: char, proposal: impl ToString) -> RedisResult<i64> {
        let mut call = END.key(&self.lock.k);
        call.key(&self.lock.f).key(&self.lock.q);
        call.arg(entry(who)).arg(proposal.to_string());
        call.arg(self.delay).invoke(&mut self.lock.connection)
    }

    /// Until when votes do not count (ms), and the time (µs).
    pub(super) fn mark(&mut self) -> RedisResult<(i64, i64)> {
        let mut call = MARK.key(&self.m);
        call.arg(&self.boot).arg(self.delay);
        call.invoke(&mut self.lock.connection)
    }

    fn call(&mut self, script: &Script, arguments: &[&String]) -> RedisResult<Reply> {
        let (lock, m) = (&mut self.lock, &self.m);
        let mut call = script.key(&lock.k);
        call.key(&lock.f).key(&lock.q).key(m).arg(arguments);
        call.invoke(&mut lock.connection).and_then(Reply::parse)
    }

    /// The records of the lock and of the node, to assert that none was written.
    pub(super) fn snapshot(&mut self) -> Vec<(String, Vec<u8>)> {
        super::super::snapshot(&mut self.lock)
    }

    pub(super) fn holder(&mut self) -> Option<char> {
        super::super::holder(&mut self.lock)
    }

    /// The token of K.
    pub(super) fn token(&mut self) -> i64 {
        let value = self.lock.value().expect("the lock is taken");
        value[23..39].parse().expect("digits")
    }

    /// The token of F.
    pub(super) fn fence(&mut self) -> Option<i64> {
        let fence = self.lock.fence();
        fence.map(|digits| digits.parse().expect("digits"))
    }

    /// The stamp of an entry, from the node's zero.
    pub(super) fn stamp(&mut self, who: char) -> i64 {
        let (q, entry) = (self.lock.q.clone(), entry(who));
        let stamp: i64 = self.lock.command(&["ZSCORE", &q, &entry]);
        stamp - self.zero
    }

    /// M's text.
    pub(super) fn marker(&mut self) -> Option<String> {
        let m = self.m.clone();
        self.lock.command(&["GET", &m])
    }

    /// M's last part.
    pub(super) fn till(&mut self) -> i64 {
        let marker = self.marker().expect("the node is marked");
        let (_, till) = marker.rsplit_once(' ').expect("three parts");
        till.parse().expect("digits")
    }

    pub(super) fn lose(&mut self, key: &str) {
        let deleted: i64 = self.lock.command(&["DEL", key]);
        assert_eq!(deleted, 1, "{key} was there");
    }

    pub(super) fn expire(&mut self) {
        let k = self.lock.k.clone();
        self.lose(&k);
    }
}

impl Reply {
    fn parse(value: Value) -> RedisResult<Reply> {
        let parts = match value {
            Value::Nil => return Ok(Reply::Nil),
            value => value,
        };
        let count = match &parts {
            Value::Array(parts) => parts.len(),
            other => panic!("an answer of another shape: {other:?}"),
        };
        if count == 3 {
            let (text, early, now): (String, i64, i64) = redis::from_redis_value(parts)?;
            assert_eq!(text.len(), 17, "flag and token: {text:?}");
            let flag = if text.starts_with('+') { '+' } else { ' ' };
            let token = text[1..].parse().expect("digits");
            return Ok(Reply::Held {
                flag,
                token,
                early,
                now,
            });
        }
        let (remaining, position, value, now) = redis::from_redis_value(parts)?;
        Ok(Reply::Waiting {
            remaining,
            position,
            value,
            now,
        })
    }

    #[track_caller]
    pub(super) fn token(&self) -> i64 {
        match self {
            Reply::Held { token, .. } => *token,
            other => panic!("no token in {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn flag(&self) -> char {
        match self {
            Reply::Held { flag, .. } => *flag,
            other => panic!("no flag in {other:?}"),
        }
    }

    /// For how long the vote does not count, in ms.
    #[track_caller]
    pub(super) fn early(&self) -> i64 {
        match self {
            Reply::Held { early, .. } => *early,
            other => panic!("no vote: {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn remaining(&self) -> i64 {
        match self {
            Reply::Waiting { remaining, .. } => *remaining,
            other => panic!("not waiting: {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn position(&self) -> i64 {
        match self {
            Reply::Waiting { position, .. } => *position,
            other => panic!("not waiting: {other:?}"),
        }
    }

    /// The letter of the owner that has K.
    #[track_caller]
    pub(super) fn holder(&self) -> Option<char> {
        match self {
            Reply::Waiting { value, .. } => value.chars().next(),
            other => panic!("not waiting: {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn now(&self) -> i64 {
        match self {
            Reply::Held { now, .. } | Reply::Waiting { now, .. } => *now,
            Reply::Nil => panic!("no time in nil"),
        }
    }
}

/// The value of K of `who`.
pub(super) fn value(who: char, flag: char, token: i64) -> String {
    let (owner, entry) = (owner(who), entry(who));
    format!("{owner}{flag}{token:016}{}", &entry[owner.len()..])
}
