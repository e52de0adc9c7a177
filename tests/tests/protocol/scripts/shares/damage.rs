//! Records of another type, and records that were lost.

use harness::{Answer, READ, entry};

use super::super::{assert_refused, spoil};
use super::{
    TTL, assert_nothing_left, assert_waits, expire, holder, inside, listen, permits, start, sum,
};

const WRONGTYPE: &str = "WRONGTYPE";

#[test]
fn lock_of_another_type_is_refused() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    let k = lock.k.clone();
    spoil(&mut lock, &k);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('B', READ, TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| {
        lock.renew_share('A', READ, TTL)
    });
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.release_share('A', READ));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.end_share('A', READ));
}

#[test]
fn fence_or_queue_of_another_type_refuses_those_that_have_to_look() {
    let (_server, mut lock) = start();
    for key in [lock.f.clone(), lock.q.clone()] {
        for is_held in [false, true] {
            let _: () = lock.command(&["FLUSHALL"]);
            if is_held {
                lock.acquire('A', TTL).unwrap();
            }
            spoil(&mut lock, &key);
            for ttl in [TTL, -TTL] {
                assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('B', READ, ttl));
            }
        }
    }
}

#[test]
fn fence_that_is_no_number_refuses_a_new_phase() {
    let (_server, mut lock) = start();
    let f = lock.f.clone();
    for bad in ["", "-1", "1.5", "x", &((1_i64 << 53) - 32).to_string()] {
        let _: () = lock.command(&["SET", &f, bad]);
        assert_refused(&mut lock, "LOCKFENCE", |lock| lock.share('A', READ, TTL));
    }
}

#[test]
fn fence_of_another_type_refuses_to_make_a_holder_a_reader() {
    let (_server, mut lock) = start();
    lock.write('A', TTL).unwrap();
    let f = lock.f.clone();
    spoil(&mut lock, &f);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('A', READ, TTL));
}

#[test]
fn share_survives_a_fence_and_a_queue_of_another_type() {
    let (_server, mut lock) = start();
    let first = lock.share('A', READ, TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    for key in [lock.f.clone(), lock.q.clone()] {
        spoil(&mut lock, &key);
    }
    assert_eq!(lock.share('A', READ, TTL).unwrap(), first);
    assert!(lock.renew_share('A', READ, TTL).unwrap().is_some());
    assert_eq!(lock.release_share('A', READ).unwrap(), 1);
    assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(1));
    assert_eq!(lock.value(), None);
}

#[test]
fn contended_share_is_confirmed_beside_a_queue_of_another_type() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    let q = lock.q.clone();
    spoil(&mut lock, &q);
    lock.share('A', READ, TTL).unwrap().token();
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.end_share('X', READ));
}

#[test]
fn grant_of_the_lock_alone_is_confirmed_beside_a_fence_and_a_queue_of_another_type() {
    let (server, mut lock) = start();
    let _b = listen(&server, "B");
    lock.acquire('A', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    lock.end('A').unwrap();
    for key in [lock.f.clone(), lock.q.clone()] {
        spoil(&mut lock, &key);
    }
    let confirmed = lock.share('B', READ, TTL).unwrap();
    assert!(
        matches!(confirmed, Answer::Held { flag: '+', .. }),
        "there may be waiters"
    );
    assert_eq!(inside(&mut lock), "B");
}

/// As after a failover that restores an old queue.
#[test]
fn writer_that_also_queues_leaves_the_queue_whatever_the_fence_is() {
    let (_server, mut lock) = start();
    lock.write('A', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    let (f, q) = (lock.f.clone(), lock.q.clone());
    let _: i64 = lock.command(&["ZADD", &q, "1", &entry('A')]);
    spoil(&mut lock, &f);
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(1));
    assert_eq!(lock.queue(), "B");
}

#[test]
fn shares_that_a_deleted_lock_left_go_with_the_next_grant() {
    let (server, mut lock) = start();
    let _w = listen(&server, "W");
    lock.share('A', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    expire(&mut lock);
    assert_waits(&lock.share('C', READ, TTL).unwrap(), 1);
    assert_eq!((holder(&mut lock), lock.shares()), (Some('W'), vec![]));
}

#[test]
fn share_comes_off_whatever_fence_and_queue_are() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "WC");
    for key in [lock.f.clone(), lock.q.clone()] {
        let _: () = lock.command(&["FLUSHALL"]);
        for who in ['A', 'B'] {
            lock.share(who, permits(1, 2), TTL).unwrap();
        }
        lock.share('C', permits(1, 2), TTL).unwrap();
        spoil(&mut lock, &key);
        assert_eq!(lock.end_share('A', permits(1, 2)).unwrap(), Answer::Code(1));
        assert_eq!((inside(&mut lock), sum(&mut lock)), ("B".to_owned(), 1));
        assert_eq!(lock.end_share('B', permits(1, 2)).unwrap(), Answer::Code(1));
        let (k, r) = (lock.k.clone(), lock.r.clone());
        assert_eq!(lock.command::<i64>(&["EXISTS", &k, &r]), 0);
    }
}

#[test]
fn writer_frees_the_lock_whatever_the_other_records_are() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    for key in [lock.f.clone(), lock.q.clone(), lock.r.clone()] {
        let _: () = lock.command(&["FLUSHALL"]);
        lock.write('A', TTL).unwrap();
        lock.share('B', READ, TTL).unwrap();
        spoil(&mut lock, &key);
        assert_eq!(lock.end_write('A').unwrap(), Answer::Code(1));
        assert_eq!(lock.value(), None);
    }
}

#[test]
fn shares_of_another_type_refuse_every_share() {
    let (_server, mut lock) = start();
    let r = lock.r.clone();
    spoil(&mut lock, &r);
    for ttl in [TTL, -TTL] {
        assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('A', READ, ttl));
    }
    lock.acquire('A', TTL).unwrap();
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('A', READ, TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('B', READ, TTL));
    lock.release('A').unwrap();
    let _: i64 = lock.command(&["DEL", &r]);
    lock.share('A', READ, TTL).unwrap();
    spoil(&mut lock, &r);
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('B', READ, TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.share('A', READ, TTL));
    assert_refused(&mut lock, WRONGTYPE, |lock| {
        lock.renew_share('A', READ, TTL)
    });
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.release_share('A', READ));
    assert_refused(&mut lock, WRONGTYPE, |lock| lock.end_share('A', READ));
    // A plain lock and a writer do not need them.
    assert_waits(&lock.write('W', TTL).unwrap(), 1);
}

#[test]
fn evicted_shares_let_nothing_in_until_the_lock_expires() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "CW");
    lock.share('A', READ, TTL).unwrap();
    let r = lock.r.clone();
    let _: i64 = lock.command(&["DEL", &r]);
    assert_eq!(lock.renew_share('A', READ, TTL).unwrap(), None);
    assert_eq!(lock.release_share('A', READ).unwrap(), -1);
    assert_waits(&lock.try_share('A', READ, TTL).unwrap(), 0);
    let answer = lock.share('C', READ, TTL).unwrap();
    assert!(
        matches!(answer, Answer::Waiting { counted: None, .. }),
        "{answer:?}"
    );
    assert_waits(&lock.write('W', TTL).unwrap(), 2);
    assert_eq!(lock.end_share('A', READ).unwrap(), Answer::Code(-1));
    assert_eq!(lock.end_share('C', READ).unwrap(), Answer::Code(3));
    assert_eq!(lock.command::<i64>(&["EXISTS", &r]), 0);
    lock.share('C', READ, TTL).unwrap();
    expire(&mut lock);
    lock.write('W', TTL).unwrap().token();
    assert_eq!((holder(&mut lock), lock.queue()), (Some('W'), "C".into()));
}

#[test]
fn sum_that_was_lost_lets_nothing_in() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    let r = lock.r.clone();
    let _: i64 = lock.command(&["ZREM", &r, "="]);
    assert_waits(&lock.try_share('B', READ, TTL).unwrap(), 0);
    assert_eq!(lock.release_share('A', READ).unwrap(), -1);
    assert_eq!(lock.end_share('A', READ).unwrap(), Answer::Code(-1));
    expire(&mut lock);
    lock.share('B', READ, TTL).unwrap().token();
    assert_eq!(inside(&mut lock), "B");
    lock.release_share('B', READ).unwrap();
    assert_nothing_left(&mut lock);
}
