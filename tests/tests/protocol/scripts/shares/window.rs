//! Shares that are granted and not confirmed: so many that all can be confirmed within their claim.

use harness::{Answer, Listener, READ, RawLock, RedisServer, Share};

use super::{TTL, assert_consistent, assert_waits, inside, listen, permits, start};

const WINDOW: usize = 32;

/// Forty letters, in order of arrival.
const CROWD: &str = "abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO";

/// A lock that A holds alone, and a crowd that waits for a share.
fn crowd(share: Share) -> (RedisServer, RawLock, Vec<Listener>) {
    let (server, mut lock) = start();
    let listeners = listen(&server, CROWD);
    lock.write('A', TTL).unwrap();
    for who in CROWD.chars() {
        lock.share(who, share, TTL).unwrap();
    }
    (server, lock, listeners)
}

fn count(lock: &mut RawLock) -> usize {
    inside(lock).len()
}

#[test]
fn end_of_a_writer_grants_32_shares() {
    let (_server, mut lock, _listeners) = crowd(READ);
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(2));
    assert_eq!(count(&mut lock), WINDOW);
    assert_eq!(lock.queue(), CROWD[WINDOW..]);
    assert_consistent(&mut lock);
}

#[test]
fn each_confirmation_grants_one_more() {
    let (_server, mut lock, _listeners) = crowd(READ);
    lock.end_write('A').unwrap();
    for (confirmed, who) in CROWD.chars().enumerate() {
        lock.share(who, READ, TTL).unwrap().token();
        let expected = CROWD.len().min(WINDOW + confirmed + 1);
        assert_eq!(count(&mut lock), expected);
        assert_consistent(&mut lock);
    }
}

#[test]
fn share_that_ends_grants_as_much_as_it_took() {
    let (_server, mut lock, _listeners) = crowd(READ);
    lock.end_write('A').unwrap();
    assert_eq!(lock.end_share('a', READ).unwrap(), Answer::Code(2));
    assert_eq!(count(&mut lock), WINDOW);

    let (server, mut lock) = start();
    let _listeners = listen(&server, CROWD);
    lock.share('A', permits(3, 4), TTL).unwrap();
    lock.share('X', permits(1, 4), TTL).unwrap();
    for who in CROWD.chars() {
        lock.share(who, permits(1, 4), TTL).unwrap();
    }
    assert_eq!(lock.end_share('A', permits(3, 4)).unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "Xabc");
    assert_consistent(&mut lock);
}

/// A reader inside, and the crowd behind a writer that has died.
fn crowd_behind_a_dead_writer() -> (RedisServer, RawLock, Vec<Listener>) {
    let (server, mut lock) = start();
    let listeners = listen(&server, CROWD);
    lock.share('X', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    for who in CROWD.chars() {
        lock.share(who, READ, TTL).unwrap();
    }
    lock.stop_heart('W');
    (server, lock, listeners)
}

#[test]
fn poll_from_beyond_the_first_places_grants_nothing() {
    let (_server, mut lock, _listeners) = crowd_behind_a_dead_writer();
    let far = CROWD.chars().next_back().unwrap();
    assert_waits(&lock.share(far, READ, TTL).unwrap(), 41);
    assert_eq!(inside(&mut lock), "X");
    assert_consistent(&mut lock);
}

#[test]
fn poll_from_one_of_the_first_places_grants_32_shares() {
    let (_server, mut lock, _listeners) = crowd_behind_a_dead_writer();
    lock.share('a', READ, TTL).unwrap().token();
    assert_eq!(count(&mut lock), 1 + WINDOW);
    assert_consistent(&mut lock);
}

#[test]
fn newcomer_grants_one_share_and_stays_behind() {
    let (_server, mut lock, _listeners) = crowd_behind_a_dead_writer();
    assert_waits(&lock.try_share('Z', READ, TTL).unwrap(), 0);
    assert_eq!(inside(&mut lock), "Xa");
    assert_waits(&lock.share('Z', READ, TTL).unwrap(), 39);
    assert_eq!(inside(&mut lock), "Xab");
    assert_consistent(&mut lock);
}

#[test]
fn newcomer_to_a_free_lock_grants_32_shares_and_stays_behind() {
    let (_server, mut lock, _listeners) = crowd(READ);
    super::expire(&mut lock);
    assert_waits(&lock.share('Z', READ, TTL).unwrap(), 9);
    assert_eq!(count(&mut lock), WINDOW);
    assert_consistent(&mut lock);
}

#[test]
fn holder_that_becomes_a_reader_grants_32_shares_beside_its_own() {
    let (_server, mut lock, _listeners) = crowd(READ);
    lock.share('A', READ, TTL).unwrap().token();
    assert_eq!(count(&mut lock), 1 + WINDOW);
    assert_consistent(&mut lock);
}
