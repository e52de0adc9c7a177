//! `share_acquire` where no waiter queues.

use harness::{Answer, Counted, READ, owner};

use super::{
    TTL, assert_consistent, assert_runs_down, assert_waits, expire, inside, permits, snapshot,
    start, sum,
};

#[test]
fn first_share_begins_a_phase() {
    let (_server, mut lock) = start();
    let answer = lock.share('A', READ, TTL).unwrap();
    let token = answer.token();
    let expected = Answer::Held {
        flag: ' ',
        token: format!("{token:016}"),
    };
    assert_eq!(answer, expected);
    assert_eq!(
        lock.value().unwrap(),
        format!("shared{token:016} {token:016} shared: host-A")
    );
    assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
    assert_eq!(inside(&mut lock), "A");
    assert_runs_down(lock.pttl(), TTL);
    assert_consistent(&mut lock);
}

#[test]
fn shares_that_join_have_the_token_of_the_phase() {
    let (_server, mut lock) = start();
    let first = lock.share('A', READ, TTL).unwrap();
    assert_eq!(lock.share('B', READ, TTL).unwrap(), first);
    assert_eq!(lock.try_share('C', permits(3, 9), TTL).unwrap(), first);
    assert_eq!(inside(&mut lock), "ABC");
    assert_eq!(sum(&mut lock), 5);
    assert_consistent(&mut lock);
}

#[test]
fn share_sent_twice_counts_once() {
    let (_server, mut lock) = start();
    let first = lock.share('A', permits(2, 5), TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    for who in ['A', 'A'] {
        assert_eq!(lock.share(who, permits(2, 5), TTL).unwrap(), first);
    }
    assert_eq!(sum(&mut lock), 3);
    assert_consistent(&mut lock);
}

#[test]
fn share_that_joins_raises_the_expiry_of_the_lock() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.share('B', READ, 2 * TTL).unwrap();
    assert_runs_down(lock.pttl(), 2 * TTL);
    lock.share('C', READ, TTL).unwrap();
    assert_runs_down(lock.pttl(), 2 * TTL);
    assert_consistent(&mut lock);
}

#[test]
fn confirmation_raises_a_share_and_never_lowers_it() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.share('A', READ, 2 * TTL).unwrap();
    assert_runs_down(lock.pttl(), 2 * TTL);
    let shares = lock.shares();
    lock.share('A', READ, TTL).unwrap();
    assert_eq!(lock.shares(), shares);
    assert_consistent(&mut lock);
}

#[test]
fn share_begun_beside_an_old_fence_counts_on_from_it() {
    let (_server, mut lock) = start();
    let f = lock.f.clone();
    let ahead = lock.now() + 3_600_000_000;
    let _: () = lock.command(&["SET", &f, &ahead.to_string()]);
    let first = lock.share('A', READ, TTL).unwrap();
    assert_eq!(first.token(), ahead + 16);
    // Of a phase that is ahead of the clock, the age is none.
    let Answer::Waiting { counted, .. } = lock.write('W', -TTL).unwrap() else {
        panic!("A shares the lock");
    };
    assert_eq!(counted.unwrap().age, 0);
    assert_consistent(&mut lock);
}

#[test]
fn tokens_rise_from_phase_to_lock_to_phase() {
    let (_server, mut lock) = start();
    let mut last = 0;
    for _ in 0..3 {
        let shared = lock.share('A', READ, TTL).unwrap().token();
        assert!(shared >= last + 16);
        lock.release_share('A', READ).unwrap();
        last = lock.acquire('B', TTL).unwrap().token();
        assert!(last >= shared + 16);
        lock.release('B').unwrap();
    }
}

#[test]
fn shares_of_a_deleted_lock_do_not_count_in_the_next_phase() {
    let (_server, mut lock) = start();
    let first = lock.share('A', permits(2, 3), TTL).unwrap().token();
    lock.share('B', READ, 2 * TTL).unwrap();
    expire(&mut lock);
    let second = lock.share('C', permits(3, 3), TTL).unwrap().token();
    assert!(second >= first + 16);
    assert_eq!(inside(&mut lock), "C");
    assert_consistent(&mut lock);
    assert_eq!(lock.renew_share('B', READ, TTL).unwrap(), None);
    assert_eq!(lock.release_share('A', permits(2, 3)).unwrap(), -1);
}

#[test]
fn lock_held_alone_makes_a_share_wait() {
    let (_server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    let held = lock.value().unwrap();
    let Answer::Waiting {
        remaining,
        position,
        value,
        counted,
    } = lock.share('B', READ, TTL).unwrap()
    else {
        panic!("A holds the lock");
    };
    assert_runs_down(remaining, TTL);
    assert_eq!((position, value, counted), (1, held, None));
    assert_eq!(
        lock.value().unwrap(),
        format!("{}+{token:016} host-A", owner('A'))
    );
    let members = lock.queue_members();
    assert!(
        members.iter().any(|(member, _)| *member == READ.entry('B')),
        "{members:?}"
    );
}

#[test]
fn foreign_lock_makes_a_share_wait_and_stays_as_it_is() {
    let (_server, mut lock) = start();
    let k = lock.k.clone();
    let foreign = "x".repeat(1 << 12);
    let _: () = lock.command(&["SET", &k, &foreign]);
    let answer = lock.share('B', READ, TTL).unwrap();
    let Answer::Waiting {
        remaining, value, ..
    } = &answer
    else {
        panic!("another program holds the lock");
    };
    assert_eq!((*remaining, &value[..]), (-1, &foreign[..512]));
    assert_waits(&answer, 1);
    assert_eq!(lock.value().unwrap(), foreign);
    assert_eq!(lock.renew_share('B', READ, TTL).unwrap(), None);
    assert_eq!(lock.release_share('B', READ).unwrap(), -1);
}

#[test]
fn attempt_without_queueing_writes_nothing_if_the_lock_is_held() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_waits(&lock.try_share('B', READ, TTL).unwrap(), 0);
    assert_eq!(snapshot(&mut lock), before);
    lock.release('A').unwrap();
    lock.share('A', permits(2, 2), TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_waits(&lock.try_share('B', permits(1, 2), TTL).unwrap(), 0);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn waiter_learns_who_shares_the_lock_and_since_when() {
    let (server, mut lock) = start();
    lock.share('A', permits(2, 9), TTL).unwrap();
    server.forward(std::time::Duration::from_millis(2_500));
    lock.share('B', READ, TTL).unwrap();
    let counted = |answer: Answer| match answer {
        Answer::Waiting { counted, .. } => counted.expect("the lock is shared"),
        other => panic!("{other:?}"),
    };
    let answers = [
        lock.write('W', -TTL).unwrap(),
        lock.share('P', permits(1, 3), TTL).unwrap(),
    ];
    for answer in answers {
        let Counted { owners, taken, age } = counted(answer);
        assert_eq!((owners, taken), (2, 3));
        // Valkey 9.1 counts on for some milliseconds after its last look at the clock.
        assert!((2_490..=2_510).contains(&age), "{age} ms");
    }
    // A plain lock names no R, and a lock that is held alone has no shares.
    let plain = lock.try_acquire('X', TTL).unwrap();
    assert!(matches!(plain, Answer::Waiting { counted: None, .. }));
}
