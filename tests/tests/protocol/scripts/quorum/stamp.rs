//! Stamps: the order of waiters, which is the same on all nodes.

use super::node::Ask;
use super::{COUNTED_ON_MS, SECOND, TTL, assert_near, assert_waits, forward, start};

const DAY: i64 = 86_400 * SECOND;

#[test]
fn waiters_queue_by_stamp_and_not_by_arrival() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    assert_waits(&node.acquire('B', 30), 'A', 1);
    assert_waits(&node.acquire('C', 10), 'A', 1);
    assert_waits(&node.acquire('D', 20), 'A', 2);
    assert_eq!(node.lock.queue(), "CDB");
}

#[test]
fn waiters_with_one_stamp_queue_by_their_entries() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    assert_waits(&node.acquire('C', 5), 'A', 1);
    assert_waits(&node.acquire('B', 5), 'A', 1);
    // Bytes count, and not the alphabet of some language.
    assert_waits(&node.acquire('a', 5), 'A', 3);
    assert_waits(&node.acquire('C', 5), 'A', 2);
    assert_eq!(node.lock.queue(), "BCa");
}

#[test]
fn entry_keeps_its_first_stamp() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 20);
    node.acquire('C', 30);
    for other in [10, 40] {
        assert_waits(&node.acquire('B', other), 'A', 1);
        assert_eq!(node.stamp('B'), 20);
    }
}

#[test]
fn entry_keeps_a_stamp_of_long_ago() {
    let (server, mut node) = start();
    node.ask('A', &Ask::by(0).ttl(10 * TTL)).unwrap();
    for _ in 0..14 {
        node.acquire('B', 7);
        forward(&server, 5_000);
    }
    assert_eq!(node.stamp('B'), 7);
}

#[test]
fn dead_entry_gets_a_new_stamp() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 20);
    forward(&server, 4_000);
    node.acquire('C', 30);
    forward(&server, 2_500);
    node.acquire('B', 40);
    assert_eq!(node.stamp('B'), 40);
    assert_eq!(node.lock.queue(), "CB");
}

#[test]
fn stamp_far_off_the_clock_becomes_the_time() {
    let slack = 1_000 * COUNTED_ON_MS;
    for (stamp, is_kept) in [
        (-DAY + slack, true),
        (-DAY - slack, false),
        (SECOND - slack, true),
        (SECOND + slack, false),
        (3_600 * SECOND, false),
    ] {
        let (_server, mut node) = start();
        node.acquire('A', 0);
        node.acquire('B', stamp);
        let expected = if is_kept { stamp } else { 0 };
        assert_near(node.stamp('B'), expected, if is_kept { 0 } else { slack });
    }
}

#[test]
fn stamp_of_long_ago_does_not_pass_waiters() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', -10_000);
    node.acquire('C', -2 * DAY);
    assert_eq!(node.lock.queue(), "BC");
}
