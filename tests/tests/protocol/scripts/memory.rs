//! A server out of memory: no new lock is granted, and held locks can be confirmed, renewed, released
//! and handed on.

use harness::{Answer, Listener, RawLock, RedisServer, code_of};

use super::{TTL, assert_runs_down, holder, snapshot, start};

fn fill_up(server: &RedisServer) {
    server.config_set("maxmemory", "1");
}

#[track_caller]
fn assert_refused(lock: &mut RawLock, who: char) {
    let before = snapshot(lock);
    let error = lock.acquire(who, TTL).unwrap_err();
    assert_eq!(code_of(&error), "OOM", "{error}");
    assert_eq!(snapshot(lock), before);
}

#[test]
fn a_free_lock_is_refused() {
    let (server, mut lock) = start();
    fill_up(&server);
    assert_refused(&mut lock, 'A');
}

#[test]
fn a_place_in_the_queue_is_refused() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    fill_up(&server);
    assert_refused(&mut lock, 'B');
}

#[test]
fn a_poll_is_refused_and_keeps_its_place() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    fill_up(&server);
    assert_refused(&mut lock, 'B');
}

#[test]
fn serving_the_head_of_a_free_lock_is_refused() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    lock.acquire('C', TTL).unwrap();
    lock.stop_heart('C');
    super::expire(&mut lock);
    fill_up(&server);
    assert_refused(&mut lock, 'D');
}

#[test]
fn a_hold_is_confirmed_renewed_and_released() {
    let (server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap();
    fill_up(&server);
    assert_eq!(lock.acquire('A', 2 * TTL).unwrap(), first);
    assert_runs_down(lock.pttl(), 2 * TTL);
    assert!(lock.renew('A', 3 * TTL).unwrap().is_some());
    assert_runs_down(lock.pttl(), 3 * TTL);
    assert_eq!(lock.release('A').unwrap(), 1);
}

#[test]
fn a_contended_lock_is_handed_on() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    fill_up(&server);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('B'));
    lock.acquire('B', TTL).unwrap().token();
}

#[test]
fn a_local_turn_goes_on() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    fill_up(&server);
    lock.end_with_next('A', 'N', TTL).unwrap().token();
    let _b = Listener::new(&server, 'B');
    server.config_set("maxmemory", "0");
    lock.acquire('B', TTL).unwrap();
    fill_up(&server);
    assert_eq!(lock.end_with_next('N', 'M', TTL).unwrap(), Answer::Code(2));
    assert_eq!(lock.queue(), "M");
}

#[test]
fn a_waiter_leaves_the_queue() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    fill_up(&server);
    assert_eq!(lock.end('B').unwrap(), Answer::Code(3));
    assert_eq!(lock.end('A').unwrap(), Answer::Code(1));
}
