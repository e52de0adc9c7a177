//! Records of another type, and fences that are no numbers.

use harness::Listener;

use super::node::{Ask, Node};
use super::{TTL, assert_refused, start};
use crate::scripts::spoil;

const WRONGTYPE: &str = "WRONGTYPE";

/// Makes a record a list.
fn spoiled(node: &mut Node, record: fn(&Node) -> String) {
    let key = record(node);
    spoil(&mut node.lock, &key);
}

fn acquire(node: &mut Node, who: char) -> redis::RedisResult<()> {
    node.ask(who, &Ask::by(0)).map(drop)
}

#[test]
fn lock_of_another_type_is_refused() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 1);
    spoiled(&mut node, |node| node.lock.k.clone());
    assert_refused(&mut node, WRONGTYPE, |node| acquire(node, 'C'));
    assert_refused(&mut node, WRONGTYPE, |node| node.cede('A', 5, 0));
    assert_refused(&mut node, WRONGTYPE, |node| node.hold('A', TTL, 5));
    assert_refused(&mut node, WRONGTYPE, |node| node.end('A', 0));
}

#[test]
fn fence_of_another_type_of_a_free_lock_is_refused() {
    let (_server, mut node) = start();
    spoiled(&mut node, |node| node.lock.f.clone());
    assert_refused(&mut node, WRONGTYPE, |node| acquire(node, 'A'));
    assert_refused(&mut node, WRONGTYPE, |node| node.hold('A', TTL, 5));
}

#[test]
fn fence_of_another_type_of_a_taken_lock_is_refused_to_waiters() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    let token = node.acquire('A', 5).token();
    node.acquire('B', 1);
    spoiled(&mut node, |node| node.lock.f.clone());
    assert_refused(&mut node, WRONGTYPE, |node| acquire(node, 'C'));
    assert_refused(&mut node, WRONGTYPE, |node| node.cede('A', token, 5));
    let ask = Ask::by(5).proposing(format!("={}", token + 1));
    assert_refused(&mut node, WRONGTYPE, |node| node.ask('A', &ask));
}

#[test]
fn queue_of_another_type_is_refused() {
    for is_taken in [false, true] {
        let (_server, mut node) = start();
        let token = node.zero;
        if is_taken {
            node.acquire('A', 0);
        }
        spoiled(&mut node, |node| node.lock.q.clone());
        assert_refused(&mut node, WRONGTYPE, |node| acquire(node, 'B'));
        assert_refused(&mut node, WRONGTYPE, |node| node.cede('B', token, 0));
        assert_refused(&mut node, WRONGTYPE, |node| node.end('B', 0));
    }
}

#[test]
fn queue_of_another_type_is_refused_to_the_owner_that_cedes_or_writes() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    spoiled(&mut node, |node| node.lock.q.clone());
    assert_refused(&mut node, WRONGTYPE, |node| node.cede('A', token, 0));
    node.expire();
    assert_refused(&mut node, WRONGTYPE, |node| node.hold('A', TTL, token));
}

#[test]
fn marker_of_another_type_is_refused() {
    for is_taken in [false, true] {
        let (_server, mut node) = start();
        if is_taken {
            node.acquire('A', 0);
        }
        spoiled(&mut node, |node| node.m.clone());
        assert_refused(&mut node, WRONGTYPE, |node| acquire(node, 'A'));
        assert_refused(&mut node, WRONGTYPE, |node| node.cede('A', 5, 0));
        assert_refused(&mut node, WRONGTYPE, |node| node.hold('A', TTL, 5));
        assert_refused(&mut node, WRONGTYPE, |node| node.mark());
    }
}

#[test]
fn own_lock_is_confirmed_without_fence_and_queue() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    spoiled(&mut node, |node| node.lock.f.clone());
    spoiled(&mut node, |node| node.lock.q.clone());
    assert_eq!(node.acquire('A', 0).token(), token);
    assert_eq!(node.hold('A', TTL, token).unwrap().token(), token);
}

#[test]
fn lock_without_fence_or_queue_is_freed_by_its_end() {
    let records: [fn(&Node) -> String; 2] =
        [|node| node.lock.f.clone(), |node| node.lock.q.clone()];
    for record in records {
        let (server, mut node) = start();
        let _b = Listener::new(&server, 'B');
        node.acquire('A', 0);
        node.acquire('B', 1);
        spoiled(&mut node, record);
        assert_eq!(node.end('A', 0).unwrap(), 1);
        assert_eq!(node.lock.value(), None);
    }
}

#[test]
fn fence_that_is_no_token_is_refused() {
    let limit = ((1_i64 << 53) - 32).to_string();
    for is_taken in [false, true] {
        let (_server, mut node) = start();
        if is_taken {
            node.acquire('A', 0);
        }
        let f = node.lock.f.clone();
        for bad in [&limit[..], "", "-1", "1.5", "1e3", "0x10", " 7", "nan"] {
            let _: () = node.lock.command(&["SET", &f, bad]);
            assert_refused(&mut node, "LOCKFENCE", |node| acquire(node, 'B'));
            if !is_taken {
                assert_refused(&mut node, "LOCKFENCE", |node| node.hold('A', TTL, 5));
            }
        }
    }
}

#[test]
fn lock_with_a_fence_that_is_no_token_is_freed_by_its_end() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    node.acquire('A', 0);
    node.acquire('B', 1);
    let f = node.lock.f.clone();
    let _: () = node.lock.command(&["SET", &f, "x"]);
    assert_eq!(node.end('A', 0).unwrap(), 1);
    assert_eq!(node.lock.value(), None);
}
