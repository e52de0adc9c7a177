//! `hold`: the renewal of a holder that a majority has confirmed.

use harness::{entry, owner};

use super::node::{Reply, value};
use super::{COUNTED_ON_MS, SECOND, TTL, assert_near, start};
use crate::scripts::assert_runs_down;

#[test]
fn absent_lock_is_written_with_the_token_of_the_holder() {
    for (fence, expected) in [
        (None, 500_000),
        (Some(400_000), 500_000),
        (Some(600_000), 600_000),
    ] {
        let (_server, mut node) = start();
        let (f, token) = (node.lock.f.clone(), node.zero + 500_000);
        if let Some(fence) = fence {
            let fence = (node.zero + fence).to_string();
            let _: () = node.lock.command(&["SET", &f, &fence]);
        }
        let reply = node.hold('A', TTL, token).unwrap();
        let (flag, early, now) = (' ', 0, reply.now());
        assert_eq!(
            reply,
            Reply::Held {
                flag,
                token,
                early,
                now
            }
        );
        assert_near(now, node.zero, 1_000 * COUNTED_ON_MS);
        assert_eq!(node.lock.value().unwrap(), value('A', ' ', token));
        assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, TTL);
        assert_eq!(node.fence(), Some(node.zero + expected));
    }
}

#[test]
fn next_token_is_above_that_of_the_holder() {
    let (_server, mut node) = start();
    let token = node.zero + 9 * SECOND;
    node.hold('A', TTL, token).unwrap();
    node.end('A', 0).unwrap();
    assert_eq!(node.acquire('B', 0).token(), token + 16);
}

#[test]
fn fence_that_is_raised_lives_for_a_day_after_its_token() {
    let (_server, mut node) = start();
    let token = node.zero + 9 * SECOND;
    node.hold('A', TTL, token).unwrap();
    let f = node.lock.f.clone();
    let at = node.lock.expires_at(&f);
    assert_eq!(at, token / 1_000 + 86_400_000);
}

#[test]
fn own_lock_is_renewed_and_keeps_its_token() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    node.acquire('B', 1);
    for (asked, expected) in [(3 * TTL, 3 * TTL), (TTL, 3 * TTL)] {
        let reply = node.hold('A', asked, token + 99).unwrap();
        assert_eq!((reply.flag(), reply.token()), ('+', token));
        assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, expected);
        assert!(node.lock.pttl() > expected - TTL / 2);
        assert_eq!(node.fence(), Some(token));
    }
}

#[test]
fn own_lock_without_expiry_gets_the_ttl() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    let k = node.lock.k.clone();
    let _: i64 = node.lock.command(&["PERSIST", &k]);
    node.hold('A', TTL, token).unwrap();
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, TTL);
}

#[test]
fn lock_of_another_owner_is_left_alone() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    node.acquire('B', 1);
    let before = node.snapshot();
    for who in ['B', 'C'] {
        assert_eq!(node.hold(who, TTL, token + 99).unwrap(), Reply::Nil);
        assert_eq!(node.snapshot(), before);
    }
}

#[test]
fn writer_leaves_the_queue_and_flags_the_lock_for_waiters() {
    for (others, flag) in [("", ' '), ("C", '+')] {
        let (_server, mut node) = start();
        node.acquire('X', 0);
        for who in others.chars().chain(['B']) {
            node.acquire(who, 1);
        }
        node.expire();
        let token = node.zero + 9 * SECOND;
        assert_eq!(node.hold('B', TTL, token).unwrap().flag(), flag);
        assert_eq!(node.lock.queue(), others);
        assert_eq!(node.lock.queue_members().len(), 2 * others.len());
        assert_eq!(node.lock.value().unwrap(), value('B', flag, token));
        let members = node.lock.queue_members();
        let is_of_writer = |member: &str| member == owner('B') || member == entry('B');
        assert!(!members.iter().any(|(member, _)| is_of_writer(member)));
    }
}
