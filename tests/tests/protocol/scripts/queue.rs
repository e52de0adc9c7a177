//! The queue: order, heartbeats, its expiry and its cap.

use harness::{Answer, entry, owner};

use super::{TTL, assert_runs_down, expire, position, snapshot, start};

#[test]
fn waiters_queue_in_order_of_arrival() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    // In reverse alphabetical order, so that no other order could pass for this one.
    for (who, place) in [('D', 1), ('C', 2), ('B', 3)] {
        assert_eq!(position(&lock.acquire(who, TTL).unwrap()), place);
    }
    assert_eq!(lock.queue(), "DCB");
}

#[test]
fn a_poll_keeps_the_place() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C', 'D'] {
        lock.acquire(who, TTL).unwrap();
    }
    assert_eq!(position(&lock.acquire('C', TTL).unwrap()), 2);
    assert_eq!(position(&lock.acquire('B', TTL).unwrap()), 1);
    assert_eq!(lock.queue(), "BCD");
}

#[test]
fn a_poll_without_queueing_sees_its_place_and_keeps_it() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    lock.acquire('C', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(position(&lock.try_acquire('C', TTL).unwrap()), 2);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn tickets_rise_even_if_the_clock_does_not() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let q = lock.q.clone();
    let ahead = lock.now() + 60_000_000;
    let _: i64 = lock.command(&["ZADD", &q, &ahead.to_string(), &entry('B')]);
    assert_eq!(position(&lock.acquire('C', TTL).unwrap()), 2);
    let members = lock.queue_members();
    assert!(members.contains(&(entry('C'), ahead + 1)), "{members:?}");
}

#[test]
fn a_waiter_counts_as_alive_for_six_seconds() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let before = lock.now();
    lock.acquire('B', TTL).unwrap();
    let after = lock.now();
    let [(twin, live_until), (waiter, ticket)] = &lock.queue_members()[..] else {
        panic!("two members a waiter");
    };
    assert_eq!((twin, waiter), (&owner('B'), &entry('B')));
    assert!((before..=after).contains(ticket), "{ticket}");
    assert!(
        (before + 6_000_000..=after + 6_000_000).contains(&-live_until),
        "{live_until}"
    );
}

#[test]
fn a_poll_refreshes_the_heartbeat() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    lock.stop_heart('B');
    let now = lock.now();
    lock.acquire('B', TTL).unwrap();
    let (_, live_until) = lock.queue_members()[0];
    assert!(-live_until >= now + 6_000_000, "{live_until}");
}

#[test]
fn the_queue_expires_by_itself() {
    let (_server, mut lock) = start();
    let q = lock.q.clone();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    assert_runs_down(lock.command(&["PTTL", &q]), 7_000);
    let _: i64 = lock.command(&["PEXPIRE", &q, "3000"]);
    lock.acquire('B', TTL).unwrap();
    assert_runs_down(lock.command(&["PTTL", &q]), 7_000);
}

#[test]
fn a_full_queue_takes_no_owner_in_and_throws_none_out() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let q = lock.q.clone();
    let fill = (1..16_384).flat_map(|n| [n.to_string(), format!("waiter {n}")]);
    redis::cmd("ZADD")
        .arg(&q)
        .arg(fill.collect::<Vec<_>>())
        .exec(&mut lock.connection)
        .unwrap();

    let before = snapshot(&mut lock);
    let error = lock.acquire('C', TTL).unwrap_err();
    assert_eq!(error.code(), Some("LOCKQUEUEFULL"), "{error}");
    assert_eq!(snapshot(&mut lock), before);

    // A waiter can still poll, and an attempt without queueing still gets an answer.
    assert_eq!(position(&lock.acquire('B', TTL).unwrap()), 16_384);
    assert_eq!(position(&lock.try_acquire('C', TTL).unwrap()), 0);

    // With one place free, the next owner takes it.
    let _: i64 = lock.command(&["ZREM", &q, "waiter 1"]);
    assert_eq!(position(&lock.acquire('C', TTL).unwrap()), 16_384);
}

#[test]
fn a_queue_full_of_the_dead_frees_itself() {
    let (_server, mut lock) = start();
    let q = lock.q.clone();
    let fill = (1..=16_384).flat_map(|n| [n.to_string(), format!("waiter {n}")]);
    redis::cmd("ZADD")
        .arg(&q)
        .arg(fill.collect::<Vec<_>>())
        .exec(&mut lock.connection)
        .unwrap();
    // One script checks at most 128 entries, and then takes the lock.
    assert!(matches!(
        lock.acquire('A', TTL).unwrap(),
        Answer::Held { flag: '+', .. }
    ));
    let left: i64 = lock.command(&["ZCARD", &q]);
    assert_eq!(left, 16_384 - 128);
    expire(&mut lock);
    lock.acquire('B', TTL).unwrap().token();
    let left: i64 = lock.command(&["ZCARD", &q]);
    assert_eq!(left, 16_384 - 256);
}
