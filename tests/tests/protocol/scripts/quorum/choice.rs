//! The owner that gets a free lock: the best live one of the queue and the caller.

use harness::{Listener, entry, owner};

use super::node::{Ask, value};
use super::{CLAIM, COUNTED_ON_MS, SECOND, TTL, assert_near, assert_waits, forward, listen, start};
use crate::scripts::assert_runs_down;

#[test]
fn waiter_with_a_better_stamp_gets_a_claim_and_the_caller_queues() {
    let (server, mut node) = start();
    let first = node.acquire('A', 0).token();
    let mut b = Listener::new(&server, 'B');
    node.acquire('B', 10);
    node.expire();
    let proposed = node.zero + SECOND / 2;
    let ask = Ask::by(20).proposing(proposed);
    let reply = node.ask('C', &ask).unwrap();
    assert_waits(&reply, 'B', 1);
    assert_runs_down(reply.remaining() - COUNTED_ON_MS, CLAIM);
    assert_eq!(b.next_push(), owner('B') + &node.lock.k);
    assert!(first < proposed);
    assert_eq!(node.lock.value().unwrap(), value('B', '+', proposed));
    assert_eq!(node.fence(), Some(proposed));
    assert_eq!(node.lock.queue(), "C");

    let confirmed = node.acquire('B', 10);
    assert_eq!((confirmed.flag(), confirmed.token()), ('+', proposed));
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, TTL);
}

#[test]
fn caller_with_a_better_stamp_takes_the_lock() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _b = Listener::new(&server, 'B');
    node.acquire('B', 10);
    node.expire();
    assert_eq!(node.acquire('C', 9).flag(), '+');
    assert_eq!(node.lock.queue(), "B");
}

#[test]
fn caller_with_the_same_stamp_is_compared_by_its_entry() {
    for (caller, holder) in [('A', 'A'), ('C', 'B'), ('a', 'B')] {
        let (server, mut node) = start();
        node.acquire('X', 0);
        let _b = Listener::new(&server, 'B');
        node.acquire('B', 10);
        node.expire();
        node.acquire(caller, 10);
        assert_eq!(node.holder(), Some(holder), "{caller}");
    }
}

#[test]
fn stamp_of_the_entry_counts_and_not_that_of_the_poll() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _listeners = listen(&server, "BC");
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.expire();
    node.acquire('C', 5);
    assert_eq!(node.holder(), Some('B'));
    assert_eq!(node.lock.queue(), "C");
}

#[test]
fn head_that_polls_takes_the_lock_and_leaves_the_queue() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.expire();
    assert_eq!(node.acquire('B', 10).flag(), '+');
    assert_eq!(node.lock.queue(), "C");
    assert_eq!(node.lock.queue_members().len(), 2);
}

#[test]
fn attempt_without_queueing_serves_the_waiter_and_stays_outside() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let mut b = Listener::new(&server, 'B');
    node.acquire('B', 10);
    node.expire();
    let ask = Ask::by(20).without_queueing();
    assert_waits(&node.ask('C', &ask).unwrap(), 'B', 0);
    assert_eq!(b.next_push(), owner('B') + &node.lock.k);
    assert_eq!(node.lock.value().unwrap().as_bytes()[22], b' ');
    assert_eq!(node.lock.queue_members(), []);
}

#[test]
fn dead_waiter_is_dropped() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _listeners = listen(&server, "BC");
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.lock.stop_heart('B');
    node.expire();
    assert_waits(&node.acquire('D', 30), 'C', 1);
    assert_eq!(node.lock.queue(), "D");
    assert_eq!(node.lock.queue_members().len(), 2);
}

#[test]
fn entry_without_heartbeat_is_dropped() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _b = Listener::new(&server, 'B');
    node.acquire('B', 10);
    let q = node.lock.q.clone();
    let _: i64 = node.lock.command(&["ZREM", &q, &owner('B')]);
    node.expire();
    assert_eq!(node.acquire('C', 20).flag(), ' ');
    assert_eq!(node.lock.queue_members(), []);
}

#[test]
fn waiter_whose_process_is_not_subscribed_is_skipped_and_kept() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _c = Listener::new(&server, 'C');
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.expire();
    assert_waits(&node.acquire('D', 30), 'C', 2);
    assert_eq!(node.lock.queue(), "BD");
    node.expire();
    assert_eq!(node.acquire('D', 30).flag(), '+');
    assert_eq!(node.lock.queue(), "B");
}

#[test]
fn silent_waiter_is_asked_for_and_not_taken_for_a_monitor() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _monitor = Listener::to_pattern(&server, "*");
    node.acquire('B', 10);
    node.expire();
    // Its last poll was two seconds ago.
    forward(&server, 2_000);
    node.acquire('C', 20).token();
    assert_eq!(node.lock.queue(), "B");
}

#[test]
fn dead_caller_is_served_by_its_new_stamp() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _listeners = listen(&server, "BC");
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.lock.stop_heart('B');
    node.expire();
    assert_waits(&node.acquire('B', 30), 'C', 1);
    assert_eq!(node.stamp('B'), 30);
}

#[test]
fn waiters_behind_the_caller_are_left_alone() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _c = Listener::new(&server, 'C');
    node.acquire('B', 20);
    node.acquire('C', 30);
    node.lock.stop_heart('B');
    node.expire();
    assert_eq!(node.acquire('D', 10).flag(), '+');
    assert_eq!(node.lock.queue(), "BC", "nor is the dead one looked at");
}

#[test]
fn one_script_checks_128_waiters() {
    let (_server, mut node) = start();
    let q = node.lock.q.clone();
    let first = node.zero - 1_000;
    let dead = (0..200).flat_map(|n| [(first + n).to_string(), format!("waiter {n:03}")]);
    redis::cmd("ZADD")
        .arg(&q)
        .arg(dead.collect::<Vec<_>>())
        .exec(&mut node.lock.connection)
        .unwrap();
    assert_eq!(node.acquire('A', 0).flag(), '+');
    let members = node.lock.queue_members();
    assert_eq!(members.len(), 200 - 128);
    assert_eq!(members[0].0, "waiter 128");
}

#[test]
fn token_rises_above_a_fence_that_is_ahead_of_the_clock() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    let _b = Listener::new(&server, 'B');
    node.acquire('B', 10);
    let f = node.lock.f.clone();
    let ahead = node.zero + 3_600 * SECOND;
    let _: () = node.lock.command(&["SET", &f, &ahead.to_string()]);
    node.expire();
    node.acquire('C', 20);
    assert_eq!(node.token(), ahead + 16);
    assert_eq!(node.fence(), Some(ahead + 16));
    let at = node.lock.expires_at(&f);
    assert_eq!(at, (ahead + 16) / 1_000 + 86_400_000);
    assert_near(node.lock.now(), node.zero, 1_000 * COUNTED_ON_MS);
    assert_eq!(node.lock.queue_members()[1].0, entry('C'));
}
