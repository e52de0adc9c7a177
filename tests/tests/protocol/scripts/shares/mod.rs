//! The scripts of readers, permits and writers.

mod acquire;
mod damage;
mod end;
mod lapsed;
mod limit;
mod memory;
mod migration;
mod plain;
mod queue;
mod release;
mod renew;
mod window;
mod write;

use harness::{Answer, Listener, RawLock, RedisServer, Share};

use super::{CLAIM, TTL, expire, holder, position, snapshot};

/// What all share: the lock's record, the sum in R and the expiries fit the members of R.
#[track_caller]
fn assert_consistent(lock: &mut RawLock) {
    let (shares, value) = (lock.shares(), lock.value().expect("the lock is shared"));
    assert_eq!(&value[..6], "shared", "{value}");
    assert_eq!(value[6..22], value[23..39], "{value}");
    let takes = shares.iter().filter(|(member, _)| member != "=");
    let taken: i64 = takes.map(|(member, _)| take_of(member)).sum();
    assert_eq!(sum(lock), taken, "{shares:?}");
    let last = shares.iter().map(|(_, ends)| ends).max().unwrap();
    let (k, r) = (lock.k.clone(), lock.r.clone());
    for key in [k, r] {
        let expires = lock.expires_at(&key);
        assert_eq!(expires, (last + 999) / 1_000, "{key}: {shares:?}");
    }
    let has_waiters = !lock.queue().is_empty();
    assert_eq!(value.as_bytes()[22] == b'+', has_waiters, "{value}");
}

fn take_of(member: &str) -> i64 {
    let take = member.split_once('*').map(|(_, take)| take);
    take.map_or(1, |take| take.parse().expect("digits"))
}

/// As for plain locks. The expiry of a shared lock is rounded up, and Valkey 9.1 counts on for some milliseconds after
/// its last look at the clock.
#[track_caller]
fn assert_runs_down(left: i64, at_most: i64) {
    super::assert_runs_down(left - 5, at_most);
}

/// What is taken, as R says.
fn sum(lock: &mut RawLock) -> i64 {
    let shares = lock.shares();
    let sum = shares.iter().find(|(member, _)| member == "=");
    -sum.expect("R has its sum").1
}

/// The letters of those that share the lock.
fn inside(lock: &mut RawLock) -> String {
    let members = lock.shares().into_iter().map(|(member, _)| member);
    let letters = members.filter_map(|member| member.chars().next());
    let mut letters: Vec<char> = letters.filter(|letter| *letter != '=').collect();
    letters.sort_unstable();
    letters.into_iter().collect()
}

/// Nothing of the lock is left but its fence.
#[track_caller]
fn assert_nothing_left(lock: &mut RawLock) {
    let keys: Vec<String> = lock.command(&["KEYS", "*"]);
    assert_eq!(keys, std::slice::from_ref(&lock.f));
}

/// A listener for each letter.
fn listen(server: &RedisServer, letters: &str) -> Vec<Listener> {
    let letters = letters.chars();
    letters.map(|who| Listener::new(server, who)).collect()
}

#[track_caller]
fn assert_waits(answer: &Answer, place: i64) {
    assert_eq!(position(answer), place);
}

const fn permits(take: u32, limit: u32) -> Share {
    Share::permits(take, limit)
}

/// A server whose clock moves only when it is stepped, so that shares and claims lapse at once or not at all.
fn start() -> (RedisServer, RawLock) {
    let server = RedisServer::builder().own_clock().start();
    server.stop_clock();
    let lock = RawLock::new(&server, "order:42");
    (server, lock)
}
