//! A slot that is being migrated. A script runs only where all of its keys are, and it fails half-way at a key that it
//! removed itself. So it names no such key.

use harness::{Answer, READ, RawLock};

use super::{TTL, assert_consistent, holder, inside, listen, permits};
use crate::scripts::moving_slot::MovingSlot;

/// A node of a cluster, and a lock on it.
struct Node {
    node: MovingSlot,
    lock: RawLock,
}

impl Node {
    fn new() -> Node {
        let node = MovingSlot::new();
        let lock = RawLock::new(&node.server, "order:42");
        Node { node, lock }
    }

    /// Begins to move the lock's slot. All of its records are there still.
    fn migrate(&mut self) {
        let RawLock { k, f, q, r, .. } = &self.lock;
        let keys = [k, f, q, r].map(String::clone);
        self.node.begin(&mut self.lock, &keys);
    }

    /// Stops to move the slot, so that the records can be read.
    fn stay(&mut self) {
        self.node.stop(&mut self.lock);
    }
}

#[test]
fn last_share_is_handed_to_the_last_waiter() {
    let mut node = Node::new();
    let _w = listen(&node.node.server, "W");
    node.lock.share('A', READ, TTL).unwrap();
    node.lock.write('W', TTL).unwrap();
    node.migrate();
    assert_eq!(node.lock.end_share('A', READ).unwrap(), Answer::Code(2));
    node.stay();
    assert_eq!(holder(&mut node.lock), Some('W'));
    assert_eq!(node.lock.queue_members(), []);
}

#[test]
fn last_waiter_goes_in_beside_another_share() {
    let mut node = Node::new();
    let _b = listen(&node.node.server, "B");
    for who in ['A', 'X'] {
        node.lock.share(who, permits(1, 2), TTL).unwrap();
    }
    node.lock.share('B', permits(1, 2), TTL).unwrap();
    node.migrate();
    let ended = node.lock.end_share('A', permits(1, 2)).unwrap();
    node.stay();
    assert_eq!(ended, Answer::Code(2));
    assert_eq!(inside(&mut node.lock), "BX");
    assert_consistent(&mut node.lock);
}

#[test]
fn last_share_goes_while_a_silent_waiter_stays() {
    let mut node = Node::new();
    node.lock.share('A', READ, TTL).unwrap();
    node.lock.write('W', TTL).unwrap();
    node.migrate();
    assert_eq!(node.lock.end_share('A', READ).unwrap(), Answer::Code(1));
    node.stay();
    assert_eq!(node.lock.value(), None);
    assert_eq!(node.lock.shares(), []);
}

#[test]
fn last_waiter_gives_up() {
    let mut node = Node::new();
    node.lock.share('A', READ, TTL).unwrap();
    node.lock.write('W', TTL).unwrap();
    node.migrate();
    assert_eq!(node.lock.end_write('W').unwrap(), Answer::Code(3));
    node.stay();
    assert_eq!(inside(&mut node.lock), "A");
    assert_consistent(&mut node.lock);
}

#[test]
fn last_waiter_begins_the_next_phase() {
    let mut node = Node::new();
    let _b = listen(&node.node.server, "B");
    for who in ['A', 'B'] {
        node.lock.share(who, permits(1, 1), TTL).unwrap();
    }
    node.migrate();
    let ended = node.lock.end_share('A', permits(1, 1)).unwrap();
    node.stay();
    assert_eq!(ended, Answer::Code(2));
    assert_eq!(inside(&mut node.lock), "B");
    assert_consistent(&mut node.lock);
}

#[test]
fn share_that_was_granted_the_lock_alone_is_confirmed_with_the_last_waiter() {
    let mut node = Node::new();
    let _listeners = listen(&node.node.server, "BC");
    // Shares of an earlier phase, so that all records are there.
    node.lock.share('X', READ, TTL).unwrap();
    super::expire(&mut node.lock);
    node.lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        node.lock.share(who, READ, TTL).unwrap();
    }
    node.lock.end('A').unwrap();
    node.migrate();
    let confirmed = node.lock.share('B', READ, TTL).unwrap();
    node.stay();
    confirmed.token();
    assert_eq!(inside(&mut node.lock), "BC");
    assert_eq!(node.lock.queue_members(), []);
    assert_consistent(&mut node.lock);
}

#[test]
fn writer_lets_the_last_waiter_in_beside_shares_of_an_earlier_phase() {
    let mut node = Node::new();
    let _b = listen(&node.node.server, "B");
    node.lock.share('X', READ, TTL).unwrap();
    super::expire(&mut node.lock);
    node.lock.write('A', TTL).unwrap();
    node.lock.share('B', READ, TTL).unwrap();
    node.migrate();
    let ended = node.lock.end_write('A').unwrap();
    node.stay();
    assert_eq!(ended, Answer::Code(2));
    assert_eq!(inside(&mut node.lock), "B");
    assert_consistent(&mut node.lock);
}

#[test]
fn release_takes_off_the_last_share() {
    let mut node = Node::new();
    node.lock.share('A', READ, TTL).unwrap();
    node.lock.share('B', READ, TTL).unwrap();
    node.lock.write('W', TTL).unwrap();
    let k = node.lock.k.clone();
    let _: i64 = node.lock.command(&["SETRANGE", &k, "22", " "]);
    node.migrate();
    assert_eq!(node.lock.release_share('A', READ).unwrap(), 1);
    assert_eq!(node.lock.release_share('B', READ).unwrap(), 1);
    node.stay();
    assert_eq!((node.lock.value(), node.lock.shares()), (None, vec![]));
}

#[test]
fn last_waiter_is_dropped_by_each_script_that_looks_at_the_queue() {
    // A shares the lock, B comes, C waits.
    for who in ['A', 'B', 'C'] {
        let mut node = Node::new();
        node.lock.share('A', READ, TTL).unwrap();
        node.lock.write('W', TTL).unwrap();
        if who == 'C' {
            node.lock.share('C', READ, TTL).unwrap();
        }
        node.lock.stop_heart('W');
        node.migrate();
        let answer = node.lock.share(who, READ, TTL).unwrap();
        node.stay();
        answer.token();
        assert!(inside(&mut node.lock).contains(who));
        assert_eq!(node.lock.queue_members(), []);
        assert_consistent(&mut node.lock);
    }
}
