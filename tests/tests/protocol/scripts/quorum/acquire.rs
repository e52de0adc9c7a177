//! `acquire` of a free lock, of the caller's own, of a taken one and of a foreign one.

use harness::{Listener, entry, owner};

use super::node::{Ask, Reply, value};
use super::{
    COUNTED_ON_MS, SECOND, TTL, assert_near, assert_refused, assert_waits, forward, start,
};
use crate::scripts::assert_runs_down;

#[test]
fn free_lock_is_taken_by_a_vote_that_counts() {
    let (_server, mut node) = start();
    let reply = node.acquire('A', 0);
    let (token, now) = (reply.token(), reply.now());
    assert_near(token, node.zero, 1_000 * COUNTED_ON_MS);
    assert_eq!(token, now, "the token is the time");
    let (flag, early) = (' ', 0);
    assert_eq!(
        reply,
        Reply::Held {
            flag,
            token,
            early,
            now
        }
    );
    assert_eq!(node.lock.value().unwrap(), value('A', ' ', token));
    assert_eq!(node.fence(), Some(token));
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, TTL);
    assert_eq!(node.lock.queue_members(), []);
}

#[test]
fn free_lock_is_taken_without_queueing() {
    let (_server, mut node) = start();
    let ask = Ask::by(0).without_queueing();
    node.ask('A', &ask).unwrap().token();
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, TTL);
}

#[test]
fn acquire_sent_twice_answers_the_same_token() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    assert_eq!(node.acquire('A', 0).token(), token);
    assert_eq!(node.fence(), Some(token));
}

#[test]
fn own_lease_is_raised_and_never_lowered() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    for (asked, expected) in [(3 * TTL, 3 * TTL), (TTL, 3 * TTL), (4 * TTL, 4 * TTL)] {
        node.ask('A', &Ask::by(0).ttl(asked)).unwrap().token();
        assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, expected);
        assert!(node.lock.pttl() > expected - TTL / 2);
    }
}

#[test]
fn own_lease_without_expiry_gets_the_ttl() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    let k = node.lock.k.clone();
    let _: i64 = node.lock.command(&["PERSIST", &k]);
    node.acquire('A', 0).token();
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, TTL);
}

#[test]
fn taken_lock_answers_its_rest_its_value_and_the_time() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    let reply = node.acquire('B', 1);
    assert_runs_down(reply.remaining() - COUNTED_ON_MS, TTL);
    assert_waits(&reply, 'A', 1);
    assert_near(reply.now(), node.zero, 1_000 * COUNTED_ON_MS);
    let Reply::Waiting { value: seen, .. } = reply else {
        unreachable!("it waits");
    };
    assert_eq!(seen, value('A', ' ', token));
    assert_eq!(node.lock.value().unwrap(), value('A', '+', token));
    assert_eq!(node.acquire('A', 0).flag(), '+');
}

#[test]
fn entry_has_its_label_and_a_heartbeat_and_expires() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 7);
    let [(heart, live_until), (waiter, stamp)] = &node.lock.queue_members()[..] else {
        panic!("two members a waiter");
    };
    assert_eq!((heart, waiter), (&owner('B'), &entry('B')));
    assert_eq!(*stamp, node.zero + 7);
    let most = 1_000 * COUNTED_ON_MS;
    assert_near(-live_until, node.zero + 6 * SECOND, most);
    let q = node.lock.q.clone();
    let rest: i64 = node.lock.command(&["PTTL", &q]);
    assert_runs_down(rest - COUNTED_ON_MS, 7_000);
}

#[test]
fn poll_refreshes_the_heartbeat() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 7);
    forward(&server, 2_000);
    node.acquire('B', 7);
    let (_, live_until) = node.lock.queue_members()[0];
    assert_near(-live_until, node.zero + 8 * SECOND, 1_000 * COUNTED_ON_MS);
}

#[test]
fn attempt_without_queueing_writes_nothing_when_the_lock_is_taken() {
    let (_server, mut node) = start();
    node.acquire('A', 5);
    node.acquire('B', 6);
    let before = node.snapshot();
    for (who, place) in [('C', 0), ('B', 1)] {
        let ask = Ask::by(0).without_queueing();
        assert_waits(&node.ask(who, &ask).unwrap(), 'A', place);
        assert_eq!(node.snapshot(), before);
    }
}

#[test]
fn foreign_value_is_never_modified() {
    let foreign = [
        "d9b5b2a0-6a41-4f3e-bd2e-0d4c5a1f3c77".to_owned(),
        "a".to_owned(),
        // One character off: the flag, a digit, the space before the label, the length.
        format!("{}x{} host-X", owner('X'), "1".repeat(16)),
        format!("{} {} host-X", owner('X'), "1".repeat(15) + "x"),
        format!("{} {}host-X", owner('X'), "1".repeat(16)),
        format!("{} {}", owner('X'), "1".repeat(16)),
    ];
    let (_server, mut node) = start();
    let (k, q) = (node.lock.k.clone(), node.lock.q.clone());
    for foreign in foreign {
        let _: () = node.lock.command(&["SET", &k, &foreign]);
        let reply = node.acquire('B', 0);
        let (remaining, position, now) = (-1, 1, reply.now());
        let value = foreign.clone();
        assert_eq!(
            reply,
            Reply::Waiting {
                remaining,
                position,
                value,
                now
            }
        );
        assert_eq!(node.lock.value(), Some(foreign));
        node.lose(&q);
    }
}

#[test]
fn large_foreign_value_is_answered_by_its_beginning() {
    let (_server, mut node) = start();
    let k = node.lock.k.clone();
    let _: () = node.lock.command(&["SET", &k, &"x".repeat(1 << 20)]);
    let Reply::Waiting { value, .. } = node.acquire('B', 0) else {
        panic!("it is held");
    };
    assert_eq!(value, "x".repeat(512));
}

#[test]
fn poll_sets_a_flag_that_is_missing() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 1);
    let k = node.lock.k.clone();
    let _: i64 = node.lock.command(&["SETRANGE", &k, "22", " "]);
    node.acquire('B', 1);
    assert_eq!(node.lock.value().unwrap().as_bytes()[22], b'+');
}

#[test]
fn full_queue_takes_no_owner_in() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 0);
    let q = node.lock.q.clone();
    let fill = (1..16_384).flat_map(|n| [n.to_string(), format!("waiter {n}")]);
    redis::cmd("ZADD")
        .arg(&q)
        .arg(fill.collect::<Vec<_>>())
        .exec(&mut node.lock.connection)
        .unwrap();
    assert_refused(&mut node, "LOCKQUEUEFULL", |node| {
        node.ask('C', &Ask::by(0))
    });
    assert_waits(&node.acquire('B', 0), 'A', 16_384);
    let ask = Ask::by(0).without_queueing();
    assert_waits(&node.ask('C', &ask).unwrap(), 'A', 0);
    // A free lock goes to the first live waiter all the same.
    node.expire();
    let _: i64 = node.lock.command(&["ZADD", &q, "0", &entry('D')]);
    let live = -(node.zero + 5 * SECOND);
    let _: i64 = node
        .lock
        .command(&["ZADD", &q, &live.to_string(), &owner('D')]);
    let _d = Listener::new(&server, 'D');
    let error = node.ask('C', &Ask::by(0)).unwrap_err();
    assert_eq!(error.code(), Some("LOCKQUEUEFULL"), "{error}");
    assert_eq!(node.holder(), Some('D'));
}
