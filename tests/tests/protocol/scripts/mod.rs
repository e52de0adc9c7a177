//! The Lua scripts against a real server, branch by branch.
//!
//! Each owner is a letter, and each letter a process with its own channel. A [`Listener`] stands for a
//! live process; an owner without one is a waiter whose subscription is gone.

mod acquire;
pub(crate) mod branch;
mod end;
mod fence;
mod fence_memory;
mod grant;
mod keys;
mod memory;
mod moving_slot;
mod next;
mod queue;
mod quorum;
mod random;
mod redisson;
mod release;
mod renew;
mod rest;
mod revoke;
mod shares;
mod wrong_type;

use harness::{Answer, RawLock, RedisServer, code_of};
use redis::RedisResult;

const TTL: i64 = 60_000;
const CLAIM: i64 = 1_500;

fn start() -> (RedisServer, RawLock) {
    let server = RedisServer::start();
    let lock = RawLock::new(&server, "order:42");
    (server, lock)
}

/// The position in an answer that says "held by another".
#[track_caller]
fn position(answer: &Answer) -> i64 {
    match answer {
        Answer::Waiting { position, .. } => *position,
        other => panic!("not waiting: {other:?}"),
    }
}

/// The letter of the lock's holder.
fn holder(lock: &mut RawLock) -> Option<char> {
    lock.value()?.chars().next()
}

/// Ends the lease as if its time had passed.
fn expire(lock: &mut RawLock) {
    let k = lock.k.clone();
    let deleted: i64 = lock.command(&["DEL", &k]);
    assert_eq!(deleted, 1, "there was a lease to end");
}

/// All records on the server, to assert that none was written.
fn snapshot(lock: &mut RawLock) -> Vec<(String, Vec<u8>)> {
    let mut keys: Vec<String> = lock.command(&["KEYS", "*"]);
    keys.sort();
    keys.into_iter()
        .map(|key| (key.clone(), lock.command(&["DUMP", &key])))
        .collect()
}

/// Makes `key` a list.
fn spoil(lock: &mut RawLock, key: &str) {
    let _: i64 = lock.command(&["DEL", key]);
    let _: i64 = lock.command(&["LPUSH", key, "x"]);
}

/// Asserts that a script fails with this code, and writes nothing.
#[track_caller]
fn assert_refused<T: std::fmt::Debug>(
    lock: &mut RawLock,
    code: &str,
    call: impl FnOnce(&mut RawLock) -> RedisResult<T>,
) {
    let before = snapshot(lock);
    let error = call(lock).unwrap_err();
    assert_eq!(code_of(&error), code, "{error}");
    assert_eq!(snapshot(lock), before);
}

/// Asserts that `left` is a time (ms) that was `at_most` a moment ago.
#[track_caller]
fn assert_runs_down(left: i64, at_most: i64) {
    assert!(
        left <= at_most && left > at_most / 2,
        "{left} ms do not run down from {at_most} ms"
    );
}
