//! The locks that people write on Redis themselves: our record is theirs, without their failures.
//!
//! Several wrong versions run here as they are commonly written, which shows that the test would reveal the failure.
//! `processes/foreign` and `long` have programs of other kinds at the same key.

mod record;
mod wrong_versions;

use harness::{KEY, LOCK, LONG, Proxy, RedisServer, ask, client, eventually, hold, ms, soon};
use redis::Connection;

/// The lock's value on the server.
fn value(connection: &mut Connection) -> Option<String> {
    ask(connection, &["GET", LOCK])
}

/// The rest of the lease in ms; −1 means no expiry, −2 no lock.
fn pttl(connection: &mut Connection) -> i64 {
    ask(connection, &["PTTL", LOCK])
}
