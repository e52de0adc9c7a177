//! A lock in the way: the owner has those before it, and waits for it in its queue.

use harness::{Answer, READ, entry};

use super::{
    CLAIM, TTL, assert_runs_down, expire, holders, in_the_way, listen, snapshot, start, token,
};

/// The answer that all were held is lost, and then one of them.
#[test]
fn poll_says_that_the_caller_has_a_lock_behind_the_one_in_the_way() {
    for number in 0..3 {
        let (_server, mut all) = start();
        all.acquire('A', TTL).unwrap();
        expire(&mut all.locks[number]);
        all.locks[number].acquire('B', TTL).unwrap();
        let place = in_the_way(&all.acquire('A', TTL).unwrap());
        assert_eq!(place, (number + 1, 1));
        assert_eq!(all.holds_later, number < 2);
        all.end('A').unwrap();
        assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()).0, number + 1);
        assert!(!all.holds_later, "{number}");
    }
}

#[test]
fn locks_before_the_one_in_the_way_are_taken() {
    let (server, mut all) = start();
    let mut b = listen(&server, "B");
    all.locks[1].acquire('B', TTL).unwrap();
    let answer = all.acquire('A', 2 * TTL).unwrap();
    assert_eq!(in_the_way(&answer), (2, 1));
    let Answer::Waiting {
        remaining, value, ..
    } = answer.1
    else {
        unreachable!("it has a position");
    };
    assert_runs_down(remaining, TTL);
    assert_eq!(value.chars().next(), Some('B'));
    assert_eq!(all.locks[1].value().unwrap().as_bytes()[22], b'+');
    assert_eq!(holders(&mut all), "AB.");
    assert_runs_down(all.locks[0].pttl(), 2 * TTL);
    assert_eq!(all.locks[1].queue(), "A");
    assert_eq!(all.locks[2].queue(), "");
    assert!(b[0].next_push().ends_with("lock:a:2"));
}

#[test]
fn lock_in_the_way_of_the_first_leaves_the_others_alone() {
    let (_server, mut all) = start();
    all.locks[0].acquire('B', TTL).unwrap();
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (1, 1));
    assert_eq!(holders(&mut all), "B..");
}

#[test]
fn attempt_writes_nothing_if_a_lock_is_in_the_way() {
    let (_server, mut all) = start();
    all.locks[2].acquire('B', TTL).unwrap();
    let before = snapshot(&mut all);
    assert_eq!(in_the_way(&all.try_acquire('A', TTL).unwrap()), (3, 0));
    assert_eq!(snapshot(&mut all), before);
}

#[test]
fn attempt_of_an_owner_that_has_a_part_leaves_that_as_it_is() {
    let (_server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    assert_eq!(in_the_way(&all.try_acquire('A', 2 * TTL).unwrap()), (2, 1));
    assert_runs_down(all.locks[0].pttl(), TTL);
}

#[test]
fn poll_extends_the_locks_before_and_keeps_the_place() {
    let (_server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    for (who, place) in [('A', 1), ('C', 1), ('A', 1)] {
        let number = if who == 'C' { 1 } else { 2 };
        let answer = all.acquire(who, 2 * TTL).unwrap();
        assert_eq!(in_the_way(&answer), (number, place), "{who}");
    }
    let k = all.locks[0].k.clone();
    let _: i64 = all.locks[0].command(&["PEXPIRE", &k, "1000"]);
    assert_eq!(in_the_way(&all.acquire('A', 2 * TTL).unwrap()), (2, 1));
    assert_runs_down(all.locks[0].pttl(), 2 * TTL);
    assert_eq!(all.locks[0].queue(), "C");
    assert_eq!(all.locks[1].queue(), "A");
}

#[test]
fn owners_queue_in_order_of_arrival() {
    let (_server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    all.locks[1].acquire('C', TTL).unwrap();
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (2, 2));
    assert_eq!(all.locks[1].queue(), "CA");
}

#[test]
fn free_lock_goes_to_the_head_of_its_queue() {
    let (server, mut all) = start();
    let _c = listen(&server, "C");
    for queues in [true, false] {
        all.locks[1].acquire('B', TTL).unwrap();
        all.locks[1].acquire('C', TTL).unwrap();
        expire(&mut all.locks[1]);
        let (answer, place) = match queues {
            true => (all.acquire('A', TTL), 1),
            false => (all.try_acquire('A', TTL), 0),
        };
        assert_eq!(in_the_way(&answer.unwrap()), (2, place));
        let before = if queues { 'A' } else { '.' };
        assert_eq!(holders(&mut all), format!("{before}C."));
        assert_runs_down(all.locks[1].pttl(), CLAIM);
        all.end('A').unwrap();
        all.locks[1].end('C').unwrap();
    }
}

#[test]
fn waiter_of_one_lock_is_not_overtaken() {
    let (server, mut all) = start();
    let mut c = listen(&server, "C");
    all.locks[0].acquire('B', TTL).unwrap();
    all.locks[0].acquire('C', TTL).unwrap();
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (1, 2));
    all.locks[0].end('B').unwrap();
    assert!(c[0].next_push().ends_with("lock:a:1"));
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (1, 1));
    assert_eq!(holders(&mut all), "C..");
}

#[test]
fn earlier_lock_that_was_lost_is_named() {
    let (_server, mut all) = start();
    all.locks[2].acquire('B', TTL).unwrap();
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (3, 1));
    expire(&mut all.locks[0]);
    all.locks[0].acquire('C', TTL).unwrap();
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (1, 1));
    // The client ends the owner and begins anew.
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(holders(&mut all), "C.B");
    assert_eq!(all.locks[2].queue(), "");
}

#[test]
fn earlier_lock_that_was_lost_and_is_free_is_taken_again() {
    let (_server, mut all) = start();
    all.locks[2].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    expire(&mut all.locks[0]);
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (3, 1));
    assert_eq!(holders(&mut all), "AAB");
}

#[test]
fn grant_of_a_later_lock_is_not_confirmed_while_an_earlier_one_is_in_the_way() {
    let (server, mut all) = start();
    let _a = listen(&server, "A");
    all.locks[1].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    expire(&mut all.locks[0]);
    all.locks[0].acquire('C', TTL).unwrap();
    all.locks[1].end('B').unwrap();
    assert_eq!(holders(&mut all), "CA.");
    assert_eq!(in_the_way(&all.acquire('A', TTL).unwrap()), (1, 1));
    assert_runs_down(all.locks[1].pttl(), CLAIM);
}

#[test]
fn foreign_holder_is_waited_for_and_not_changed() {
    let (_server, mut all) = start();
    let k = all.locks[1].k.clone();
    let long = "x".repeat(1_000);
    let _: () = all.locks[1].command(&["SET", &k, &long]);
    let (number, answer) = all.acquire('A', TTL).unwrap();
    let Answer::Waiting {
        remaining, value, ..
    } = answer
    else {
        panic!("{answer:?}");
    };
    assert_eq!((number, remaining, value.len()), (2, -1, 512));
    assert_eq!(all.locks[1].value().unwrap(), long);
    assert_eq!(all.locks[1].queue(), "A");
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(holders(&mut all), ".x.");
}

#[test]
fn shared_lock_is_waited_for_until_its_shares_end() {
    let (server, mut all) = start();
    let _a = listen(&server, "A");
    all.locks[1].share('R', READ, TTL).unwrap();
    let (number, answer) = all.acquire('A', TTL).unwrap();
    let Answer::Waiting { value, counted, .. } = answer else {
        panic!("{answer:?}");
    };
    assert_eq!((number, &value[..6], counted), (2, "shared", None));
    assert_eq!(all.locks[1].release_share('R', READ).unwrap(), 2);
    all.locks[1].end_share('R', READ).unwrap();
    token(&all.acquire('A', TTL).unwrap());
    assert_eq!(holders(&mut all), "AAA");
}

/// A script of several locks names no shares: its fourth key is another lock's.
#[test]
fn shared_lock_is_not_counted_by_the_record_of_another_lock() {
    let (_server, mut all) = start();
    all.locks[0].share('R', READ, TTL).unwrap();
    let k = all.locks[1].k.clone();
    let _: i64 = all.locks[1].command(&["ZADD", &k, "-7", "="]);
    let (number, answer) = all.acquire('A', TTL).unwrap();
    assert!(
        matches!(answer, Answer::Waiting { counted: None, .. }),
        "{answer:?}"
    );
    assert_eq!(number, 1);
}

#[test]
fn waiting_reader_is_served_by_the_end_of_all() {
    let (server, mut all) = start();
    let _r = listen(&server, "R");
    all.acquire('A', TTL).unwrap();
    all.locks[1].share('R', READ, TTL).unwrap();
    assert_eq!(all.release('A').unwrap(), 2);
    assert_eq!(all.end('A').unwrap(), 2);
    all.locks[1].share('R', READ, TTL).unwrap().token();
    assert_eq!(&all.locks[1].value().unwrap()[..6], "shared");
}

#[test]
fn queue_that_is_full_refuses_the_owner() {
    let (_server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    let q = all.locks[1].q.clone();
    let fill = "for i = 1, 16384 do redis.call('ZADD', KEYS[1], i, 'w' .. i) end";
    let _: () = all.locks[1].command(&["EVAL", fill, "1", &q]);
    let error = all.acquire('A', TTL).unwrap_err();
    assert_eq!(error.code(), Some("LOCKQUEUEFULL"), "{error}");
    // What it has until its end.
    assert_eq!(holders(&mut all), "AB.");
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(holders(&mut all), ".B.");
    let place = all.locks[1].queue_members();
    assert!(!place.iter().any(|(member, _)| *member == entry('A')));
}
