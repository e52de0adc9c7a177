//! `end` without a successor: the release of a contended lock, and a waiter that gives up.

use harness::{Answer, Listener, entry, owner};

use super::{CLAIM, TTL, assert_runs_down, expire, holder, position, snapshot, start};

#[test]
fn an_end_without_waiters_frees_the_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    assert_eq!(lock.end('A').unwrap(), Answer::Code(1));
    assert_eq!(lock.value(), None);
    // Sent twice.
    assert_eq!(lock.end('A').unwrap(), Answer::Code(0));
}

#[test]
fn the_head_of_the_queue_is_served() {
    let (server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap().token();
    let mut b = Listener::new(&server, 'B');
    let _c = Listener::new(&server, 'C');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(b.next_push(), owner('B') + &lock.k);
    let value = lock.value().unwrap();
    let token: i64 = value[23..39].parse().unwrap();
    assert!(token >= first + 16);
    assert_eq!(value, format!("{}+{token:016} host-B", owner('B')));
    assert_runs_down(lock.pttl(), CLAIM);
    assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
    assert_eq!(lock.queue(), "C");

    // Sent twice, it finds B's claim and leaves it alone.
    assert_eq!(lock.end('A').unwrap(), Answer::Code(-1));
    assert_eq!(lock.value().unwrap(), value);
}

#[test]
fn the_last_waiter_is_served_without_the_flag() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(lock.value().unwrap().as_bytes()[22], b' ');
    assert_eq!(lock.queue_members(), []);
}

#[test]
fn the_dead_are_dropped_and_the_unreachable_skipped() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    let _d = Listener::new(&server, 'D');
    for who in ['B', 'C', 'D', 'E'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.stop_heart('B');
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('D'));
    assert_eq!(lock.queue(), "CE");
    assert_eq!(lock.queue_members().len(), 4);
}

#[test]
fn an_end_with_unreachable_waiters_frees_the_lock_for_their_polls() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.stop_heart('B');
    assert_eq!(lock.end('A').unwrap(), Answer::Code(1));
    assert_eq!(lock.value(), None);
    assert_eq!(lock.queue(), "C");
    lock.acquire('C', TTL).unwrap().token();
}

#[test]
fn a_waiter_leaves_the_queue() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    assert_eq!(lock.end('B').unwrap(), Answer::Code(3));
    assert_eq!(lock.queue(), "C");
    assert_eq!(lock.queue_members().len(), 2);
    assert_eq!(holder(&mut lock), Some('A'));
    // Sent twice.
    assert_eq!(lock.end('B').unwrap(), Answer::Code(-1));
    assert_eq!(position(&lock.acquire('C', TTL).unwrap()), 1);
}

#[test]
fn a_waiter_leaves_the_queue_of_a_free_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);
    assert_eq!(lock.end('B').unwrap(), Answer::Code(3));
    assert_eq!(lock.queue_members(), []);
    assert_eq!(lock.end('B').unwrap(), Answer::Code(0));
}

#[test]
fn an_owner_that_neither_holds_nor_queues_changes_nothing() {
    let (_server, mut lock) = start();
    assert_eq!(lock.end('X').unwrap(), Answer::Code(0));
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(lock.end('X').unwrap(), Answer::Code(-1));
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn a_grant_to_an_owner_that_gave_up_is_passed_on() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    let _c = Listener::new(&server, 'C');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.end('A').unwrap();
    assert_eq!(holder(&mut lock), Some('B'));
    assert_eq!(lock.end('B').unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('C'));
}

#[test]
fn a_holder_that_also_queues_leaves_the_queue_and_is_not_served_again() {
    // As a late poll of its own would leave it: before B, and after B.
    for ticket in [1, i64::MAX / 2_048] {
        let (server, mut lock) = start();
        lock.acquire('A', TTL).unwrap();
        let _listeners = [Listener::new(&server, 'A'), Listener::new(&server, 'B')];
        lock.acquire('B', TTL).unwrap();
        let (q, live_until) = (lock.q.clone(), lock.now() + 6_000_000);
        for (score, member) in [(ticket, entry('A')), (-live_until, owner('A'))] {
            let _: i64 = lock.command(&["ZADD", &q, &score.to_string(), &member]);
        }
        assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
        assert_eq!(holder(&mut lock), Some('B'));
        assert_eq!(lock.value().unwrap().as_bytes()[22], b' ');
        assert_eq!(lock.queue_members(), []);
    }
}
