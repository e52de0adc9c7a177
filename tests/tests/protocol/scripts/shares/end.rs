//! `share_end`.

use harness::{Answer, Listener, READ, owner};

use super::{
    CLAIM, TTL, assert_consistent, assert_nothing_left, assert_runs_down, assert_waits, expire,
    holder, inside, listen, permits, snapshot, start, sum,
};

#[test]
fn share_is_taken_off_and_the_last_frees_the_lock() {
    let (_server, mut lock) = start();
    lock.share('A', READ, 2 * TTL).unwrap();
    lock.share('B', permits(2, 9), TTL).unwrap();
    assert_eq!(lock.end_share('A', READ).unwrap(), Answer::Code(1));
    assert_eq!((inside(&mut lock), sum(&mut lock)), ("B".to_owned(), 2));
    assert_runs_down(lock.pttl(), TTL);
    assert_consistent(&mut lock);
    assert_eq!(
        lock.end_share('A', READ).unwrap(),
        Answer::Code(-1),
        "sent twice"
    );
    assert_consistent(&mut lock);
    assert_eq!(lock.end_share('B', permits(2, 9)).unwrap(), Answer::Code(1));
    assert_nothing_left(&mut lock);
    assert_eq!(
        lock.end_share('B', permits(2, 9)).unwrap(),
        Answer::Code(0),
        "sent twice"
    );
}

#[test]
fn another_share_stays() {
    let (_server, mut lock) = start();
    lock.share('A', permits(2, 9), TTL).unwrap();
    let before = snapshot(&mut lock);
    for (who, share) in [('B', READ), ('A', READ), ('B', permits(2, 9))] {
        assert_eq!(lock.end_share(who, share).unwrap(), Answer::Code(-1));
    }
    assert_eq!(lock.end_write('B').unwrap(), Answer::Code(-1));
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn lock_that_another_owner_holds_alone_stays() {
    let (_server, mut lock) = start();
    assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(0));
    lock.acquire('A', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(-1));
    assert_eq!(lock.end_write('B').unwrap(), Answer::Code(-1));
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn last_share_is_handed_to_the_writer_that_waits() {
    let (server, mut lock) = start();
    let mut w = Listener::new(&server, 'W');
    let first = lock.share('A', READ, TTL).unwrap().token();
    lock.write('W', TTL).unwrap();
    assert_eq!(lock.end_share('A', READ).unwrap(), Answer::Code(2));
    assert_eq!(w.next_push(), owner('W') + &lock.k);
    let value = lock.value().unwrap();
    let token: i64 = value[23..39].parse().unwrap();
    assert!(token >= first + 16);
    assert_eq!(value, format!("{} {token:016} host-W", owner('W')));
    assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
    assert_runs_down(lock.pttl(), CLAIM);
    let r = lock.r.clone();
    assert_eq!(lock.command::<i64>(&["EXISTS", &r]), 0);
}

#[test]
fn permit_that_is_given_back_goes_to_the_waiter() {
    let (server, mut lock) = start();
    let mut c = Listener::new(&server, 'C');
    let first = lock.share('A', permits(1, 2), TTL).unwrap().token();
    lock.share('B', permits(1, 2), TTL).unwrap();
    lock.share('C', permits(1, 2), TTL).unwrap();
    assert_eq!(lock.end_share('A', permits(1, 2)).unwrap(), Answer::Code(2));
    assert_eq!(c.next_push(), owner('C') + &lock.k);
    assert_eq!(inside(&mut lock), "BC");
    assert_consistent(&mut lock);
    // The claim is a share of a second and a half, until it is confirmed.
    let shares = lock.shares();
    let ends = |who| shares.iter().find(|(member, _)| *member == owner(who));
    let left = (ends('C').unwrap().1 - lock.now()) / 1_000;
    assert_runs_down(left, CLAIM);
    let confirmed = lock.share('C', permits(1, 2), TTL).unwrap();
    assert_eq!(confirmed.token(), first);
    assert_runs_down(lock.pttl(), TTL);
    assert_consistent(&mut lock);
}

#[test]
fn silent_waiters_leave_the_lock_free_for_their_polls() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    assert_eq!(lock.end_share('A', READ).unwrap(), Answer::Code(1));
    assert_eq!(lock.value(), None);
    assert_eq!(lock.queue(), "W");
    lock.write('W', TTL).unwrap().token();
}

#[test]
fn waiter_that_gives_up_lets_those_behind_it_in() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    lock.share('A', permits(2, 4), TTL).unwrap();
    lock.write('W', TTL).unwrap();
    lock.share('B', permits(2, 4), TTL).unwrap();
    lock.share('C', permits(1, 4), TTL).unwrap();
    assert_eq!(lock.end_write('W').unwrap(), Answer::Code(3));
    assert_eq!(inside(&mut lock), "AB");
    assert_eq!(lock.queue(), "C");
    assert_consistent(&mut lock);
    assert_eq!(lock.end_share('C', permits(1, 4)).unwrap(), Answer::Code(3));
    assert_eq!(lock.queue_members(), []);
    assert_consistent(&mut lock);
    assert_eq!(
        lock.end_share('C', permits(1, 4)).unwrap(),
        Answer::Code(-1)
    );
}

#[test]
fn waiter_leaves_the_queue_of_a_lock_that_is_held_alone() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(3));
    assert_eq!((holder(&mut lock), lock.queue()), (Some('A'), "C".into()));
    expire(&mut lock);
    assert_waits(&lock.write('W', TTL).unwrap(), 1);
}

#[test]
fn waiter_that_leaves_a_free_lock_serves_the_next() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "CD");
    lock.acquire('A', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    lock.write('C', TTL).unwrap();
    lock.share('D', READ, TTL).unwrap();
    expire(&mut lock);
    assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(3));
    assert_eq!(holder(&mut lock), Some('C'));
    expire(&mut lock);
    assert_eq!(lock.end_write('X').unwrap(), Answer::Code(0));
    assert_eq!(
        lock.value(),
        None,
        "an owner that did not queue serves none"
    );
    lock.share('E', READ, TTL).unwrap().token();
    assert_eq!(inside(&mut lock), "DE");
}

#[test]
fn grant_to_an_owner_that_gave_up_is_passed_on() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    lock.end('A').unwrap();
    assert_eq!(holder(&mut lock), Some('B'));
    assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "C");
    assert_consistent(&mut lock);
}
