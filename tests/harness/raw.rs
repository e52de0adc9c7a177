//! The scripts themselves, one call each, without client logic.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use redis::{ConnectionLike, RedisResult, Script, Value};

use crate::ask;
use crate::script_server::ScriptServer;
use crate::sources;
use crate::worker::Worker;

/// `acquire`, as a client sends it.
pub static ACQUIRE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::ACQUIRE));
static RENEW: LazyLock<Script> = LazyLock::new(|| Script::new(sources::RENEW));
/// `release`, as a client sends it.
pub static RELEASE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::RELEASE));
/// `reserve`, of one lock or of several.
pub(crate) static RESERVE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::RESERVE));

/// A day, in the sources.
const DAY_MS: &str = "86400000";

/// A script with this retention of fences, as a client sends it.
pub(crate) fn remembering(source: &'static str, memory_ms: i32) -> Arc<Script> {
    static ALL: Mutex<BTreeMap<(&str, i32), Arc<Script>>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || Arc::new(Script::new(&source.replace(DAY_MS, &memory_ms.to_string())));
    all.entry((source, memory_ms)).or_insert_with(make).clone()
}

/// One lock seen through the scripts. Each owner is a letter and its own process.
#[allow(
    missing_debug_implementations,
    reason = "a redis-rs connection has no Debug"
)]
pub struct RawLock {
    /// The connection for commands that are not scripts.
    pub connection: Box<dyn ConnectionLike + Send>,
    /// The lock's key.
    pub k: String,
    pub f: String,
    pub q: String,
    pub r: String,
    /// The fence retention of each owner in ms. A day, unless it is set.
    pub memory_of: fn(char) -> i32,
}

/// The answers of `acquire` and `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The caller (or, from `end`, the `next` one) holds the lock.
    Held {
        /// Whether a waiter queues, according to the script.
        flag: char,
        token: String,
    },
    Waiting {
        /// PTTL of the key in ms; −1 when it never expires.
        remaining: i64,
        /// Place in the queue, 1 at its head; 0 outside of it.
        position: i64,
        value: String,
        /// The shares of the lock, if the script was asked for them.
        counted: Option<Counted>,
    },
    /// One of the numbers of `end`.
    Code(i64),
}

/// The shares of a lock, as a waiter sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    pub owners: i64,
    pub taken: i64,
    /// How long the lock has been shared, in ms.
    pub age: i64,
}

/// The server's command to compare and delete, and the words between its key and the value; none if
/// the server has no such command.
pub fn deletion(connection: &mut dyn ConnectionLike) -> Option<&'static [&'static str]> {
    [&["DELIFEQ"][..], &["DELEX", "IFEQ"]]
        .into_iter()
        .find(|words| {
            let known: Vec<Value> = ask(connection, &["COMMAND", "INFO", words[0]]);
            known != [Value::Nil]
        })
}

/// The name of the command that releases an uncontended lock.
pub fn release_command(connection: &mut dyn ConnectionLike) -> &'static str {
    deletion(connection).map_or("EVALSHA", |words| words[0])
}

/// The 22 characters of owner `who`.
pub fn owner(who: char) -> String {
    String::from(who).repeat(22)
}

/// Owner `who` with its label.
pub fn entry(who: char) -> String {
    format!("{} host-{who}", owner(who))
}

impl RawLock {
    /// The lock `name` on `server`.
    pub fn new(server: &dyn ScriptServer, name: &str) -> Self {
        Self::on(server.connect(), name)
    }

    /// The lock `name`, over this connection.
    pub fn on(connection: Box<dyn ConnectionLike + Send>, name: &str) -> Self {
        let k = format!("lock:{name}");
        let has_tag = name.contains('{');
        let [f, q, r] = ["f", "w", "r"].map(|suffix| {
            if has_tag {
                format!("{k}:{suffix}")
            } else {
                format!("{{{k}}}:{suffix}")
            }
        });
        Self {
            connection,
            k,
            f,
            q,
            r,
            memory_of: |_| 86_400_000,
        }
    }

    /// `acquire`, queueing if the lock is taken.
    pub fn acquire(&mut self, who: char, ttl: i64) -> RedisResult<Answer> {
        self.run(
            (sources::ACQUIRE, who),
            "kfq",
            &[&entry(who), &ttl.to_string()],
        )
    }

    /// `acquire` without queueing.
    pub fn try_acquire(&mut self, who: char, ttl: i64) -> RedisResult<Answer> {
        self.acquire(who, -ttl)
    }

    /// A client's first command for a lock that is usually free: flag and number of the record,
    /// which is not a token, or none if the lock is taken.
    pub fn take(&mut self, who: char, ttl: i64) -> RedisResult<Option<String>> {
        let (owner, entry) = (owner(who), entry(who));
        // In place of the client's time in ms.
        let number = format!(" {:016}", self.now() / 1_000);
        let record = format!("{owner}{number}{}", &entry[owner.len()..]);
        let mut set = redis::cmd("SET");
        set.arg(&self.k).arg(record).arg("NX").arg("PX").arg(ttl);
        let taken: Option<String> = set.query(&mut *self.connection)?;
        Ok(taken.map(|_| number))
    }

    /// `mint`, so long after the grant (ms): flag and token, or none if the lock is not `who`'s.
    pub fn mint(&mut self, who: char, age: i64) -> RedisResult<Option<String>> {
        let script = remembering(sources::MINT, (self.memory_of)(who));
        let granted_at = self.now() - 1_000 * age;
        self.call(&script, "kfq", &[&owner(who), &granted_at.to_string()])
    }

    /// `renew`: flag and token, or none if the lock is not `who`'s.
    pub fn renew(&mut self, who: char, ttl: i64) -> RedisResult<Option<String>> {
        self.call(&RENEW, "k", &[&owner(who), &ttl.to_string()])
    }

    pub fn release(&mut self, who: char) -> RedisResult<i64> {
        self.call(&RELEASE, "k", &[&owner(who)])
    }

    pub fn reserve(&mut self, who: char, ms: i64) -> RedisResult<i64> {
        self.call(&RESERVE, "k", &[&owner(who), &ms.to_string()])
    }

    /// Whether the server has a command that compares and deletes.
    pub fn can_delete(&mut self) -> bool {
        deletion(&mut *self.connection).is_some()
    }

    /// A client's release on a server that compares and deletes, with the token of the record or
    /// with another. Returns whether the lock was deleted.
    pub fn delete(&mut self, who: char, with_its_token: bool) -> RedisResult<bool> {
        let words = deletion(&mut *self.connection).expect("the server has such a command");
        let k = self.k.clone();
        let value: Vec<u8> = redis::cmd("GET").arg(&k).query(&mut *self.connection)?;
        let token = match value.get(23..39) {
            Some(token) if with_its_token => str::from_utf8(token).unwrap_or("?"),
            _ => "0000000000000001",
        };
        let (owner, entry) = (owner(who), entry(who));
        let record = format!("{owner} {token}{}", &entry[owner.len()..]);
        let mut command = redis::cmd(words[0]);
        command.arg(&k).arg(&words[1..]).arg(record);
        command.query(&mut *self.connection)
    }

    /// `end` without a next owner.
    pub fn end(&mut self, who: char) -> RedisResult<Answer> {
        self.run((sources::END, who), "kfq", &[&entry(who)])
    }

    /// `end` with the next owner of the same process.
    pub fn end_with_next(&mut self, who: char, next: char, ttl: i64) -> RedisResult<Answer> {
        let next = [&entry(who), &*entry(next), &ttl.to_string()];
        self.run((sources::END, who), "kfq", &next)
    }

    /// Runs a command that must succeed: `command(&["GET", "x"])`.
    #[track_caller]
    pub fn command<T: redis::FromRedisValue>(&mut self, words: &[&str]) -> T {
        ask(&mut *self.connection, words)
    }

    /// Deletes the lock's record.
    #[track_caller]
    pub fn delete_record(&mut self) {
        let deleted: i64 = ask(&mut *self.connection, &["DEL", &self.k]);
        assert_eq!(deleted, 1, "there was no record");
    }

    pub fn value(&mut self) -> Option<String> {
        ask(&mut *self.connection, &["GET", &self.k])
    }

    /// The rest of the lease in ms; −1 means no expiry, −2 no lock.
    pub fn pttl(&mut self) -> i64 {
        ask(&mut *self.connection, &["PTTL", &self.k])
    }

    /// A moment before which the current lease cannot end.
    pub fn lease_end(&mut self) -> Instant {
        let now = Instant::now();
        let rest = u64::try_from(self.pttl()).expect("the lock has a lease");
        // PTTL is rounded to the nearest millisecond.
        now + Duration::from_millis(rest.saturating_sub(1))
    }

    /// Whether the lock's record names this process.
    pub fn is_held_by(&mut self, worker: &Worker) -> bool {
        let pid = format!("(pid {})", worker.pid());
        self.value().is_some_and(|value| value.contains(&pid))
    }

    /// The fence's text.
    pub fn fence(&mut self) -> Option<String> {
        ask(&mut *self.connection, &["GET", &self.f])
    }

    /// The letters of the queue, head first.
    pub fn queue(&mut self) -> String {
        let waiters = ["ZRANGEBYSCORE", &self.q, "0", "+inf"];
        let entries: Vec<String> = ask(&mut *self.connection, &waiters);
        let letters = entries.iter().filter_map(|entry| entry.chars().next());
        letters.collect()
    }

    /// Every member of the queue's key with its score, twins included.
    pub fn queue_members(&mut self) -> Vec<(String, i64)> {
        let all = ["ZRANGE", &self.q, "0", "-1", "WITHSCORES"];
        ask(&mut *self.connection, &all)
    }

    /// Makes `who` count as dead, as if its last heartbeat had expired.
    pub fn stop_heart(&mut self, who: char) {
        let beat = ["ZADD", &self.q, "XX", "-1", &owner(who)];
        let _: i64 = ask(&mut *self.connection, &beat);
    }

    /// The server's clock in µs.
    pub fn now(&mut self) -> i64 {
        let (seconds, micros): (i64, i64) = self.command(&["TIME"]);
        seconds * 1_000_000 + micros
    }

    /// Runs a script on these records, in this order: `kfq`.
    pub(crate) fn call<T: redis::FromRedisValue>(
        &mut self,
        script: &Script,
        records: &str,
        args: &[&str],
    ) -> RedisResult<T> {
        let mut call = script.prepare_invoke();
        for record in records.chars() {
            call.key(self.name(record));
        }
        call.arg(args).invoke(&mut *self.connection)
    }

    /// Runs an owner's script.
    pub(crate) fn run(
        &mut self,
        (source, who): (&'static str, char),
        records: &str,
        args: &[&str],
    ) -> RedisResult<Answer> {
        let script = remembering(source, (self.memory_of)(who));
        self.call(&script, records, args).and_then(Answer::parse)
    }

    pub(crate) fn name(&self, record: char) -> &str {
        match record {
            'k' => &self.k,
            'f' => &self.f,
            'q' => &self.q,
            'r' => &self.r,
            _ => panic!("no record {record}"),
        }
    }
}

impl Answer {
    /// The token of a held lock. Panics unless it has 16 digits.
    #[track_caller]
    pub fn token(&self) -> i64 {
        match self {
            Self::Held { token, .. } if token.len() == 16 => token.parse().expect("digits"),
            other => panic!("no token in {other:?}"),
        }
    }

    /// Parses the flag and token that a script returns for a held lock.
    pub fn held(text: &str) -> Self {
        let flag = text.chars().next().expect("flag and token");
        Self::Held {
            flag,
            token: text[1..].to_owned(),
        }
    }

    pub(crate) fn parse(value: Value) -> RedisResult<Self> {
        match value {
            Value::Array(mut parts) => {
                let counted = match parts.len() {
                    3 => None,
                    _ => {
                        let counted = Value::Array(parts.split_off(3));
                        let (owners, taken, age) = redis::from_redis_value(counted)?;
                        Some(Counted { owners, taken, age })
                    }
                };
                let (remaining, position, value) = redis::from_redis_value(Value::Array(parts))?;
                Ok(Self::Waiting {
                    remaining,
                    position,
                    value,
                    counted,
                })
            }
            Value::Int(code) => Ok(Self::Code(code)),
            value => {
                let text: String = redis::from_redis_value(value)?;
                Ok(Self::held(&text))
            }
        }
    }
}

/// The messages that one process would receive.
#[allow(missing_debug_implementations, reason = "a closure has no Debug")]
pub struct Listener {
    next: Box<dyn FnMut() -> Value + Send>,
}

impl Listener {
    /// A listener to what `next` returns.
    pub fn new(next: impl FnMut() -> Value + Send + 'static) -> Self {
        Self {
            next: Box::new(next),
        }
    }

    /// Subscribes the process of owner `who`.
    pub fn of(server: &dyn ScriptServer, who: char) -> Self {
        server.listen("SUBSCRIBE", &format!("lock:{}", &owner(who)[..8]))
    }

    /// The payload of the next message.
    pub fn next_push(&mut self) -> String {
        let (_, _, payload): (String, String, String) =
            redis::from_redis_value((self.next)()).expect("a push has three parts");
        payload
    }

    /// The channel and the payload of the next message, for a monitor.
    pub fn next_of_pattern(&mut self) -> (String, String) {
        let (_, _, channel, payload): (String, String, String, String) =
            redis::from_redis_value((self.next)()).expect("a push of a pattern has four parts");
        (channel, payload)
    }
}
