//! The locks that people write on Redis: the record is theirs, and their failures do not occur.
//!
//! Several wrong versions run here as they are commonly written, which shows that the test would reveal
//! the failure. Programs of other kinds at the same key are in `processes/foreign` and in `long`.

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
