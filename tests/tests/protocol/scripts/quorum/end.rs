//! `end`: a release of a contended lock, and a waiter that gives up.

use harness::{Listener, owner};

use super::node::value;
use super::{CLAIM, COUNTED_ON_MS, SECOND, assert_near, listen, start};
use crate::scripts::assert_runs_down;

#[test]
fn lock_without_waiters_is_freed() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    assert_eq!(node.end('A', 0).unwrap(), 1);
    assert_eq!(node.lock.value(), None);
    assert_eq!(node.end('A', 0).unwrap(), 0, "sent twice");
}

#[test]
fn waiter_with_the_best_stamp_gets_a_claim_with_the_proposed_token() {
    let (server, mut node) = start();
    let mut b = Listener::new(&server, 'B');
    let _c = Listener::new(&server, 'C');
    node.acquire('A', 0);
    node.acquire('C', 20);
    node.acquire('B', 10);
    let proposed = node.zero + SECOND / 2;
    assert_eq!(node.end('A', proposed).unwrap(), 2);
    assert_eq!(b.next_push(), owner('B') + &node.lock.k);
    assert_eq!(node.lock.value().unwrap(), value('B', '+', proposed));
    assert_eq!(node.fence(), Some(proposed));
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, CLAIM);
    assert_eq!(node.lock.queue(), "C");
    let before = node.snapshot();
    assert_eq!(node.end('A', proposed).unwrap(), -1, "sent twice");
    assert_eq!(node.snapshot(), before);
}

#[test]
fn last_waiter_is_served_without_the_flag() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    node.acquire('A', 0);
    node.acquire('B', 10);
    assert_eq!(node.end('A', 0).unwrap(), 2);
    assert_eq!(node.lock.value().unwrap().as_bytes()[22], b' ');
    assert_eq!(node.lock.queue_members(), []);
}

#[test]
fn proposal_of_no_use_does_not_keep_the_lock() {
    let slack = 1_000 * COUNTED_ON_MS;
    for proposal in ["0", "x", "", "=9999999999999999", "9999999999999999"] {
        let (server, mut node) = start();
        let _b = Listener::new(&server, 'B');
        let token = node.acquire('A', 0).token();
        node.acquire('B', 10);
        assert_eq!(node.end('A', proposal).unwrap(), 2, "{proposal}");
        assert!(node.token() >= token + 16);
        assert_near(node.token(), token + 16, slack);
    }
}

#[test]
fn guess_far_ahead_is_ignored_by_the_delay() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    node.acquire('A', 0);
    node.acquire('B', 10);
    node.delay = 400;
    let guess = node.zero + SECOND / 2;
    assert_eq!(node.end('A', guess).unwrap(), 2);
    assert_near(node.token(), node.zero, 1_000 * COUNTED_ON_MS + 16);
}

#[test]
fn dead_waiter_is_dropped_and_deaf_one_skipped() {
    let (server, mut node) = start();
    let _listeners = listen(&server, "BD");
    node.acquire('A', 0);
    for (who, stamp) in [('B', 10), ('C', 20), ('D', 30), ('E', 40)] {
        node.acquire(who, stamp);
    }
    node.lock.stop_heart('B');
    assert_eq!(node.end('A', 0).unwrap(), 2);
    assert_eq!(node.holder(), Some('D'));
    assert_eq!(node.lock.queue(), "CE");
}

#[test]
fn lock_with_unreachable_waiters_is_freed_for_their_polls() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.lock.stop_heart('B');
    assert_eq!(node.end('A', 0).unwrap(), 1);
    assert_eq!(node.lock.value(), None);
    assert_eq!(node.lock.queue(), "C");
}

#[test]
fn waiter_leaves_the_queue() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 10);
    node.acquire('C', 20);
    assert_eq!(node.end('B', 0).unwrap(), 3);
    assert_eq!(node.lock.queue(), "C");
    assert_eq!(node.lock.queue_members().len(), 2);
    assert_eq!(node.end('B', 0).unwrap(), -1);
    node.expire();
    assert_eq!(node.end('C', 0).unwrap(), 3);
    assert_eq!(node.end('C', 0).unwrap(), 0);
}

#[test]
fn holder_that_also_queues_leaves_and_is_not_served_again() {
    let (server, mut node) = start();
    let _listeners = listen(&server, "AB");
    node.acquire('B', 0);
    node.acquire('A', 10);
    node.acquire('C', 20);
    // As after a restart with old records.
    let (k, token) = (node.lock.k.clone(), node.zero);
    let _: () = node.lock.command(&["SET", &k, &value('A', '+', token)]);
    assert_eq!(node.end('A', 0).unwrap(), 1, "C is deaf");
    assert_eq!(node.lock.queue(), "C");
}
