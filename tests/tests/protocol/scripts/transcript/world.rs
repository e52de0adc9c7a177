//! The surroundings of a transcript: a server, locks or a node of a quorum, and processes that listen.

use std::collections::BTreeMap;
use std::rc::Rc;

use harness::{Listener, RawLock, RawLocks, owner};

use super::super::quorum::node::Node;
use super::place::Place;

/// Valkey 9.1 counts on for some milliseconds after its last look at the clock.
pub(crate) const COUNTED_ON_MS: i64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One lock.
    Lock,
    /// Three locks, which are held together.
    Locks,
    /// A node of a quorum, whose votes count.
    Node,
    /// One lock in Redisson's record.
    Redisson,
}

/// A record: its key, its contents and its remaining time in ms.
type Record = (String, Vec<u8>, i64);
pub(crate) type Snapshot = Vec<Record>;

pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) all: RawLocks,
    pub(crate) node: Option<Node>,
    pub(crate) listeners: BTreeMap<char, Listener>,
    pub(crate) monitors: Vec<Listener>,
    pub(crate) tokens: BTreeMap<String, i64>,
    /// The largest token of each lock.
    pub(crate) highest: [i64; 3],
    /// The server's clock (µs) at the beginning.
    pub(crate) zero: i64,
    /// The lock of the last step.
    pub(crate) place: usize,
    /// The server's clock in the answers of a node.
    pub(crate) times: Vec<i64>,
    // Last, so that connections end before the server is used again.
    pub(crate) server: Rc<Place>,
}

impl World {
    /// On a server that has nothing else.
    pub(crate) fn on(server: Rc<Place>, kind: Kind) -> World {
        let names = &["a:1", "a:2", "a:3"][..if kind == Kind::Locks { 3 } else { 1 }];
        let mut all = RawLocks::new(&**server, names.iter().copied());
        if kind == Kind::Redisson {
            let lock = &mut all.locks[0];
            lock.k = "order:42".to_owned();
            lock.q = "redisson_lock_queue:{order:42}".to_owned();
        }
        let _: () = all.locks[0].command(&["FLUSHALL"]);
        let node = (kind == Kind::Node).then(|| {
            let mut node = Node::new(&**server, names[0]);
            // In the slot of the lock.
            node.m = all.locks[0].f.replace(":f", ":n");
            node.mark_as_voting();
            node
        });
        World {
            zero: node
                .as_ref()
                .map_or_else(|| all.locks[0].now(), |node| node.zero),
            kind,
            all,
            node,
            listeners: BTreeMap::new(),
            monitors: Vec::new(),
            tokens: BTreeMap::new(),
            highest: [0; 3],
            place: 0,
            times: Vec::new(),
            server,
        }
    }

    /// The lock of the last step.
    pub(crate) fn lock(&mut self) -> &mut RawLock {
        match &mut self.node {
            Some(node) => &mut node.lock,
            None => &mut self.all.locks[self.place],
        }
    }

    pub(crate) fn node(&mut self) -> &mut Node {
        self.node.as_mut().expect("a transcript of a node")
    }

    /// The key of record K, F, Q, R or M.
    pub(crate) fn key(&mut self, record: &str) -> String {
        let lock = self.lock();
        match record {
            "K" => lock.k.clone(),
            "F" => lock.f.clone(),
            "Q" => lock.q.clone(),
            "R" => lock.r.clone(),
            "M" => self.node().m.clone(),
            other => panic!("no record {other}"),
        }
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        let lock = self.lock();
        let mut keys: Vec<String> = lock.command(&["KEYS", "*"]);
        keys.sort();
        let read = |key: String| {
            let (dump, rest) = (lock.command(&["DUMP", &key]), lock.command(&["PTTL", &key]));
            (key, dump, rest)
        };
        keys.into_iter().map(read).collect()
    }

    /// The messages to `who` since the last look.
    pub(crate) fn heard(&mut self, who: char) -> Vec<String> {
        let channel = format!("lock:{}", &owner(who)[..8]);
        let _: i64 = self.lock().command(&["PUBLISH", &channel, "end"]);
        let listener = self.listeners.get_mut(&who).expect("it listens");
        std::iter::from_fn(|| Some(listener.next_push()).filter(|push| push != "end")).collect()
    }

    /// All records, for the message of a failure.
    pub(crate) fn describe(&mut self) -> String {
        let mut text = format!("  tokens   {:?}, zero {}", self.tokens, self.zero);
        let keys: Vec<String> = self.lock().command(&["KEYS", "*"]);
        for key in keys {
            let lock = self.lock();
            let kind: String = lock.command(&["TYPE", &key]);
            let rest: i64 = lock.command(&["PTTL", &key]);
            let contents = match &kind[..] {
                "string" => lock.command::<String>(&["GET", &key]),
                "zset" => lock
                    .command::<Vec<String>>(&["ZRANGE", &key, "0", "19", "WITHSCORES"])
                    .join(" "),
                _ => kind,
            };
            text += &format!("\n  {key} ({rest} ms): {contents:.600}");
        }
        text
    }
}

/// Whether nothing was written.
pub(crate) fn is_same(one: &Snapshot, other: &Snapshot) -> bool {
    let is_near =
        |(a, b): (&Record, &Record)| a.0 == b.0 && a.1 == b.1 && (a.2 - b.2).abs() <= COUNTED_ON_MS;
    one.len() == other.len() && one.iter().zip(other).all(is_near)
}
