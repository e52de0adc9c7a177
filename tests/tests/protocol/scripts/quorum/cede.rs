//! `cede`: an owner gives a node to a waiter with a better stamp.

use harness::{Listener, owner};

use super::node::{Ask, Reply, value};
use super::{CLAIM, COUNTED_ON_MS, SECOND, TTL, assert_near, assert_waits, forward, listen, start};
use crate::scripts::assert_runs_down;

#[test]
fn lock_goes_to_a_better_stamp_and_the_caller_queues() {
    let (server, mut node) = start();
    let token = node.acquire('C', 30).token();
    let mut a = Listener::new(&server, 'A');
    node.acquire('B', 40);
    node.acquire('A', 10);
    let reply = node.cede('C', token, 30).unwrap();
    assert_waits(&reply, 'A', 1);
    assert_runs_down(reply.remaining() - COUNTED_ON_MS, CLAIM);
    assert_near(reply.now(), node.zero, 1_000 * COUNTED_ON_MS);
    assert_eq!(a.next_push(), owner('A') + &node.lock.k);
    let given = node.token();
    assert_near(given, token.max(node.zero) + 16, 1_000 * COUNTED_ON_MS);
    assert!(given >= token + 16);
    assert_eq!(node.lock.value().unwrap(), value('A', '+', given));
    assert_eq!(node.fence(), Some(given));
    assert_eq!(node.lock.queue(), "CB");
    assert_eq!(node.stamp('C'), 30);
    assert_eq!(node.lock.queue_members().len(), 4);
}

#[test]
fn late_copy_of_a_cede_does_nothing() {
    let (server, mut node) = start();
    let _listeners = listen(&server, "AC");
    let token = node.acquire('C', 30).token();
    node.acquire('A', 10);
    node.cede('C', token, 30).unwrap();
    let before = node.snapshot();
    assert_waits(&node.cede('C', token, 30).unwrap(), 'A', 1);
    assert_eq!(node.snapshot(), before);
    node.end('A', 0).unwrap();
    // The caller has the node again, with another token.
    let again = node.acquire('C', 30).token();
    node.acquire('A', 10);
    assert_eq!(node.cede('C', token, 30).unwrap().token(), again);
    assert_eq!(node.holder(), Some('C'));
}

#[test]
fn lock_with_another_token_is_kept_as_it_is() {
    let (server, mut node) = start();
    let _a = Listener::new(&server, 'A');
    let token = node.acquire('C', 30).token();
    node.acquire('A', 10);
    forward(&server, 1_000);
    let before = node.snapshot();
    for other in [token - 1, token + 1, 0] {
        let reply = node.cede('C', other, 30).unwrap();
        assert_eq!((reply.flag(), reply.token()), ('+', token));
        assert_eq!(node.snapshot(), before);
    }
}

#[test]
fn lock_without_a_better_stamp_is_kept_as_it_is() {
    let (server, mut node) = start();
    let _listeners = listen(&server, "BD");
    let token = node.acquire('C', 30).token();
    node.acquire('D', 30);
    node.acquire('B', 31);
    forward(&server, 1_000);
    let before = node.snapshot();
    let reply = node.cede('C', token, 30).unwrap();
    let (flag, early, now) = ('+', 0, reply.now());
    assert_eq!(
        reply,
        Reply::Held {
            flag,
            token,
            early,
            now
        }
    );
    assert_eq!(node.snapshot(), before, "not even an expiry");
}

#[test]
fn lock_without_queue_is_kept_as_it_is() {
    let (_server, mut node) = start();
    let token = node.acquire('C', 30).token();
    let before = node.snapshot();
    assert_eq!(node.cede('C', token, 30).unwrap().token(), token);
    assert_eq!(node.snapshot(), before);
}

#[test]
fn lock_goes_to_the_same_stamp_by_the_entry() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    let token = node.acquire('C', 30).token();
    node.acquire('B', 30);
    assert_waits(&node.cede('C', token, 30).unwrap(), 'B', 1);
}

#[test]
fn lock_is_not_given_to_dead_or_deaf_waiters() {
    let (server, mut node) = start();
    let token = node.acquire('C', 30).token();
    let dead = Listener::new(&server, 'A');
    node.acquire('A', 10);
    node.lock.stop_heart('A');
    node.acquire('B', 20);
    let before = node.snapshot();
    assert_eq!(node.cede('C', token, 30).unwrap().token(), token);
    assert_eq!(node.snapshot(), before);

    // Behind them is one that lives.
    let _e = Listener::new(&server, 'E');
    node.acquire('E', 25);
    assert_waits(&node.cede('C', token, 30).unwrap(), 'E', 2);
    assert_eq!(node.lock.queue(), "BC", "the dead one is gone");
    drop(dead);
}

#[test]
fn owner_without_the_lock_changes_nothing() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 10).token();
    node.acquire('B', 20);
    let before = node.snapshot();
    assert_waits(&node.cede('C', token, 5).unwrap(), 'A', 0);
    assert_waits(&node.cede('B', token, 5).unwrap(), 'A', 1);
    assert_eq!(node.snapshot(), before);
}

#[test]
fn absent_lock_is_answered_as_such() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 10).token();
    node.acquire('B', 20);
    node.expire();
    let before = node.snapshot();
    for (who, position) in [('A', 0), ('B', 1)] {
        let reply = node.cede(who, token, 10).unwrap();
        let (remaining, value, now) = (0, String::new(), reply.now());
        assert_eq!(
            reply,
            Reply::Waiting {
                remaining,
                position,
                value,
                now
            }
        );
    }
    assert_eq!(node.snapshot(), before);
}

#[test]
fn foreign_lock_is_answered_with_its_value() {
    let (_server, mut node) = start();
    let k = node.lock.k.clone();
    let _: () = node.lock.command(&["SET", &k, "stranger"]);
    let reply = node.cede('A', 5, 0).unwrap();
    assert_eq!((reply.remaining(), reply.position()), (-1, 0));
    assert_eq!(node.lock.value().unwrap(), "stranger");
}

/// The caller may have waited for that long, on a node that has lost its entry since.
#[test]
fn stamp_of_long_ago_is_compared_as_it_is() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    let token = node.acquire('C', -90 * SECOND).token();
    node.acquire('B', -10);
    assert_eq!(node.cede('C', token, -90 * SECOND).unwrap().token(), token);
}

#[test]
fn stamp_ahead_of_the_clock_becomes_the_time() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    let token = node.acquire('C', 0).token();
    node.acquire('B', -10_000);
    node.cede('C', token, 3_600 * SECOND).unwrap();
    assert_near(node.stamp('C'), 0, 1_000 * COUNTED_ON_MS);
}

#[test]
fn early_token_is_not_replaced() {
    let (server, mut node) = start();
    let m = node.m.clone();
    node.lose(&m);
    let ask = Ask::by(30).ttl(2 * TTL);
    let token = node.ask('C', &ask).unwrap().token();
    forward(&server, 61_000);
    let reply = node.cede('C', token, 30).unwrap();
    assert_eq!((reply.token(), reply.early()), (token, 0));
}
