//! `acquire` on a free lock, on the caller's own, on a taken one and on a foreign one.

use harness::{Answer, entry, owner};

use super::{TTL, assert_runs_down, expire, holder, position, snapshot, start};

#[test]
fn a_free_lock_is_taken() {
    let (_server, mut lock) = start();
    let answer = lock.acquire('A', TTL).unwrap();
    let token = answer.token();
    assert_eq!(
        answer,
        Answer::Held {
            flag: ' ',
            token: format!("{token:016}")
        }
    );
    assert_eq!(
        lock.value().unwrap(),
        format!("{} {token:016} host-A", owner('A'))
    );
    assert_runs_down(lock.pttl(), TTL);
    assert_eq!(lock.queue(), "");
}

#[test]
fn an_attempt_without_queueing_takes_a_free_lock() {
    let (_server, mut lock) = start();
    lock.try_acquire('A', TTL).unwrap().token();
    assert_runs_down(lock.pttl(), TTL);
}

#[test]
fn an_acquire_sent_twice_answers_the_same_token() {
    let (_server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap();
    assert_eq!(lock.acquire('A', TTL).unwrap(), first);
    assert_eq!(lock.try_acquire('A', TTL).unwrap(), first);
    assert_eq!(lock.fence().unwrap(), format!("{:016}", first.token()));
}

#[test]
fn an_own_lock_gets_the_ttl_that_is_asked_for() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('A', 2 * TTL).unwrap();
    assert_runs_down(lock.pttl(), 2 * TTL);
    lock.acquire('A', TTL).unwrap();
    assert_runs_down(lock.pttl(), TTL);
}

#[test]
fn a_lease_whose_expiry_was_taken_away_gets_it_back() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let k = lock.k.clone();
    let _: i64 = lock.command(&["PERSIST", &k]);
    lock.acquire('A', TTL).unwrap().token();
    assert_runs_down(lock.pttl(), TTL);
}

#[test]
fn a_large_foreign_value_is_answered_by_its_beginning() {
    const LARGE: usize = 1 << 20;
    let (_server, mut lock) = start();
    let k = lock.k.clone();
    lock.command::<()>(&["SET", &k, &"x".repeat(LARGE)]);
    for answer in [lock.acquire('A', TTL), lock.try_acquire('B', TTL)] {
        let Answer::Waiting { value, .. } = answer.unwrap() else {
            panic!("it is held");
        };
        assert_eq!(value, "x".repeat(512));
    }
    let length: usize = lock.command(&["STRLEN", &k]);
    assert_eq!(length, LARGE);
}

#[test]
fn a_taken_lock_answers_its_rest_and_its_value() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let held = lock.value().unwrap();
    let Answer::Waiting {
        remaining,
        position,
        value,
        ..
    } = lock.acquire('B', TTL).unwrap()
    else {
        panic!("B must wait");
    };
    assert_runs_down(remaining, TTL);
    assert_eq!(position, 1);
    assert_eq!(value, held);
}

#[test]
fn queueing_sets_the_flag_and_keeps_the_lease() {
    let (_server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    lock.acquire('B', TTL).unwrap();
    assert_eq!(
        lock.value().unwrap(),
        format!("{}+{token:016} host-A", owner('A'))
    );
    assert_runs_down(lock.pttl(), TTL);
    // The holder learns this from its next message of any kind.
    assert_eq!(
        lock.acquire('A', TTL).unwrap(),
        Answer::Held {
            flag: '+',
            token: format!("{token:016}")
        }
    );
}

#[test]
fn a_poll_heals_the_flag() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let k = lock.k.clone();
    let _: i64 = lock.command(&["SETRANGE", &k, "22", " "]);
    lock.acquire('B', TTL).unwrap();
    assert_eq!(lock.value().unwrap().as_bytes()[22], b'+');
}

#[test]
fn an_attempt_without_queueing_writes_nothing_when_the_lock_is_taken() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(position(&lock.try_acquire('B', TTL).unwrap()), 0);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn a_foreign_value_is_never_touched() {
    let foreign = [
        "d9b5b2a0-6a41-4f3e-bd2e-0d4c5a1f3c77".to_owned(),
        String::new(),
        // One character off: the flag, a digit, the space before the label, the length.
        format!("{}x{} host-X", owner('X'), "1".repeat(16)),
        format!("{} {} host-X", owner('X'), "1".repeat(15) + "x"),
        format!("{} {}host-X", owner('X'), "1".repeat(16)),
        format!("{} {}", owner('X'), "1".repeat(16)),
    ];
    let (_server, mut lock) = start();
    let (k, q) = (lock.k.clone(), lock.q.clone());
    for value in foreign {
        let _: () = lock.command(&["SET", &k, &value, "PX", &TTL.to_string()]);
        let Answer::Waiting {
            remaining,
            position,
            value: seen,
            ..
        } = lock.acquire('B', TTL).unwrap()
        else {
            panic!("{value:?} holds the lock");
        };
        assert_runs_down(remaining, TTL);
        assert_eq!((position, &seen), (1, &value));
        assert_eq!(lock.value().as_ref(), Some(&value));
        let _: i64 = lock.command(&["DEL", &q]);
    }
}

#[test]
fn a_foreign_lock_without_expiry_answers_minus_one() {
    let (_server, mut lock) = start();
    let k = lock.k.clone();
    let _: () = lock.command(&["SET", &k, "foreign"]);
    for answer in [
        lock.acquire('B', TTL).unwrap(),
        lock.try_acquire('C', TTL).unwrap(),
    ] {
        assert!(
            matches!(answer, Answer::Waiting { remaining: -1, .. }),
            "{answer:?}"
        );
    }
    assert_eq!(lock.pttl(), -1);
}

#[test]
fn an_expired_lease_is_free() {
    let (_server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap().token();
    expire(&mut lock);
    assert!(lock.acquire('B', TTL).unwrap().token() >= first + 16);
    assert_eq!(holder(&mut lock), Some('B'));
}

#[test]
fn the_label_is_everything_behind_the_owner() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let members: Vec<String> = lock
        .queue_members()
        .into_iter()
        .map(|(member, _)| member)
        .collect();
    assert_eq!(members, [owner('B'), entry('B')]);
}
