//! Keys of another type: an error with the server's text, and nothing written. Held locks can still be
//! confirmed, renewed and released, because that touches the lock's record alone.

use harness::{Answer, Listener};

use super::{TTL, assert_refused, expire, spoil, start};

const WRONGTYPE: &str = "WRONGTYPE";

#[test]
fn the_lock_itself() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let k = lock.k.clone();
    spoil(&mut lock, &k);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.acquire('C', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.try_acquire('C', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.renew('A', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.release('A'));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.end('A'));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.end('B'));
    assert_refused(&mut lock, WRONGTYPE, |lock| {
        lock.end_with_next('A', 'N', TTL)
    });
}

#[test]
fn the_fence_of_a_free_lock() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);
    let f = lock.f.clone();
    spoil(&mut lock, &f);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.acquire('C', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.try_acquire('C', TTL));
}

#[test]
fn the_fence_of_a_taken_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let f = lock.f.clone();
    spoil(&mut lock, &f);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.acquire('B', TTL));
}

#[test]
fn the_queue_of_a_free_lock() {
    let (_server, mut lock) = start();
    let q = lock.q.clone();
    spoil(&mut lock, &q);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.acquire('A', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.try_acquire('A', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.end('A'));
}

#[test]
fn the_queue_of_a_taken_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let q = lock.q.clone();
    spoil(&mut lock, &q);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.acquire('B', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.try_acquire('B', TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.end('B'));
}

#[test]
fn a_hold_survives_a_spoiled_fence_and_queue() {
    let (_server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap();
    for key in [lock.f.clone(), lock.q.clone()] {
        spoil(&mut lock, &key);
    }
    assert_eq!(lock.acquire('A', TTL).unwrap(), first);
    assert!(lock.renew('A', TTL).unwrap().is_some());
    assert_eq!(lock.release('A').unwrap(), 1);
}

#[test]
fn a_spoiled_fence_or_queue_frees_the_lock_at_its_end() {
    let (server, mut lock) = start();
    let _b = Listener::new(&server, 'B');
    for key in [lock.f.clone(), lock.q.clone()] {
        for next in [false, true] {
            lock.acquire('A', TTL).unwrap().token();
            lock.acquire('B', TTL).unwrap();
            spoil(&mut lock, &key);
            let answer = if next {
                lock.end_with_next('A', 'N', TTL)
            } else {
                lock.end('A')
            }
            .unwrap();
            assert_eq!(answer, Answer::Code(1));
            assert_eq!(lock.value(), None);
            let _: () = lock.command(&["FLUSHALL"]);
        }
    }
}

#[test]
fn a_fence_that_is_no_number_frees_the_lock_at_its_end() {
    let (server, mut lock) = start();
    let _b = Listener::new(&server, 'B');
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let f = lock.f.clone();
    let _: () = lock.command(&["SET", &f, "x"]);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(1));
    assert_eq!(lock.value(), None);
}
