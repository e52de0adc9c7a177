//! `revoke`: a lock is taken from its owner on one node, in favour of the node's queue.

use harness::{Listener, owner};

use super::node::{NOTICE, value};
use super::{CLAIM, COUNTED_ON_MS, SECOND, assert_refused, listen, start};
use crate::scripts::assert_runs_down;

#[test]
fn lock_without_waiters_is_freed_and_its_owner_told() {
    let (server, mut node) = start();
    let mut a = Listener::new(&server, 'A');
    let token = node.acquire('A', 0).token();
    assert_eq!(node.revoke(&owner('A'), -1, token + 16).unwrap(), 1);
    assert_eq!(
        a.next_push(),
        format!("!{}{NOTICE}{}", owner('A'), node.lock.k)
    );
    assert_eq!(node.lock.value(), None);
    assert!(node.acquire('B', 10).token() >= token + 16);
}

#[test]
fn waiter_with_the_best_stamp_gets_a_claim_with_the_token_of_all_nodes() {
    let (server, mut node) = start();
    let _listeners = listen(&server, "BC");
    node.acquire('A', 0);
    node.acquire('C', 20);
    node.acquire('B', 10);
    // Far ahead of the node's clock: it was read on another one.
    let token = node.zero + 3_600 * SECOND;
    assert_eq!(node.revoke(&owner('A'), -1, token).unwrap(), 2);
    assert_eq!(node.lock.value().unwrap(), value('B', '+', token));
    assert_eq!(node.fence(), Some(token));
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, CLAIM);
    let before = node.snapshot();
    assert_eq!(
        node.revoke(&owner('A'), -1, token).unwrap(),
        -1,
        "sent twice"
    );
    assert_eq!(node.snapshot(), before);
}

#[test]
fn next_token_is_higher_although_the_fence_was_lost() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    let f = node.lock.f.clone();
    let _: i64 = node.lock.command(&["DEL", &f]);
    let token = node.zero + 3_600 * SECOND;
    assert_eq!(node.revoke(&owner('A'), -1, token).unwrap(), 1);
    assert!(node.acquire('B', 10).token() >= token);
}

#[test]
fn dead_waiters_are_dropped_and_deaf_ones_stay() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.lock.stop_heart('B');
    assert_eq!(node.revoke(&owner('A'), -1, token + 16).unwrap(), 1);
    assert_eq!(
        (node.lock.value(), node.lock.queue()),
        (None, "C".to_owned())
    );
}

#[test]
fn lock_of_another_owner_and_a_free_one_stay_as_they_are() {
    let (_server, mut node) = start();
    assert_eq!(node.revoke(&owner('A'), -1, 17).unwrap(), 0);
    node.acquire('B', 0);
    let before = node.snapshot();
    assert_eq!(node.revoke(&owner('A'), -1, 17).unwrap(), -1);
    assert_eq!(node.snapshot(), before);
}

#[test]
fn foreign_value_is_compared_whole() {
    let (_server, mut node) = start();
    let k = node.lock.k.clone();
    let _: () = node.lock.command(&["SET", &k, "random"]);
    for (record, length) in [("randoM", 6), ("random", 7), ("rando", 5)] {
        assert_eq!(node.revoke(record, length, 17).unwrap(), -1, "{record}");
    }
    assert_eq!(node.revoke("", 0, 17).unwrap(), -1, "an empty value");
    assert_eq!(node.revoke("random", 6, 17).unwrap(), 1);
    assert_eq!(node.lock.value(), None);
}

#[test]
fn damaged_records_and_wrong_tokens_are_refused_before_anything_is_written() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    let far = 9_007_199_254_740_990;
    assert_refused(&mut node, "LOCKFENCE", |node| {
        node.revoke(&owner('A'), -1, far)
    });
    let (f, q) = (node.lock.f.clone(), node.lock.q.clone());
    let _: () = node.lock.command(&["SET", &f, "x"]);
    assert_refused(&mut node, "LOCKFENCE", |node| {
        node.revoke(&owner('A'), -1, token)
    });
    let _: i64 = node.lock.command(&["DEL", &f]);
    let _: i64 = node.lock.command(&["LPUSH", &q, "x"]);
    assert_refused(&mut node, "WRONGTYPE", |node| {
        node.revoke(&owner('A'), -1, token)
    });
}
