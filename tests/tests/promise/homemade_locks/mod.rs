//! The locks that people write on Redis, one family per file. The strengths of each work here, and its
//! failures do not occur.
//!
//! | family | what it is | file |
//! |---|---|---|
//! | `SET NX PX` | one command with a token and an expiry; compare-and-delete | `set_nx_px` |
//! | its wrong versions | SETNX then EXPIRE, clocks in GETSET, plain DEL, GET then DEL | `wrong_versions` |
//! | four conditions | exclusion, no deadlock, only the owner unlocks; a majority needs several nodes | `processes`, `contract` |
//! | polled scripts | EVALSHA in a loop of bounded tries | `polled` |
//! | a hash with a count | reentrancy kept in Redis; three outcomes of a release | `counted` |
//! | a count for each thread | reentrancy by thread; at most so many renewals | `threads` |
//! | is it still mine? | compares the stored value | `still_mine` |
//! | automatic renewal | a timer that compares and expires | `renewal` |
//! | wake-up by pub/sub | Redisson: 30 s renewed at a third, a message on unlock | `woken` |
//! | annotation on a method | an aspect around the call, key and expiry in the annotation | `annotation` |
//! | a lottery | one of many instances draws | `lottery` |
//! | clients of other kinds | redis-py's own lock and one written by hand, against ours | `foreign` |
//!
//! Several wrong versions run here as they are commonly written, which shows that the test would reveal
//! the failure.

mod annotation;
mod by_hand;
mod counted;
mod foreign;
mod lottery;
mod polled;
mod renewal;
mod set_nx_px;
mod still_mine;
mod threads;
mod woken;
mod wrong_versions;

use harness::{
    KEY, LOCK, LONG, Proxy, RedisServer, SLACK, ask, client, eventually, hold, ms, soon,
};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};
use redis::Connection;

/// The lock's value on the server.
fn value(connection: &mut Connection) -> Option<String> {
    ask(connection, &["GET", LOCK])
}

/// The rest of the lease in ms; −1 means no expiry, −2 no lock.
fn pttl(connection: &mut Connection) -> i64 {
    ask(connection, &["PTTL", LOCK])
}

/// Deletes the lock, as an administrator would.
fn delete(connection: &mut Connection) {
    assert_eq!(ask::<i64>(connection, &["DEL", LOCK]), 1, "it was there");
}
