//! The scripts of several locks that one owner holds together, one call each.

use std::sync::LazyLock;

use redis::{RedisResult, Script, Value};

use crate::raw::{Answer, RESERVE, RawLock, entry, owner};
use crate::script_server::ScriptServer;
use crate::sources;

static KEYS_ACQUIRE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::KEYS_ACQUIRE));
static KEYS_RENEW: LazyLock<Script> = LazyLock::new(|| Script::new(sources::KEYS_RENEW));
static KEYS_RELEASE: LazyLock<Script> = LazyLock::new(|| Script::new(sources::KEYS_RELEASE));
static KEYS_END: LazyLock<Script> = LazyLock::new(|| Script::new(sources::KEYS_END));

/// Several locks seen through the scripts, in the order of their names.
#[allow(
    missing_debug_implementations,
    reason = "a redis-rs connection has no Debug"
)]
pub struct RawLocks {
    /// Each of them.
    pub locks: Vec<RawLock>,
    /// Whether the caller of the last waiting `keys_acquire` has a lock behind the one in the way.
    pub holds_later: bool,
}

impl RawLocks {
    /// The locks with these names on `server`.
    pub fn new<'a>(server: &dyn ScriptServer, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter();
        Self {
            locks: names.map(|name| RawLock::new(server, name)).collect(),
            holds_later: false,
        }
    }

    /// `keys_acquire`, queueing for the first lock in the way.
    pub fn acquire(&mut self, who: char, ttl: i64) -> RedisResult<(usize, Answer)> {
        // The number of the lock in the way precedes the answer of `acquire`.
        match self.call(&KEYS_ACQUIRE, "kfq", &[&entry(who), &ttl.to_string()])? {
            Value::Array(mut parts) => {
                let number: isize = redis::from_redis_value(parts.remove(0))?;
                self.holds_later = number < 0;
                Ok((number.unsigned_abs(), Answer::parse(Value::Array(parts))?))
            }
            held => Ok((0, Answer::parse(held)?)),
        }
    }

    /// `keys_acquire`, all or nothing, without queueing.
    pub fn try_acquire(&mut self, who: char, ttl: i64) -> RedisResult<(usize, Answer)> {
        self.acquire(who, -ttl)
    }

    /// `keys_renew`: flag and token, or none if one of the locks is not `who`'s.
    pub fn renew(&mut self, who: char, ttl: i64) -> RedisResult<Option<String>> {
        self.call(&KEYS_RENEW, "k", &[&owner(who), &ttl.to_string()])
    }

    pub fn release(&mut self, who: char) -> RedisResult<i64> {
        self.call(&KEYS_RELEASE, "k", &[&owner(who)])
    }

    /// `reserve` of all.
    pub fn reserve(&mut self, who: char, ms: i64) -> RedisResult<i64> {
        self.call(&RESERVE, "k", &[&owner(who), &ms.to_string()])
    }

    pub fn end(&mut self, who: char) -> RedisResult<i64> {
        self.call(&KEYS_END, "kfq", &[&entry(who)])
    }

    /// Runs a script on these records of each lock, in this order.
    fn call<T: redis::FromRedisValue>(
        &mut self,
        script: &Script,
        records: &str,
        args: &[&str],
    ) -> RedisResult<T> {
        let mut call = script.prepare_invoke();
        for lock in &self.locks {
            for record in records.chars() {
                call.key(lock.name(record));
            }
        }
        call.arg(args).invoke(&mut *self.locks[0].connection)
    }
}
