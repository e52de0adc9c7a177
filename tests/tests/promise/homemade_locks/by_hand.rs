//! A hand-written lock, written correctly.

use harness::RedisServer;
use redis::Connection;

use super::{LOCK, ask};

/// Compare-and-delete.
const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// A client of the lock by one command with a token and an expiry.
pub(crate) struct ByHand {
    pub(crate) connection: Connection,
    token: &'static str,
}

impl ByHand {
    pub(crate) fn new(server: &RedisServer, token: &'static str) -> ByHand {
        let connection = server.connection();
        ByHand { connection, token }
    }

    pub(crate) fn try_lock(&mut self, ttl_ms: u64) -> bool {
        let px = ttl_ms.to_string();
        let set = ["SET", LOCK, self.token, "NX", "PX", &px];
        ask::<Option<String>>(&mut self.connection, &set).is_some()
    }

    pub(crate) fn unlock(&mut self) -> bool {
        ask(
            &mut self.connection,
            &["EVAL", UNLOCK, "1", LOCK, self.token],
        )
    }
}
