//! Tokens, and the fence that makes them rise.

use std::time::Duration;

use harness::{Listener, PATIENCE, RawLock, RedisServer, wait_until};

use super::{TTL, assert_runs_down, expire, snapshot, start};

const DAY_MS: i64 = 86_400_000;

#[test]
fn a_token_is_the_servers_clock_in_microseconds() {
    let (_server, mut lock) = start();
    let before = lock.now();
    let token = lock.acquire('A', TTL).unwrap().token();
    let after = lock.now();
    assert!((before..=after).contains(&token), "{token}");
    assert_eq!(lock.fence().unwrap(), token.to_string());
}

#[test]
fn a_clock_just_past_the_second_keeps_its_zeros() {
    let (_server, mut lock) = start();
    wait_until("first tenth of a second", PATIENCE, || {
        lock.now() % 1_000_000 < 50_000
    });
    let before = lock.now();
    let token = lock.acquire('A', TTL).unwrap().token();
    let after = lock.now();
    assert!((before..=after).contains(&token), "{token}");
}

/// The seconds since 1970 have ten digits since September 2001.
#[test]
fn a_clock_of_fewer_digits_gives_a_token_of_as_many() {
    let server = RedisServer::builder().own_clock().start();
    let mut lock = RawLock::new(&server, "order:42");
    let since_2001 = lock.now() - 978_307_200_000_000;
    server.back(Duration::from_micros(since_2001.unsigned_abs()));
    let before = lock.now();
    let token = lock.acquire('A', TTL).unwrap().token();
    let after = lock.now();
    assert!(after < 999_999_999_999_999, "{after}");
    assert!((before..=after).contains(&token), "{token}");
    assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
}

#[test]
fn a_token_is_sixteen_more_when_the_fence_is_ahead_of_the_clock() {
    let (_server, mut lock) = start();
    let f = lock.f.clone();
    let ahead = lock.now() + 3_600_000_000;
    let _: () = lock.command(&["SET", &f, &ahead.to_string()]);
    assert_eq!(lock.acquire('A', TTL).unwrap().token(), ahead + 16);
    lock.end('A').unwrap();
    assert_eq!(lock.acquire('B', TTL).unwrap().token(), ahead + 32);
}

#[test]
fn a_granted_token_counts_on_from_the_fence_too() {
    let (server, mut lock) = start();
    let f = lock.f.clone();
    let ahead = lock.now() + 3_600_000_000;
    let _: () = lock.command(&["SET", &f, &ahead.to_string()]);
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    lock.end('A').unwrap();
    assert_eq!(lock.acquire('B', TTL).unwrap().token(), ahead + 32);
}

#[test]
fn tokens_rise_without_the_fence() {
    let (_server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap().token();
    expire(&mut lock);
    let f = lock.f.clone();
    let _: i64 = lock.command(&["DEL", &f]);
    assert!(lock.acquire('B', TTL).unwrap().token() > first);
}

#[test]
fn the_largest_fence_still_gives_a_whole_grant() {
    let (_server, mut lock) = start();
    let f = lock.f.clone();
    let last = (1_i64 << 53) - 33;
    let _: () = lock.command(&["SET", &f, &last.to_string()]);
    assert_eq!(lock.acquire('A', TTL).unwrap().token(), last + 16);
}

#[test]
fn a_fence_that_is_no_such_number_is_refused() {
    let (_server, mut lock) = start();
    let f = lock.f.clone();
    let limit = ((1_i64 << 53) - 32).to_string();
    for bad in [
        &limit[..],
        "",
        "-1",
        "1.5",
        "1e3",
        "0x10",
        " 7",
        "7\n",
        "nan",
        &"9".repeat(400),
    ] {
        let _: () = lock.command(&["SET", &f, bad]);
        let before = snapshot(&mut lock);
        let error = lock.acquire('A', TTL).unwrap_err();
        assert_eq!(error.code(), Some("LOCKFENCE"), "{bad:?}: {error}");
        assert_eq!(snapshot(&mut lock), before);
    }
}

#[test]
fn the_fence_outlives_its_token_by_a_day() {
    let (_server, mut lock) = start();
    let f = lock.f.clone();
    let token = lock.acquire('A', TTL).unwrap().token();
    assert_runs_down(lock.command(&["PTTL", &f]), DAY_MS);
    lock.end('A').unwrap();

    // The expiry counts from the token's time, not from its use: this fence is an hour ahead, and so is
    // its expiry.
    let ahead = token + 3_600_000_000;
    let _: () = lock.command(&["SET", &f, &ahead.to_string()]);
    lock.acquire('A', TTL).unwrap();
    assert_runs_down(lock.command(&["PTTL", &f]), DAY_MS + 3_600_000);
    // The exact instant.
    let at = lock.expires_at(&f);
    assert_eq!(at, (ahead + 16) / 1_000 + DAY_MS);
}

#[test]
fn waiting_does_not_touch_the_fence() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let f = lock.f.clone();
    let before: (Option<String>, i64) = (lock.fence(), lock.expires_at(&f));
    lock.acquire('B', TTL).unwrap();
    lock.renew('A', TTL).unwrap();
    lock.release('A').unwrap();
    assert_eq!((lock.fence(), lock.expires_at(&f)), before);
}
