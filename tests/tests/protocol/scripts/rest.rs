//! `rest`, of one lock and of several.

use harness::{Answer, Listener, RawLock, RawLocks, RedisServer, Share, code_of, owner};

use super::moving_slot::MovingSlot;
use super::{TTL, assert_refused, assert_runs_down, expire, holder, position, snapshot, start};

const MINIMUM: i64 = 3 * TTL;

/// The name that the record of a lock at rest has in the place of the owner.
#[track_caller]
fn assert_at_rest(lock: &mut RawLock, flag: char, token: i64) {
    let value = lock.value().expect("the lock is taken");
    let begin = format!("rested{token:016}{flag}{token:016} ");
    assert!(value.starts_with(&begin), "{value}");
}

fn several() -> (RedisServer, RawLocks) {
    let server = RedisServer::start();
    let all = RawLocks::new(&server, ["a:1", "a:2", "a:3"]);
    (server, all)
}

#[test]
fn lock_at_rest_has_no_owner_and_a_new_expiry() {
    for ms in [MINIMUM, TTL / 2] {
        let (_server, mut lock) = start();
        let token = lock.acquire('A', TTL).unwrap().token();
        let label = lock.value().unwrap()[39..].to_owned();
        assert_eq!(lock.rest('A', ms).unwrap(), 1);
        assert_at_rest(&mut lock, ' ', token);
        assert_eq!(lock.value().unwrap()[39..], label);
        assert_runs_down(lock.pttl(), ms);
        assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
    }
}

#[test]
fn lock_at_rest_keeps_its_flag_and_its_queue() {
    let (_server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    lock.acquire('B', TTL).unwrap();
    assert_eq!(lock.rest('A', MINIMUM).unwrap(), 1);
    assert_at_rest(&mut lock, '+', token);
    assert_eq!(lock.queue(), "B");
}

#[test]
fn rest_without_an_expiry_restores_one() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let k = lock.k.clone();
    let _: i64 = lock.command(&["PERSIST", &k]);
    assert_eq!(lock.rest('A', MINIMUM).unwrap(), 1);
    assert_runs_down(lock.pttl(), MINIMUM);
}

#[test]
fn no_late_command_of_the_owner_finds_the_lock_its_own() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.rest('A', MINIMUM).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(lock.rest('A', TTL).unwrap(), -1, "sent twice");
    assert_eq!(lock.renew('A', 2 * MINIMUM).unwrap(), None);
    assert_eq!(lock.release('A').unwrap(), -1);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(-1));
    if lock.can_delete() {
        assert!(!lock.delete('A', true).unwrap());
    }
    assert_eq!(position(&lock.try_acquire('A', TTL).unwrap()), 0);
    assert_eq!(snapshot(&mut lock), before);
    // One that queues leaves the queue by the end that follows it.
    assert_eq!(position(&lock.acquire('A', TTL).unwrap()), 1);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(3));
    assert_runs_down(lock.pttl(), MINIMUM);
}

#[test]
fn rest_of_a_lock_that_was_lost_makes_none() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    expire(&mut lock);
    let before = snapshot(&mut lock);
    assert_eq!(lock.rest('A', MINIMUM).unwrap(), -1);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn rest_leaves_the_lock_of_another() {
    let (_server, mut lock) = start();
    lock.acquire('B', TTL).unwrap();
    let k = lock.k.clone();
    for value in [None, Some("foreign"), Some(&owner('A')[..21])] {
        if let Some(value) = value {
            let _: () = lock.command(&["SET", &k, value]);
        }
        let before = snapshot(&mut lock);
        assert_eq!(lock.rest('A', MINIMUM).unwrap(), -1);
        assert_eq!(snapshot(&mut lock), before);
    }
}

#[test]
fn rest_of_a_record_of_another_type_is_refused() {
    let (_server, mut lock) = start();
    let k = lock.k.clone();
    super::spoil(&mut lock, &k);
    assert_refused(&mut lock, "WRONGTYPE", |lock| lock.rest('A', MINIMUM));
}

#[test]
fn rest_needs_no_memory() {
    let (server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    server.config_set("maxmemory", "1");
    assert_eq!(lock.rest('A', MINIMUM).unwrap(), 1);
    assert_at_rest(&mut lock, ' ', token);
}

#[test]
fn rest_needs_neither_fence_nor_queue() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    for key in [lock.f.clone(), lock.q.clone()] {
        super::spoil(&mut lock, &key);
    }
    assert_eq!(lock.rest('A', MINIMUM).unwrap(), 1);
    assert_runs_down(lock.pttl(), MINIMUM);
}

#[test]
fn waiters_of_every_kind_queue_behind_a_lock_at_rest_and_are_served_when_it_is_over() {
    let (server, mut lock) = start();
    let _listeners = ['B', 'C', 'D'].map(|who| Listener::new(&server, who));
    lock.acquire('A', TTL).unwrap();
    lock.rest('A', MINIMUM).unwrap();
    assert_eq!(position(&lock.acquire('B', TTL).unwrap()), 1);
    assert_eq!(
        position(&lock.share('C', harness::READ, TTL).unwrap()),
        2,
        "a reader"
    );
    assert_eq!(
        position(&lock.share('D', Share::permits(1, 3), TTL).unwrap()),
        3
    );
    assert_eq!(&lock.value().unwrap()[..6], "rested");
    expire(&mut lock);
    lock.acquire('B', TTL).unwrap().token();
    assert_eq!(holder(&mut lock), Some('B'));
}

#[test]
fn lock_that_was_granted_to_a_share_rests_as_any_other() {
    let (server, mut lock) = start();
    let _b = Listener::new(&server, 'B');
    lock.acquire('A', TTL).unwrap();
    lock.share('B', harness::READ, TTL).unwrap();
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(lock.rest('B', MINIMUM).unwrap(), 1);
    assert_runs_down(lock.pttl(), MINIMUM);
}

#[test]
fn phase_of_shares_does_not_rest() {
    let (_server, mut lock) = start();
    lock.share('A', harness::READ, TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(lock.rest('A', MINIMUM).unwrap(), -1);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn slot_that_moves_keeps_a_lock_at_rest() {
    let node = MovingSlot::new();
    let mut lock = RawLock::new(&node.server, "order:42");
    let token = lock.acquire('A', TTL).unwrap().token();
    lock.acquire('B', TTL).unwrap();
    let keys = [lock.k.clone(), lock.f.clone(), lock.q.clone()];
    node.begin(&mut lock, &keys);
    assert_eq!(lock.rest('A', MINIMUM).unwrap(), 1);
    node.stop(&mut lock);
    assert_at_rest(&mut lock, '+', token);
}

#[test]
fn several_locks_rest_together() {
    let (_server, mut all) = several();
    let (_, answer) = all.acquire('A', TTL).unwrap();
    all.locks[1].acquire('B', TTL).unwrap();
    assert_eq!(all.rest('A', MINIMUM).unwrap(), 1);
    for (lock, flag) in all.locks.iter_mut().zip([' ', '+', ' ']) {
        assert_at_rest(lock, flag, answer.token());
        assert_runs_down(lock.pttl(), MINIMUM);
    }
    assert_eq!(all.rest('A', TTL).unwrap(), -1, "sent twice");
    assert_eq!(all.renew('A', TTL).unwrap(), None);
    assert_eq!(all.release('A').unwrap(), 0);
    assert_eq!(all.end('A').unwrap(), 0);
    for lock in &mut all.locks {
        assert_runs_down(lock.pttl(), MINIMUM);
    }
}

#[test]
fn lock_that_was_lost_does_not_keep_the_others_from_resting() {
    for number in 0..3 {
        for another in [false, true] {
            let (_server, mut all) = several();
            let token = all.acquire('A', TTL).unwrap().1.token();
            expire(&mut all.locks[number]);
            if another {
                all.locks[number].acquire('B', TTL).unwrap();
            }
            assert_eq!(all.rest('A', MINIMUM).unwrap(), -1);
            let left = holder(&mut all.locks[number]);
            assert_eq!(left, another.then_some('B'));
            all.locks.remove(number);
            for lock in &mut all.locks {
                assert_at_rest(lock, ' ', token);
            }
        }
    }
}

#[test]
fn record_of_another_type_does_not_keep_the_others_from_resting() {
    for number in 0..3 {
        let (_server, mut all) = several();
        let token = all.acquire('A', TTL).unwrap().1.token();
        let k = all.locks[number].k.clone();
        super::spoil(&mut all.locks[number], &k);
        let error = all.rest('A', MINIMUM).unwrap_err();
        assert_eq!(code_of(&error), "WRONGTYPE", "{error}");
        all.locks.remove(number);
        for lock in &mut all.locks {
            assert_at_rest(lock, ' ', token);
            assert_runs_down(lock.pttl(), MINIMUM);
        }
    }
}

#[test]
fn several_locks_need_no_memory_to_rest() {
    let (server, mut all) = several();
    all.acquire('A', TTL).unwrap();
    server.config_set("maxmemory", "1");
    assert_eq!(all.rest('A', MINIMUM).unwrap(), 1);
}
