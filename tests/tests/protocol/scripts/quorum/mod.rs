//! The scripts of one node of a quorum.

mod acquire;
mod cede;
mod choice;
mod damage;
mod end;
mod hold;
mod marker;
mod memory;
mod messages;
mod moving_slot;
mod node;
mod proposal;
mod random;
mod revoke;
mod stamp;

use std::time::Duration;

use harness::{Listener, RedisServer, code_of};
use redis::RedisResult;

use super::{CLAIM, TTL};
use node::{Node, Reply};

const SECOND: i64 = 1_000_000;
/// The restart delay, if a test does not choose another.
const DELAY: i64 = 60_000;
/// How far a clock that stands still may count on, and be back again: see `RedisServer::stop_clock`.
const COUNTED_ON_MS: i64 = 5;

/// A server whose clock moves only when it is stepped, and a node whose votes count.
fn start() -> (RedisServer, Node) {
    let server = stopped();
    let mut node = Node::new(&server);
    node.mark_as_voting();
    (server, node)
}

/// A server whose clock moves only when it is stepped.
fn stopped() -> RedisServer {
    let server = RedisServer::builder().own_clock().start();
    server.stop_clock();
    server
}

fn forward(server: &RedisServer, ms: u64) {
    server.forward(Duration::from_millis(ms));
}

/// A listener for each letter.
fn listen(server: &RedisServer, letters: &str) -> Vec<Listener> {
    let letters = letters.chars();
    letters.map(|who| Listener::new(server, who)).collect()
}

#[track_caller]
fn assert_near(seen: i64, expected: i64, most: i64) {
    assert!(
        (seen - expected).abs() <= most,
        "{seen} is not {expected} but for {most}"
    );
}

/// Asserts that a script fails with this code, and writes nothing.
#[track_caller]
fn assert_refused<T: std::fmt::Debug>(
    node: &mut Node,
    code: &str,
    call: impl FnOnce(&mut Node) -> RedisResult<T>,
) -> String {
    let before = node.snapshot();
    let error = call(node).unwrap_err();
    assert_eq!(code_of(&error), code, "{error}");
    assert_eq!(node.snapshot(), before);
    error.to_string()
}

#[track_caller]
fn assert_waits(reply: &Reply, holder: char, place: i64) {
    let (seen, position) = (reply.holder(), reply.position());
    assert_eq!((seen, position), (Some(holder), place), "{reply:?}");
}
