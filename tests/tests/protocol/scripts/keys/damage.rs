//! Records of wrong types. One must not keep the other locks.

use super::super::spoil;
use super::{TTL, assert_refused, holders, listen, start, token};

const WRONGTYPE: &str = "WRONGTYPE";

#[test]
fn acquire_is_refused_and_takes_nothing() {
    for number in 0..3 {
        let (_server, mut all) = start();
        let lock = &mut all.locks[number];
        for key in [lock.k.clone(), lock.f.clone(), lock.q.clone()] {
            spoil(&mut all.locks[number], &key);
            assert_refused(&mut all, WRONGTYPE, |all| all.acquire('A', TTL));
            assert_refused(&mut all, WRONGTYPE, |all| all.try_acquire('A', TTL));
            let _: i64 = all.locks[number].command(&["DEL", &key]);
        }
        let f = all.locks[number].f.clone();
        for text in ["text", "9007199254740991"] {
            let _: () = all.locks[number].command(&["SET", &f, text]);
            assert_refused(&mut all, "LOCKFENCE", |all| all.acquire('A', TTL));
        }
    }
}

#[test]
fn poll_is_refused_and_keeps_what_it_has() {
    let (_server, mut all) = start();
    all.locks[2].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    let q = all.locks[2].q.clone();
    spoil(&mut all.locks[2], &q);
    assert_refused(&mut all, WRONGTYPE, |all| all.acquire('A', TTL));
    assert_eq!(holders(&mut all), "AAB");
    // The client gives up then.
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(holders(&mut all), "..B");
}

#[test]
fn held_locks_survive_spoiled_fences_and_queues() {
    let (_server, mut all) = start();
    let taken = token(&all.acquire('A', TTL).unwrap());
    for number in 0..3 {
        let lock = &mut all.locks[number];
        for key in [lock.f.clone(), lock.q.clone()] {
            spoil(&mut all.locks[number], &key);
        }
    }
    assert_eq!(token(&all.acquire('A', TTL).unwrap()), taken);
    assert!(all.renew('A', TTL).unwrap().is_some());
    assert_eq!(all.release('A').unwrap(), 1);
    assert_eq!(holders(&mut all), "...");
}

#[test]
fn end_frees_locks_with_spoiled_fences_and_queues() {
    for is_held in [true, false] {
        let (server, mut all) = start();
        let _listeners = listen(&server, "BC");
        match is_held {
            true => all.acquire('A', TTL).unwrap(),
            false => {
                all.locks[2].acquire('B', TTL).unwrap();
                all.acquire('A', TTL).unwrap()
            }
        };
        all.locks[0].acquire('C', TTL).unwrap();
        let (f, q) = (all.locks[0].f.clone(), all.locks[1].q.clone());
        spoil(&mut all.locks[0], &f);
        spoil(&mut all.locks[1], &q);
        if !is_held {
            let q = all.locks[2].q.clone();
            spoil(&mut all.locks[2], &q);
        }
        let (code, left) = if is_held { (1, "...") } else { (3, "..B") };
        assert_eq!(all.end('A').unwrap(), code);
        assert_eq!(holders(&mut all), left);
    }
}

#[test]
fn spoiled_lock_is_lost_and_the_others_are_freed() {
    for number in 0..3 {
        let (_server, mut all) = start();
        all.acquire('A', TTL).unwrap();
        let k = all.locks[number].k.clone();
        spoil(&mut all.locks[number], &k);
        assert_refused(&mut all, WRONGTYPE, |all| all.renew('A', TTL));
        assert_eq!(all.release('A').unwrap(), 2);
        assert_eq!(all.end('A').unwrap(), 3);
        let lock = &mut all.locks[number];
        let kind: String = lock.command(&["TYPE", &k]);
        assert_eq!(kind, "list");
        let _: i64 = lock.command(&["DEL", &k]);
        assert_eq!(holders(&mut all), "...", "lock {number}");
    }
}

#[test]
fn spoiled_locks_are_not_the_owners() {
    let (_server, mut all) = start();
    for number in 0..3 {
        let k = all.locks[number].k.clone();
        spoil(&mut all.locks[number], &k);
    }
    assert_eq!(all.release('A').unwrap(), 0);
    assert_eq!(all.end('A').unwrap(), 0);
}
