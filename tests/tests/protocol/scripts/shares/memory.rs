//! A server out of memory: no share is begun or joined, and shares can be confirmed, renewed, ended and handed on.

use harness::{Answer, READ, RawLock, RedisServer, code_of};

use super::{
    TTL, assert_consistent, assert_nothing_left, assert_runs_down, holder, inside, listen, permits,
    snapshot, start,
};

fn fill_up(server: &RedisServer) {
    server.config_set("maxmemory", "1");
}

#[track_caller]
fn assert_refused(lock: &mut RawLock, who: char) {
    for ttl in [TTL, -TTL] {
        let before = snapshot(lock);
        let error = lock.share(who, READ, ttl).unwrap_err();
        assert_eq!(code_of(&error), "OOM", "{error}");
        assert_eq!(snapshot(lock), before);
    }
}

#[test]
fn free_lock_is_refused() {
    let (server, mut lock) = start();
    fill_up(&server);
    assert_refused(&mut lock, 'A');
}

#[test]
fn share_that_would_join_is_refused() {
    let (server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    fill_up(&server);
    assert_refused(&mut lock, 'B');
}

#[test]
fn serving_waiters_is_refused() {
    let (server, mut lock) = start();
    let _b = listen(&server, "B");
    lock.share('A', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    lock.stop_heart('W');
    fill_up(&server);
    assert_refused(&mut lock, 'C');
    super::expire(&mut lock);
    assert_refused(&mut lock, 'C');
}

#[test]
fn place_in_the_queue_is_refused() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.share('C', READ, TTL).unwrap();
    fill_up(&server);
    for who in ['B', 'C'] {
        let before = snapshot(&mut lock);
        let error = lock.share(who, READ, TTL).unwrap_err();
        assert_eq!(code_of(&error), "OOM", "{error}");
        assert_eq!(snapshot(&mut lock), before);
    }
}

#[test]
fn share_is_confirmed_renewed_and_released() {
    let (server, mut lock) = start();
    let first = lock.share('A', READ, TTL).unwrap();
    lock.share('B', permits(2, 9), TTL).unwrap();
    fill_up(&server);
    assert_eq!(lock.share('A', READ, 2 * TTL).unwrap(), first);
    assert!(
        lock.renew_share('B', permits(2, 9), 3 * TTL)
            .unwrap()
            .is_some()
    );
    assert_runs_down(lock.pttl(), 3 * TTL);
    assert_consistent(&mut lock);
    assert_eq!(lock.release_share('B', permits(2, 9)).unwrap(), 1);
    assert_consistent(&mut lock);
    assert_eq!(lock.release_share('A', READ).unwrap(), 1);
    assert_nothing_left(&mut lock);
}

#[test]
fn waiters_go_in_when_a_share_ends() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BWCD");
    for who in ['A', 'X'] {
        lock.share(who, permits(1, 2), TTL).unwrap();
    }
    lock.share('B', permits(1, 2), TTL).unwrap();
    lock.write('W', TTL).unwrap();
    for who in ['C', 'D'] {
        lock.share(who, READ, TTL).unwrap();
    }
    fill_up(&server);
    assert_eq!(lock.end_share('A', permits(1, 2)).unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "BX");
    lock.share('B', permits(1, 2), TTL).unwrap().token();
    assert_eq!(lock.end_share('X', permits(1, 2)).unwrap(), Answer::Code(1));
    assert_eq!(lock.end_share('B', permits(1, 2)).unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('W'));
    assert_eq!(lock.end_write('W').unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "CD");
    assert_consistent(&mut lock);
}

#[test]
fn waiter_leaves_the_queue_and_lets_others_in() {
    let (server, mut lock) = start();
    let _b = listen(&server, "B");
    lock.share('A', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    fill_up(&server);
    assert_eq!(lock.end_write('W').unwrap(), Answer::Code(3));
    assert_eq!(inside(&mut lock), "AB");
    assert_consistent(&mut lock);
}

#[test]
fn grant_of_the_lock_alone_is_confirmed_and_a_holder_becomes_a_reader() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    fill_up(&server);
    lock.end('A').unwrap();
    lock.share('B', READ, TTL).unwrap().token();
    assert_eq!(inside(&mut lock), "BC");
    assert_consistent(&mut lock);
    for who in ['B', 'C'] {
        lock.end_share(who, READ).unwrap();
    }
    server.config_set("maxmemory", "0");
    lock.write('A', TTL).unwrap();
    fill_up(&server);
    lock.share('A', READ, TTL).unwrap().token();
    assert_eq!(inside(&mut lock), "A");
    assert_consistent(&mut lock);
}
