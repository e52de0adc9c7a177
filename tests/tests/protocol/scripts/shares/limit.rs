//! Permits: what is taken under which limit.

use std::time::Duration;

use harness::{Answer, READ, Share};

use super::{TTL, assert_consistent, assert_waits, inside, listen, permits, start, sum};

const ONE_OF_TWO: Share = permits(1, 2);

#[test]
fn permits_are_had_up_to_the_limit() {
    let (_server, mut lock) = start();
    lock.share('A', ONE_OF_TWO, TTL).unwrap().token();
    lock.share('B', ONE_OF_TWO, TTL).unwrap().token();
    assert_waits(&lock.share('C', ONE_OF_TWO, TTL).unwrap(), 1);
    assert_eq!(inside(&mut lock), "AB");
    assert_consistent(&mut lock);
}

#[test]
fn share_counts_as_often_as_it_takes() {
    let (_server, mut lock) = start();
    lock.share('A', permits(3, 5), TTL).unwrap().token();
    assert_waits(&lock.try_share('B', permits(3, 5), TTL).unwrap(), 0);
    lock.share('C', permits(2, 5), TTL).unwrap().token();
    assert_waits(&lock.try_share('D', permits(1, 5), TTL).unwrap(), 0);
    assert_eq!(sum(&mut lock), 5);
    lock.release_share('A', permits(3, 5)).unwrap();
    assert_eq!(sum(&mut lock), 2);
    lock.share('B', permits(3, 5), TTL).unwrap().token();
    assert_consistent(&mut lock);
}

#[test]
fn share_given_by_an_end_counts_as_often_as_it_takes() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    lock.share('A', permits(4, 4), TTL).unwrap();
    lock.share('B', permits(3, 4), TTL).unwrap();
    lock.share('C', permits(2, 4), TTL).unwrap();
    assert_eq!(lock.end_share('A', permits(4, 4)).unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "B");
    assert_eq!(sum(&mut lock), 3);
    assert_consistent(&mut lock);
}

#[test]
fn limit_is_that_of_the_caller() {
    let (_server, mut lock) = start();
    for who in "ABCD".chars() {
        lock.share(who, permits(1, 5), TTL).unwrap().token();
    }
    // A deployment lowers the limit from 5 to 3 while 4 are taken.
    assert_waits(&lock.try_share('X', permits(1, 3), TTL).unwrap(), 0);
    lock.release_share('A', permits(1, 5)).unwrap();
    assert_waits(&lock.try_share('X', permits(1, 3), TTL).unwrap(), 0);
    lock.release_share('B', permits(1, 5)).unwrap();
    lock.share('X', permits(1, 3), TTL).unwrap().token();
    lock.share('E', permits(1, 5), TTL).unwrap().token();
    assert_eq!(sum(&mut lock), 4);
    assert_consistent(&mut lock);
}

#[test]
fn readers_count_for_permits_and_have_no_limit_themselves() {
    let (_server, mut lock) = start();
    for who in "ABC".chars() {
        lock.share(who, READ, TTL).unwrap().token();
    }
    assert_waits(&lock.try_share('P', permits(1, 3), TTL).unwrap(), 0);
    lock.share('Q', permits(1, 4), TTL).unwrap().token();
    lock.share('D', READ, TTL).unwrap().token();
    assert_consistent(&mut lock);
}

#[test]
fn waiter_with_a_limit_learns_when_the_first_share_lapses() {
    let (server, mut lock) = start();
    lock.share('A', ONE_OF_TWO, 10_000).unwrap();
    lock.share('B', ONE_OF_TWO, 60_000).unwrap();
    let Answer::Waiting { remaining, .. } = lock.share('C', ONE_OF_TWO, TTL).unwrap() else {
        panic!("two are taken");
    };
    assert_near(remaining, 10_000);
    // Also if the lock itself does not expire.
    let k = lock.k.clone();
    let _: i64 = lock.command(&["PERSIST", &k]);
    let Answer::Waiting { remaining, .. } = lock.share('C', ONE_OF_TWO, TTL).unwrap() else {
        panic!("two are taken");
    };
    assert_near(remaining, 10_000);
    lock.renew_share('B', ONE_OF_TWO, TTL).unwrap();
    let Answer::Waiting { remaining, .. } = lock.write('W', TTL).unwrap() else {
        panic!("the lock is shared");
    };
    assert_near(remaining, 60_000);
    server.forward(Duration::from_millis(10_001));
    lock.share('C', ONE_OF_TWO, TTL).unwrap().token();
    assert_eq!(inside(&mut lock), "BC");
}

/// Valkey 9.1 counts on for some milliseconds after its last look at the clock.
#[track_caller]
fn assert_near(remaining: i64, expected: i64) {
    let near = expected - 10..=expected + 10;
    assert!(near.contains(&remaining), "{remaining} ms");
}

/// No client asks for it. It must not block the queue of a free lock.
#[test]
fn more_than_the_limit_is_had_alone() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "B");
    lock.acquire('A', TTL).unwrap();
    lock.share('B', permits(5, 3), TTL).unwrap();
    lock.share('C', permits(1, 3), TTL).unwrap();
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "B");
    assert_waits(&lock.share('C', permits(1, 3), TTL).unwrap(), 1);
}
