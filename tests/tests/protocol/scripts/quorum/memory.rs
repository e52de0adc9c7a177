//! A server out of memory: it gives no new vote, and what an owner has can be confirmed, renewed and ended.

use harness::{Listener, RedisServer};

use super::node::{Ask, Node};
use super::{COUNTED_ON_MS, SECOND, TTL, assert_refused, forward, start, stopped};
use crate::scripts::assert_runs_down;

const OOM: &str = "OOM";

fn fill_up(server: &RedisServer) {
    server.config_set("maxmemory", "1");
}

fn assert_acquire_is_refused(node: &mut Node, who: char, stamp: i64) {
    assert_refused(node, OOM, |node| node.ask(who, &Ask::by(stamp)));
}

#[test]
fn free_lock_is_refused() {
    let (server, mut node) = start();
    fill_up(&server);
    assert_acquire_is_refused(&mut node, 'A', 0);
    assert_refused(&mut node, OOM, |node| node.hold('A', TTL, 5));
}

#[test]
fn free_lock_with_waiters_is_refused() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    node.acquire('A', 0);
    node.acquire('B', 10);
    node.acquire('C', 20);
    node.lock.stop_heart('C');
    node.expire();
    fill_up(&server);
    for (who, stamp) in [('D', 30), ('D', 5), ('B', 10)] {
        assert_acquire_is_refused(&mut node, who, stamp);
    }
    assert_refused(&mut node, OOM, |node| node.hold('B', TTL, 5));
}

#[test]
fn place_in_the_queue_and_poll_are_refused() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 10);
    fill_up(&server);
    for (who, stamp) in [('B', 10), ('C', 20), ('C', 5)] {
        assert_acquire_is_refused(&mut node, who, stamp);
    }
}

#[test]
fn new_marker_is_refused_and_nothing_else_is_written() {
    let server = stopped();
    let mut node = Node::new(&server);
    fill_up(&server);
    assert_refused(&mut node, OOM, |node| node.mark());
    assert_acquire_is_refused(&mut node, 'A', 0);
    assert_refused(&mut node, OOM, |node| node.hold('A', TTL, 5));
    let k = node.lock.k.clone();
    server.config_set("maxmemory", "0");
    let _: () = node.lock.command(&["SET", &k, "stranger"]);
    fill_up(&server);
    let ask = Ask::by(0).without_queueing();
    assert_refused(&mut node, OOM, |node| node.ask('A', &ask));
}

#[test]
fn own_lock_is_confirmed_and_renewed() {
    let (server, mut node) = start();
    let token = node.acquire('A', 0).token();
    fill_up(&server);
    for (ttl, expected) in [(2 * TTL, 2 * TTL), (TTL, 2 * TTL)] {
        let ask = Ask::by(0).ttl(ttl);
        assert_eq!(node.ask('A', &ask).unwrap().token(), token);
        assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, expected);
    }
    assert_eq!(node.hold('A', 3 * TTL, token).unwrap().token(), token);
    assert_runs_down(node.lock.pttl() - COUNTED_ON_MS, 3 * TTL);
    assert_eq!(node.end('A', 0).unwrap(), 1);
}

#[test]
fn token_of_an_own_lock_is_raised() {
    let (server, mut node) = start();
    node.ask('A', &Ask::by(0).ttl(2 * TTL)).unwrap();
    fill_up(&server);
    let larger = node.zero + 5 * SECOND;
    let ask = Ask::by(0).proposing(format!("={larger}"));
    assert_eq!(node.ask('A', &ask).unwrap().token(), larger);
    assert_eq!((node.token(), node.fence()), (larger, Some(larger)));
}

#[test]
fn own_lock_is_confirmed_on_a_node_that_is_marked_then() {
    for renews in [false, true] {
        let (server, mut node) = start();
        let token = node.acquire('A', 0).token();
        let m = node.m.clone();
        node.lose(&m);
        fill_up(&server);
        let reply = match renews {
            true => node.hold('A', TTL, token).unwrap(),
            false => node.acquire('A', 0),
        };
        assert!(reply.early() > 0);
        assert!(node.marker().is_some());
    }
}

#[test]
fn contended_lock_is_handed_on_and_confirmed() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    node.acquire('A', 0);
    node.acquire('B', 10);
    fill_up(&server);
    assert_eq!(node.end('A', 0).unwrap(), 2);
    assert_eq!(node.holder(), Some('B'));
    node.acquire('B', 10).token();
}

#[test]
fn waiter_leaves_the_queue() {
    let (server, mut node) = start();
    node.acquire('A', 0);
    node.acquire('B', 10);
    fill_up(&server);
    assert_eq!(node.end('B', 0).unwrap(), 3);
}

#[test]
fn cede_keeps_the_lock_or_is_refused() {
    let (server, mut node) = start();
    let _b = Listener::new(&server, 'B');
    let token = node.acquire('C', 30).token();
    node.acquire('B', 20);
    fill_up(&server);
    assert_refused(&mut node, OOM, |node| node.cede('C', token, 30));
    assert_eq!(node.cede('C', token, 10).unwrap().token(), token);
    forward(&server, 1);
}
