//! `keys_end`: the owner holds and queues no more.

use super::{
    CLAIM, TTL, assert_nothing_left, assert_runs_down, expire, holders, in_the_way, listen,
    snapshot, start, token,
};

#[test]
fn locks_without_waiters_are_freed() {
    let (_server, mut all) = start();
    all.acquire('A', TTL).unwrap();
    assert_eq!(all.end('A').unwrap(), 1);
    assert_nothing_left(&mut all);
    assert_eq!(all.end('A').unwrap(), 0);
}

#[test]
fn each_lock_goes_to_the_head_of_its_queue() {
    let (server, mut all) = start();
    let mut listeners = listen(&server, "BC");
    let taken = token(&all.acquire('A', TTL).unwrap());
    all.locks[0].acquire('B', TTL).unwrap();
    all.locks[2].acquire('C', TTL).unwrap();
    assert_eq!(all.end('A').unwrap(), 2);
    assert_eq!(holders(&mut all), "B.C");
    for (number, listener) in [(0, 0), (2, 1)] {
        let lock = &mut all.locks[number];
        assert_runs_down(lock.pttl(), CLAIM);
        assert!(lock.fence().unwrap().parse::<i64>().unwrap() >= taken + 16);
        assert!(listeners[listener].next_push().ends_with(&lock.k));
        assert_eq!(lock.queue_members(), []);
    }
}

#[test]
fn owner_that_waits_leaves_the_queue_and_gives_back_what_it_has() {
    let (server, mut all) = start();
    let _c = listen(&server, "C");
    all.locks[1].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    assert_eq!(in_the_way(&all.acquire('C', TTL).unwrap()), (1, 1));
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(holders(&mut all), "CB.");
    assert_eq!(all.locks[1].queue(), "");
}

#[test]
fn owner_that_waits_for_the_first_lock_leaves_its_queue() {
    let (_server, mut all) = start();
    all.locks[0].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(all.locks[0].queue_members(), []);
    assert_eq!(all.end('A').unwrap(), 0);
}

#[test]
fn grant_that_was_not_confirmed_is_given_on() {
    let (server, mut all) = start();
    let _listeners = listen(&server, "AC");
    all.locks[1].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    all.locks[1].acquire('C', TTL).unwrap();
    all.locks[1].end('B').unwrap();
    assert_eq!(holders(&mut all), "AA.");
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(holders(&mut all), ".C.");
}

#[test]
fn locks_of_others_are_left_alone() {
    let (_server, mut all) = start();
    all.acquire('B', TTL).unwrap();
    let before = snapshot(&mut all);
    assert_eq!(all.end('A').unwrap(), 0);
    assert_eq!(snapshot(&mut all), before);
}

#[test]
fn lock_that_was_lost_is_reported_and_the_others_are_freed() {
    for number in 0..3 {
        let (server, mut all) = start();
        let _b = listen(&server, "B");
        all.acquire('A', TTL).unwrap();
        all.locks[(number + 1) % 3].acquire('B', TTL).unwrap();
        expire(&mut all.locks[number]);
        assert_eq!(all.end('A').unwrap(), 3);
        let left: String = (0..3)
            .map(|of| if of == (number + 1) % 3 { 'B' } else { '.' })
            .collect();
        assert_eq!(holders(&mut all), left);
    }
}

#[test]
fn own_stale_place_is_removed() {
    let (server, mut all) = start();
    let _listeners = listen(&server, "AB");
    all.acquire('A', TTL).unwrap();
    let (q, lock) = (all.locks[1].q.clone(), &mut all.locks[1]);
    // As after a failover that restores an old queue.
    let _: i64 = lock.command(&["ZADD", &q, "5", &harness::entry('A')]);
    lock.acquire('B', TTL).unwrap();
    assert_eq!(all.end('A').unwrap(), 2);
    assert_eq!(holders(&mut all), ".B.");
    assert_eq!(all.locks[1].queue_members(), []);
}

#[test]
fn waiters_that_are_dead_are_dropped() {
    let (server, mut all) = start();
    let _c = listen(&server, "C");
    all.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        all.locks[1].acquire(who, TTL).unwrap();
    }
    all.locks[1].stop_heart('B');
    assert_eq!(all.end('A').unwrap(), 2);
    assert_eq!(holders(&mut all), ".C.");
    assert_eq!(all.locks[1].queue_members(), []);
}
