//! A server out of memory: no further lock is taken, and locks can be confirmed, renewed, released, ended and handed on.

use harness::RedisServer;

use super::{
    CLAIM, TTL, assert_nothing_left, assert_refused, assert_runs_down, expire, holders, in_the_way,
    listen, start, token,
};

fn fill_up(server: &RedisServer) {
    server.config_set("maxmemory", "1");
}

#[test]
fn free_locks_are_refused() {
    let (server, mut all) = start();
    fill_up(&server);
    assert_refused(&mut all, "OOM", |all| all.acquire('A', TTL));
    assert_refused(&mut all, "OOM", |all| all.try_acquire('A', TTL));
}

#[test]
fn free_lock_behind_those_that_the_owner_has_is_refused() {
    let (server, mut all) = start();
    all.locks[1].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    expire(&mut all.locks[1]);
    fill_up(&server);
    assert_refused(&mut all, "OOM", |all| all.acquire('A', TTL));
}

#[test]
fn place_in_the_queue_of_the_first_lock_is_refused() {
    let (server, mut all) = start();
    all.locks[0].acquire('B', TTL).unwrap();
    fill_up(&server);
    assert_refused(&mut all, "OOM", |all| all.acquire('A', TTL));
}

#[test]
fn poll_extends_the_locks_before() {
    let (server, mut all) = start();
    all.locks[2].acquire('B', TTL).unwrap();
    all.acquire('A', TTL).unwrap();
    fill_up(&server);
    assert_eq!(in_the_way(&all.acquire('A', 2 * TTL).unwrap()), (3, 1));
    assert_runs_down(all.locks[1].pttl(), 2 * TTL);
}

#[test]
fn attempt_hands_a_free_lock_to_the_head_of_its_queue() {
    let (server, mut all) = start();
    let _c = listen(&server, "C");
    all.locks[0].acquire('B', TTL).unwrap();
    all.locks[0].acquire('C', TTL).unwrap();
    expire(&mut all.locks[0]);
    fill_up(&server);
    assert_eq!(in_the_way(&all.try_acquire('A', TTL).unwrap()), (1, 0));
    assert_eq!(holders(&mut all), "C..");
    assert_runs_down(all.locks[0].pttl(), CLAIM);
}

#[test]
fn held_locks_are_confirmed_renewed_and_released() {
    let (server, mut all) = start();
    let taken = token(&all.acquire('A', TTL).unwrap());
    fill_up(&server);
    assert_eq!(token(&all.acquire('A', TTL).unwrap()), taken);
    assert!(all.renew('A', 2 * TTL).unwrap().is_some());
    assert_eq!(all.release('A').unwrap(), 1);
    assert_nothing_left(&mut all);
}

#[test]
fn locks_are_handed_on_and_confirmed() {
    let (server, mut all) = start();
    let _b = listen(&server, "B");
    all.acquire('A', TTL).unwrap();
    for number in 0..3 {
        all.locks[number].acquire('B', TTL).unwrap();
    }
    fill_up(&server);
    assert_eq!(all.end('A').unwrap(), 2);
    assert_eq!(holders(&mut all), "BBB");
    // Their tokens may differ until then.
    let taken = token(&all.acquire('B', TTL).unwrap());
    super::assert_tokens(&mut all, taken);
    assert_eq!(all.end('B').unwrap(), 1);
    assert_nothing_left(&mut all);
}
