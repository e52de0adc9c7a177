//! A slot that is being migrated. A script fails half-way at a key that it removed itself, so it names no such key.

use harness::{RawLock, RawLocks};

use super::{TTL, holders, in_the_way, listen, token};
use crate::scripts::moving_slot::MovingSlot;

/// Two locks in one slot.
struct Node {
    node: MovingSlot,
    all: RawLocks,
}

impl Node {
    fn new() -> Node {
        let node = MovingSlot::new();
        let all = RawLocks::new(&node.server, ["{a}1", "{a}2"]);
        Node { node, all }
    }

    /// Begins to move the slot of the locks. All of their records are there still.
    fn migrate(&mut self) {
        let records = |lock: &RawLock| [lock.k.clone(), lock.f.clone(), lock.q.clone()];
        let keys: Vec<String> = self.all.locks.iter().flat_map(records).collect();
        self.node.begin(&mut self.all.locks[0], &keys);
    }

    fn stay(&mut self) {
        self.node.stop(&mut self.all.locks[0]);
    }
}

#[test]
fn both_locks_are_handed_to_their_last_waiters() {
    let mut node = Node::new();
    let _listeners = listen(&node.node.server, "BC");
    node.all.acquire('A', TTL).unwrap();
    node.all.locks[0].acquire('B', TTL).unwrap();
    node.all.locks[1].acquire('C', TTL).unwrap();
    node.migrate();
    assert_eq!(node.all.end('A').unwrap(), 2);
    node.stay();
    assert_eq!(holders(&mut node.all), "BC");
}

#[test]
fn both_locks_are_freed_while_silent_waiters_stay() {
    let mut node = Node::new();
    node.all.acquire('A', TTL).unwrap();
    for number in 0..2 {
        let lock = &mut node.all.locks[number];
        lock.acquire('B', TTL).unwrap();
        lock.stop_heart('B');
    }
    node.migrate();
    assert_eq!(node.all.end('A').unwrap(), 1);
    node.stay();
    assert_eq!(holders(&mut node.all), "..");
}

#[test]
fn poll_confirms_one_lock_and_waits_for_the_other() {
    let mut node = Node::new();
    node.all.locks[1].acquire('B', TTL).unwrap();
    node.all.acquire('A', TTL).unwrap();
    node.all.locks[0].acquire('C', TTL).unwrap();
    node.migrate();
    let answer = node.all.acquire('A', TTL).unwrap();
    node.stay();
    assert_eq!(in_the_way(&answer), (2, 1));
}

#[test]
fn all_are_confirmed_and_get_one_token() {
    let mut node = Node::new();
    let _a = listen(&node.node.server, "A");
    node.all.locks[1].acquire('B', TTL).unwrap();
    node.all.acquire('A', TTL).unwrap();
    for number in 0..2 {
        node.all.locks[number].acquire('C', TTL).unwrap();
    }
    node.all.locks[1].end('B').unwrap();
    node.migrate();
    let answer = node.all.acquire('A', TTL).unwrap();
    node.stay();
    let taken = token(&answer);
    super::assert_tokens(&mut node.all, taken);
}

#[test]
fn owner_that_waits_gives_back_one_lock_and_leaves_the_queue_of_the_other() {
    let mut node = Node::new();
    let _c = listen(&node.node.server, "C");
    node.all.locks[1].acquire('B', TTL).unwrap();
    node.all.acquire('A', TTL).unwrap();
    node.all.locks[0].acquire('C', TTL).unwrap();
    node.migrate();
    assert_eq!(node.all.end('A').unwrap(), 3);
    node.stay();
    assert_eq!(holders(&mut node.all), "CB");
    assert_eq!(node.all.locks[1].queue_members(), []);
}

#[test]
fn locks_are_renewed_and_released() {
    let mut node = Node::new();
    node.all.acquire('A', TTL).unwrap();
    for number in 0..2 {
        let lock = &mut node.all.locks[number];
        lock.acquire('B', TTL).unwrap();
        let k = lock.k.clone();
        let _: i64 = lock.command(&["SETRANGE", &k, "22", " "]);
    }
    node.migrate();
    assert!(node.all.renew('A', TTL).unwrap().is_some());
    assert_eq!(node.all.release('A').unwrap(), 1);
    node.stay();
    assert_eq!(holders(&mut node.all), "..");
}
