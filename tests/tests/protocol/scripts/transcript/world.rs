//! The surroundings of a transcript: a server from a pool, locks or a node of a quorum, and processes that listen.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use harness::{Listener, RawLock, RawLocks, RedisServer, owner};

use super::super::quorum::node::Node;

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

/// Servers whose clocks stand still, shared by the tests that run. The last of these tests stops them.
#[derive(Default)]
struct Pool(Mutex<Vec<RedisServer>>);

/// A server from the pool, empty.
pub(crate) struct Pooled {
    server: Option<RedisServer>,
    pool: Arc<Pool>,
    /// It cannot be used again.
    pub(crate) is_spent: Cell<bool>,
}

/// A server whose clock stands still, without records.
pub(crate) fn pooled() -> Pooled {
    static POOL: Mutex<Weak<Pool>> = Mutex::new(Weak::new());
    let mut weak = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = weak.upgrade().unwrap_or_default();
    *weak = Arc::downgrade(&pool);
    drop(weak);
    let free = pool.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let server = free.unwrap_or_else(|| {
        let server = RedisServer::builder().own_clock().start();
        server.stop_clock();
        server
    });
    let is_spent = Cell::new(false);
    Pooled {
        server: Some(server),
        pool,
        is_spent,
    }
}

impl Pooled {
    /// A server of one test alone.
    pub(crate) fn apart(server: RedisServer) -> Pooled {
        let (pool, is_spent) = (Arc::default(), Cell::new(true));
        Pooled {
            server: Some(server),
            pool,
            is_spent,
        }
    }
}

impl std::ops::Deref for Pooled {
    type Target = RedisServer;

    fn deref(&self) -> &RedisServer {
        self.server.as_ref().expect("it is released at the end")
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let server = self.server.take().expect("it is released once");
        if self.is_spent.get() || std::thread::panicking() {
            return;
        }
        server.config_set("maxmemory", "0");
        let mut connection = server.connection();
        redis::cmd("FLUSHALL")
            .exec(&mut connection)
            .expect("it is the server's own");
        self.pool
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(server);
    }
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
    pub(crate) server: Rc<Pooled>,
}

impl World {
    pub(crate) fn new(kind: Kind) -> World {
        World::on(Rc::new(pooled()), kind)
    }

    /// On a server that has nothing else.
    pub(crate) fn on(server: Rc<Pooled>, kind: Kind) -> World {
        let names = &["a:1", "a:2", "a:3"][..if kind == Kind::Locks { 3 } else { 1 }];
        let mut all = RawLocks::new(&server, names.iter().copied());
        if kind == Kind::Redisson {
            let lock = &mut all.locks[0];
            lock.k = "order:42".to_owned();
            lock.q = "redisson_lock_queue:{order:42}".to_owned();
        }
        let _: () = all.locks[0].command(&["FLUSHALL"]);
        let node = (kind == Kind::Node).then(|| {
            let mut node = Node::new(&server, names[0]);
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
