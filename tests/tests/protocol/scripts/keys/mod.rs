//! The scripts of several locks that one owner holds together.

mod acquire;
mod damage;
mod end;
mod memory;
mod migration;
mod renewal;
mod waiting;

use harness::{Answer, Listener, RawLock, RawLocks, RedisServer, code_of};

use super::{CLAIM, TTL, assert_runs_down, expire, holder, position};

fn start() -> (RedisServer, RawLocks) {
    let server = RedisServer::start();
    let all = RawLocks::new(&server, ["a:1", "a:2", "a:3"]);
    (server, all)
}

/// The letters of the holders, and a dot for each lock that is free.
fn holders(all: &mut RawLocks) -> String {
    let letter = |lock: &mut RawLock| holder(lock).unwrap_or('.');
    all.locks.iter_mut().map(letter).collect()
}

/// The number of the lock in the way, and the caller's place in its queue.
#[track_caller]
fn in_the_way((number, answer): &(usize, Answer)) -> (usize, i64) {
    (*number, position(answer))
}

/// The token of all locks.
#[track_caller]
fn token((number, answer): &(usize, Answer)) -> i64 {
    assert_eq!(*number, 0, "{answer:?}");
    answer.token()
}

/// Each lock and its fence have this token.
#[track_caller]
fn assert_tokens(all: &mut RawLocks, token: i64) {
    for lock in &mut all.locks {
        assert_eq!(lock.value().unwrap()[23..39], format!("{token:016}"));
        assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
    }
}

/// Nothing is left but fences.
#[track_caller]
fn assert_nothing_left(all: &mut RawLocks) {
    let keys: Vec<String> = all.locks[0].command(&["KEYS", "*"]);
    let others = keys.iter().filter(|key| !key.ends_with(":f"));
    assert_eq!(others.collect::<Vec<_>>(), [] as [&String; 0]);
}

/// All records on the server, to assert that none was written.
fn snapshot(all: &mut RawLocks) -> Vec<(String, Vec<u8>)> {
    super::snapshot(&mut all.locks[0])
}

/// Asserts that a script fails with this code, and writes nothing.
#[track_caller]
fn assert_refused<T: std::fmt::Debug>(
    all: &mut RawLocks,
    code: &str,
    call: impl FnOnce(&mut RawLocks) -> redis::RedisResult<T>,
) {
    let before = snapshot(all);
    let error = call(all).unwrap_err();
    assert_eq!(code_of(&error), code, "{error}");
    assert_eq!(snapshot(all), before);
}

/// A listener for each letter.
fn listen(server: &RedisServer, letters: &str) -> Vec<Listener> {
    let letters = letters.chars();
    letters.map(|who| Listener::new(server, who)).collect()
}
