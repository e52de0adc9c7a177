//! Which owners are notified, and that no other one is.

use harness::{Listener, RedisServer, owner};

use super::node::{Ask, Node};
use super::{SECOND, TTL, listen, start};

/// All messages to owners. It is subscribed to a pattern, so owners need listeners of their own.
struct Messages(Listener);

impl Messages {
    fn new(server: &RedisServer) -> Messages {
        Messages(Listener::to_pattern(server, "lock:*"))
    }

    /// The letters of the owners that were notified since the last call.
    fn take(&mut self, node: &mut Node) -> String {
        let _: i64 = node.lock.command(&["PUBLISH", "lock:end", ""]);
        let mut letters = String::new();
        loop {
            let (channel, payload) = self.0.next_of_pattern();
            if channel == "lock:end" {
                return letters;
            }
            let letter = payload.chars().next().expect("an owner");
            assert_eq!(channel, format!("lock:{}", &owner(letter)[..8]));
            assert_eq!(payload, owner(letter) + &node.lock.k);
            letters.push(letter);
        }
    }
}

/// A node of which owner `M` has the lock.
fn taken() -> (RedisServer, Node, Messages, Vec<Listener>) {
    let (server, mut node) = start();
    let messages = Messages::new(&server);
    let listeners = listen(&server, "ABCM");
    node.acquire('M', 50);
    (server, node, messages, listeners)
}

#[test]
fn owner_is_told_of_the_first_waiter_and_of_each_new_head() {
    let (_server, mut node, mut messages, _listeners) = taken();
    for (who, stamp, told) in [
        ('B', 20, "M"),
        ('C', 30, ""),
        ('B', 20, ""),
        ('A', 10, "M"),
        ('A', 10, ""),
        ('B', 5, ""),
        ('M', 50, ""),
    ] {
        node.acquire(who, stamp);
        assert_eq!(messages.take(&mut node), told, "{who} {stamp}");
    }
}

#[test]
fn owner_is_told_of_a_head_that_is_worse_than_itself() {
    let (_server, mut node, mut messages, _listeners) = taken();
    node.acquire('C', 90);
    assert_eq!(messages.take(&mut node), "M");
    node.acquire('B', 80);
    assert_eq!(messages.take(&mut node), "M");
}

#[test]
fn head_behind_dead_entries_is_the_first_live_one() {
    let (_server, mut node, mut messages, _listeners) = taken();
    node.acquire('A', 10);
    node.acquire('B', 15);
    node.lock.stop_heart('A');
    messages.take(&mut node);
    // Behind B, which lives.
    node.acquire('C', 20);
    assert_eq!(messages.take(&mut node), "");
    node.end('C', 0).unwrap();
    node.lock.stop_heart('B');
    node.acquire('C', 20);
    assert_eq!(messages.take(&mut node), "M");
}

#[test]
fn dead_entry_that_comes_back_is_a_new_head() {
    let (_server, mut node, mut messages, _listeners) = taken();
    node.acquire('A', 10);
    node.acquire('C', 30);
    node.lock.stop_heart('A');
    messages.take(&mut node);
    node.acquire('A', 20);
    assert_eq!(messages.take(&mut node), "M");
    node.lock.stop_heart('A');
    node.acquire('A', 40);
    assert_eq!(messages.take(&mut node), "", "C is before it");
}

#[test]
fn flag_that_was_lost_is_set_with_a_message() {
    let (_server, mut node, mut messages, _listeners) = taken();
    node.acquire('A', 10);
    messages.take(&mut node);
    let k = node.lock.k.clone();
    let _: i64 = node.lock.command(&["SETRANGE", &k, "22", " "]);
    node.acquire('A', 10);
    assert_eq!(messages.take(&mut node), "M");
}

#[test]
fn attempt_without_queueing_tells_no_owner() {
    let (_server, mut node, mut messages, _listeners) = taken();
    node.ask('A', &Ask::by(10).without_queueing()).unwrap();
    assert_eq!(messages.take(&mut node), "");
}

#[test]
fn foreign_owner_is_told_nothing() {
    let (_server, mut node) = start();
    let k = node.lock.k.clone();
    for foreign in [
        "stranger".to_owned(),
        format!("{}+{} host-X", owner('X'), "1".repeat(15) + "x"),
    ] {
        let mut messages = Messages::new(&_server);
        let _: () = node.lock.command(&["SET", &k, &foreign]);
        node.acquire('A', 10);
        node.acquire('B', 5);
        assert_eq!(messages.take(&mut node), "", "{foreign}");
        let q = node.lock.q.clone();
        node.lose(&q);
    }
}

#[test]
fn owner_of_a_claim_is_told_once() {
    let (_server, mut node, mut messages, _listeners) = taken();
    node.acquire('A', 10);
    messages.take(&mut node);
    node.expire();
    node.acquire('B', 20);
    assert_eq!(messages.take(&mut node), "A");
    node.acquire('A', 10);
    assert_eq!(messages.take(&mut node), "");
}

#[test]
fn cede_tells_the_waiter_that_gets_the_lock() {
    let (_server, mut node, mut messages, _listeners) = taken();
    let token = node.token();
    node.acquire('B', 20);
    node.acquire('A', 10);
    messages.take(&mut node);
    node.cede('M', token + 1, 50).unwrap();
    assert_eq!(messages.take(&mut node), "");
    node.cede('M', token, 5).unwrap();
    assert_eq!(messages.take(&mut node), "", "no stamp is better");
    node.cede('M', token, 50).unwrap();
    assert_eq!(messages.take(&mut node), "A");
}

#[test]
fn end_tells_the_waiter_that_gets_the_lock() {
    let (_server, mut node, mut messages, _listeners) = taken();
    for (who, stamp) in [('C', 30), ('B', 20)] {
        node.acquire(who, stamp);
    }
    messages.take(&mut node);
    node.end('C', 0).unwrap();
    assert_eq!(messages.take(&mut node), "");
    node.end('M', 0).unwrap();
    assert_eq!(messages.take(&mut node), "B");
}

#[test]
fn hold_and_mark_tell_no_owner() {
    let (_server, mut node, mut messages, _listeners) = taken();
    node.acquire('A', 10);
    messages.take(&mut node);
    let token = node.zero + SECOND;
    node.hold('M', TTL, token).unwrap();
    node.hold('B', TTL, token).unwrap();
    node.expire();
    node.hold('M', TTL, token).unwrap();
    node.mark().unwrap();
    assert_eq!(messages.take(&mut node), "");
}
