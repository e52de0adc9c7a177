//! All locks are free, or the owner's: it takes and confirms them.

use harness::{Answer, RawLocks, entry};

use super::{TTL, assert_runs_down, assert_tokens, expire, holders, listen, start, token};

#[test]
fn free_locks_are_taken_together() {
    let (_server, mut all) = start();
    let taken = token(&all.acquire('A', TTL).unwrap());
    assert_tokens(&mut all, taken);
    for lock in &mut all.locks {
        let (value, digits) = (lock.value().unwrap(), format!("{taken:016}"));
        let entry = entry('A');
        assert_eq!(value, format!("{} {digits}{}", &entry[..22], &entry[22..]));
        assert_runs_down(lock.pttl(), TTL);
        assert_eq!(lock.queue_members(), []);
    }
}

#[test]
fn attempt_takes_free_locks_too() {
    let (_server, mut all) = start();
    token(&all.try_acquire('A', TTL).unwrap());
    assert_eq!(holders(&mut all), "AAA");
}

#[test]
fn thirty_two_locks_are_taken_confirmed_renewed_and_released() {
    let (server, _) = start();
    let names: Vec<String> = (10..42).map(|number| format!("b:{number}")).collect();
    let mut all = RawLocks::new(&server, names.iter().map(String::as_str));
    let taken = token(&all.acquire('A', TTL).unwrap());
    assert_eq!(token(&all.acquire('A', TTL).unwrap()), taken);
    assert_tokens(&mut all, taken);
    assert_eq!(
        all.renew('A', TTL).unwrap().unwrap(),
        format!(" {taken:016}")
    );
    assert_eq!(all.release('A').unwrap(), 1);
    assert_eq!(holders(&mut all), ".".repeat(32));
    token(&all.acquire('B', TTL).unwrap());
    assert_eq!(all.end('B').unwrap(), 1);
    assert_eq!(holders(&mut all), ".".repeat(32));
}

#[test]
fn confirmation_sets_the_leases_and_keeps_the_token() {
    let (_server, mut all) = start();
    let taken = token(&all.acquire('A', TTL).unwrap());
    for ttl in [2 * TTL, TTL] {
        assert_eq!(token(&all.acquire('A', ttl).unwrap()), taken);
        for lock in &mut all.locks {
            assert_runs_down(lock.pttl(), ttl);
        }
    }
    assert_tokens(&mut all, taken);
}

#[test]
fn token_is_above_those_of_each_lock_before() {
    let (_server, mut all) = start();
    let ahead = all.locks[0].now() + 60_000_000;
    let f = all.locks[1].f.clone();
    let _: () = all.locks[0].command(&["SET", &f, &ahead.to_string()]);
    let taken = token(&all.acquire('A', TTL).unwrap());
    assert_eq!(taken, ahead + 16);
    assert_tokens(&mut all, taken);
    for lock in &mut all.locks {
        let f = lock.f.clone();
        let expires = lock.expires_at(&f);
        assert_eq!(expires, taken / 1_000 + 86_400_000);
    }
}

#[test]
fn lock_that_was_taken_first_gets_the_token_of_the_last() {
    let (_server, mut all) = start();
    all.locks[2].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    let first: i64 = all.locks[0].fence().unwrap().parse().unwrap();
    let ahead = first + 60_000_000;
    let f = all.locks[2].f.clone();
    let _: () = all.locks[2].command(&["SET", &f, &ahead.to_string()]);
    expire(&mut all.locks[2]);
    let taken = token(&all.acquire('A', TTL).unwrap());
    assert_eq!(taken, ahead + 16);
    assert_tokens(&mut all, taken);
    assert_eq!(holders(&mut all), "AAA");
    assert_eq!(all.locks[2].queue_members(), []);
}

#[test]
fn flag_says_that_a_waiter_queues_for_any_of_them() {
    let (_server, mut all) = start();
    all.acquire('A', TTL).unwrap();
    for (number, flag) in [(2, '+'), (0, '+')] {
        all.locks[number].acquire('B', TTL).unwrap();
        let (_, answer) = all.acquire('A', TTL).unwrap();
        assert!(matches!(answer, Answer::Held { flag: of, .. } if of == flag));
        all.locks[number].end('B').unwrap();
    }
}

#[test]
fn lock_behind_waiters_that_are_dead_is_taken() {
    let (_server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    all.locks[1].acquire('C', TTL).unwrap();
    all.locks[1].stop_heart('C');
    expire(&mut all.locks[1]);
    token(&all.acquire('A', TTL).unwrap());
    assert_eq!(holders(&mut all), "AAA");
    assert_eq!(all.locks[1].queue_members(), []);
    assert_eq!(all.release('A').unwrap(), 1);
}

#[test]
fn lock_with_a_waiter_that_does_not_answer_is_taken_and_flagged() {
    let (_server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    all.locks[1].acquire('C', TTL).unwrap();
    let q = all.locks[1].q.clone();
    // C polled two seconds ago, and its process is not subscribed.
    let stale = (-(all.locks[1].now() + 4_000_000)).to_string();
    let _: i64 = all.locks[1].command(&["ZADD", &q, "XX", &stale, &harness::owner('C')]);
    expire(&mut all.locks[1]);
    let (_, answer) = all.acquire('A', TTL).unwrap();
    assert!(
        matches!(answer, Answer::Held { flag: '+', .. }),
        "{answer:?}"
    );
    assert_eq!(holders(&mut all), "AAA");
    assert_eq!(all.locks[1].queue(), "C");
}

#[test]
fn grant_of_a_hand_off_is_confirmed_with_the_others() {
    let (server, mut all) = start();
    let _a = listen(&server, "A");
    all.locks[1].acquire('B', TTL).unwrap();
    assert_eq!(all.acquire('A', TTL).unwrap().0, 2);
    all.locks[1].end('B').unwrap();
    assert_eq!(holders(&mut all), "AA.");
    let taken = token(&all.acquire('A', TTL).unwrap());
    assert_tokens(&mut all, taken);
    for lock in &mut all.locks {
        assert_runs_down(lock.pttl(), TTL);
    }
}

#[test]
fn owner_at_the_head_of_a_free_lock_takes_it() {
    let (_server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    expire(&mut all.locks[1]);
    token(&all.acquire('A', TTL).unwrap());
    assert_eq!(holders(&mut all), "AAA");
    assert_eq!(all.locks[1].queue_members(), []);
}
