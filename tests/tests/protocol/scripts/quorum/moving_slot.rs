//! No script names a key that it may have removed. The nodes of a quorum are no nodes of a cluster, so this only says
//! that these scripts keep the rule of all scripts.

use harness::{Listener, RawLock};

use super::SECOND;
use super::node::{Ask, Node};
use crate::scripts::TTL;
use crate::scripts::moving_slot::MovingSlot;

/// A node whose marker is in the lock's slot.
fn start() -> (MovingSlot, Node) {
    let slot = MovingSlot::new();
    let mut node = Node::new(&slot.server);
    node.m = RawLock::new(&slot.server, "order:42").f.replace(":f", ":n");
    node.mark_as_voting();
    (slot, node)
}

fn begin(slot: &MovingSlot, node: &mut Node) {
    let (lock, m) = (&mut node.lock, node.m.clone());
    let keys = [lock.k.clone(), lock.f.clone(), lock.q.clone(), m];
    slot.begin(lock, &keys);
}

#[test]
fn last_waiter_is_served_by_an_end() {
    let (slot, mut node) = start();
    let _b = Listener::new(&slot.server, 'B');
    node.acquire('A', 0);
    node.acquire('B', 10);
    begin(&slot, &mut node);
    assert_eq!(node.end('A', 0).unwrap(), 2);
}

#[test]
fn dead_waiters_are_dropped_by_an_end() {
    let (slot, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 10);
    node.lock.stop_heart('B');
    begin(&slot, &mut node);
    assert_eq!(node.end('A', 0).unwrap(), 1);
}

#[test]
fn last_waiter_is_served_by_a_cede() {
    let (slot, mut node) = start();
    let _b = Listener::new(&slot.server, 'B');
    let token = node.acquire('C', 30).token();
    node.acquire('B', 20);
    begin(&slot, &mut node);
    assert_eq!(node.cede('C', token, 30).unwrap().position(), 1);
}

#[test]
fn own_lock_is_confirmed_and_its_token_raised() {
    let (slot, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 10);
    begin(&slot, &mut node);
    let larger = node.zero + SECOND;
    let ask = Ask::by(0).proposing(format!("={larger}"));
    assert_eq!(node.ask('A', &ask).unwrap().token(), larger);
    assert_eq!(node.hold('A', TTL, larger).unwrap().token(), larger);
}
