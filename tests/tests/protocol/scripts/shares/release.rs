//! `share_release`.

use harness::{Listener, READ};

use super::{
    TTL, assert_consistent, assert_nothing_left, assert_runs_down, expire, holder, inside, permits,
    snapshot, start, sum,
};

#[test]
fn last_share_frees_the_lock() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.share('B', permits(2, 9), TTL).unwrap();
    assert_eq!(lock.release_share('A', READ).unwrap(), 1);
    assert_eq!((inside(&mut lock), sum(&mut lock)), ("B".to_owned(), 2));
    assert_consistent(&mut lock);
    assert_eq!(lock.release_share('B', permits(2, 9)).unwrap(), 1);
    assert_nothing_left(&mut lock);
    assert_eq!(
        lock.release_share('B', permits(2, 9)).unwrap(),
        0,
        "sent twice"
    );
}

#[test]
fn release_sent_twice_takes_one_share_off() {
    let (_server, mut lock) = start();
    for who in ['A', 'B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    assert_eq!(lock.release_share('A', READ).unwrap(), 1);
    let before = snapshot(&mut lock);
    assert_eq!(lock.release_share('A', READ).unwrap(), -1);
    assert_eq!(lock.release_share('X', READ).unwrap(), -1);
    assert_eq!(lock.release_share('B', permits(2, 9)).unwrap(), -1);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn longest_share_takes_its_time_with_it() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.share('B', READ, 4 * TTL).unwrap();
    lock.share('C', READ, TTL / 2).unwrap();
    lock.release_share('B', READ).unwrap();
    assert_runs_down(lock.pttl(), TTL);
    assert_consistent(&mut lock);
    lock.release_share('C', READ).unwrap();
    assert_consistent(&mut lock);
}

#[test]
fn contended_share_stays_for_share_end() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    lock.acquire('W', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(lock.release_share('A', READ).unwrap(), 2);
    assert_eq!(lock.release_share('X', READ).unwrap(), -1);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn lock_that_is_not_shared_stays() {
    let (server, mut lock) = start();
    let _b = Listener::new(&server, 'B');
    lock.acquire('A', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    assert_eq!(lock.release_share('B', READ).unwrap(), -1);
    lock.end('A').unwrap();
    assert_eq!(holder(&mut lock), Some('B'), "granted, and not confirmed");
    let before = snapshot(&mut lock);
    assert_eq!(lock.release_share('B', READ).unwrap(), 2);
    assert_eq!(snapshot(&mut lock), before);
    expire(&mut lock);
    assert_eq!(lock.release_share('B', READ).unwrap(), 0);
}
