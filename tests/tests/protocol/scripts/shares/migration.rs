//! A slot that is being migrated. A script runs only where all of its keys are, and it fails half-way at a key that it
//! removed itself. So it names no such key.

use std::fs;

use harness::{Answer, PATIENCE, READ, RawLock, RedisServer, wait_until};
use tempfile::TempDir;

use super::{TTL, assert_consistent, holder, inside, listen, permits};

const TARGET: &str = "b000000000000000000000000000000000000000";

/// The nodes of a cluster: the server itself, with all slots, and one that cannot be reached.
const NODES: &str = "\
a000000000000000000000000000000000000000 127.0.0.1:0@0 myself,master - 0 0 1 connected 0-16383
b000000000000000000000000000000000000000 127.0.0.1:1@2 master - 0 0 2 connected
vars currentEpoch 2 lastVoteEpoch 0
";

/// A node of a cluster, and a lock on it.
struct Node {
    server: RedisServer,
    lock: RawLock,
    _folder: TempDir,
}

impl Node {
    fn new() -> Node {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let nodes = folder.path().join("nodes.conf");
        fs::write(&nodes, NODES).expect("the folder can be written");
        let server = RedisServer::builder()
            .own_clock()
            .config("cluster-enabled", "yes")
            .config("cluster-config-file", nodes.to_str().expect("it is text"))
            .start();
        let mut lock = RawLock::new(&server, "order:42");
        wait_until("a cluster", PATIENCE, || {
            let info: String = lock.command(&["CLUSTER", "INFO"]);
            info.contains("cluster_state:ok")
        });
        server.stop_clock();
        Node {
            server,
            lock,
            _folder: folder,
        }
    }

    /// Begins to move the lock's slot. All of its records are there still.
    fn migrate(&mut self) {
        let lock = &mut self.lock;
        let keys = [
            lock.k.clone(),
            lock.f.clone(),
            lock.q.clone(),
            lock.r.clone(),
        ];
        let there: i64 = lock.command(&["EXISTS", &keys[0], &keys[1], &keys[2], &keys[3]]);
        assert_eq!(there, 4, "a script with a missing key does not run at all");
        let slot: i64 = lock.command(&["CLUSTER", "KEYSLOT", &keys[0]]);
        let slot = slot.to_string();
        let _: () = lock.command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", TARGET]);
        let missing = redis::cmd("GET").arg("{lock:order:42}:x").to_owned();
        let error = missing.query::<Option<String>>(&mut lock.connection);
        assert!(error.is_err(), "a missing key is asked for elsewhere");
    }

    /// Stops to move the slot, so that the records can be read.
    fn stay(&mut self) {
        let k = self.lock.k.clone();
        let slot: i64 = self.lock.command(&["CLUSTER", "KEYSLOT", &k]);
        let _: () = self
            .lock
            .command(&["CLUSTER", "SETSLOT", &slot.to_string(), "STABLE"]);
    }
}

#[test]
fn last_share_is_handed_to_the_last_waiter() {
    let mut node = Node::new();
    let _w = listen(&node.server, "W");
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
    let _b = listen(&node.server, "B");
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
    let _b = listen(&node.server, "B");
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
    let _listeners = listen(&node.server, "BC");
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
    let _b = listen(&node.server, "B");
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
