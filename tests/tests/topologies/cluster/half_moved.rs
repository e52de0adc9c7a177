//! Scripts in a slot of which some records have moved: each either refuses before it has changed anything, or does all
//! that it does elsewhere.
//!
//! In such a slot a command fails that names a missing key, and a script fails in its middle if it names a key that it
//! has removed itself.

use std::collections::BTreeMap;

use harness::{READ, RawLock, RawLocks, RedisCluster};
use redis::{Connection, RedisResult, ServerErrorKind};

const NAMES: [&str; 2] = ["{half}:1", "{half}:2"];
const TTL: i64 = 60_000;

type Call = fn(&mut RawLocks) -> RedisResult<String>;

/// Records as they are, by name and node.
type Records = BTreeMap<(String, usize), String>;

/// The calls of scripts, by A that may have the lock, and by D that comes now.
const CALLS: &[(&str, Call)] = &[
    ("acquire", |all| shown(all.locks[0].acquire('D', TTL))),
    ("acquire again", |all| shown(all.locks[0].acquire('A', TTL))),
    ("acquire without queueing", |all| {
        shown(all.locks[0].try_acquire('D', TTL))
    }),
    ("renew", |all| shown(all.locks[0].renew('A', TTL))),
    ("release", |all| shown(all.locks[0].release('A'))),
    ("rest", |all| shown(all.locks[0].rest('A', TTL))),
    ("end", |all| shown(all.locks[0].end('A'))),
    ("end of a waiter", |all| shown(all.locks[0].end('B'))),
    ("end with a successor", |all| {
        shown(all.locks[0].end_with_next('A', 'D', TTL))
    }),
    ("write", |all| shown(all.locks[0].write('D', TTL))),
    ("end of a writer", |all| shown(all.locks[0].end_write('A'))),
    ("end of a waiting writer", |all| {
        shown(all.locks[0].end_write('B'))
    }),
    ("share", |all| shown(all.locks[0].share('D', READ, TTL))),
    ("share again", |all| {
        shown(all.locks[0].share('A', READ, TTL))
    }),
    ("revoke", |all| {
        let token = token(&mut all.locks[0]);
        shown(all.locks[0].revoke(token, ""))
    }),
    ("renew of a share", |all| {
        shown(all.locks[0].renew_share('A', READ, TTL))
    }),
    ("release of a share", |all| {
        shown(all.locks[0].release_share('A', READ))
    }),
    ("end of a share", |all| {
        shown(all.locks[0].end_share('A', READ))
    }),
];

const CALLS_OF_SEVERAL: &[(&str, Call)] = &[
    ("keys_acquire", |all| shown(all.acquire('D', TTL))),
    ("keys_acquire again", |all| shown(all.acquire('A', TTL))),
    ("keys_renew", |all| shown(all.renew('A', TTL))),
    ("keys_release", |all| shown(all.release('A'))),
    ("keys_end", |all| shown(all.end('A'))),
    ("keys_end of a waiter", |all| shown(all.end('B'))),
    ("rest of several", |all| shown(all.rest('A', TTL))),
];

/// What there may be before a call.
const STATES: &[(&str, Call)] = &[
    ("free", |all| {
        all.locks[0].acquire('A', TTL)?;
        shown(all.locks[0].end('A'))
    }),
    ("held", |all| shown(all.locks[0].acquire('A', TTL))),
    ("held, with a waiter", |all| {
        all.locks[0].acquire('A', TTL)?;
        shown(all.locks[0].acquire('B', TTL))
    }),
    ("left to its waiters", |all| {
        for who in ['A', 'B', 'C'] {
            all.locks[0].acquire(who, TTL)?;
        }
        let lock = all.locks[0].k.clone();
        let () = all.locks[0].command(&["DEL", &lock]);
        shown(Ok(()))
    }),
    ("shared by one", |all| {
        shown(all.locks[0].share('A', READ, TTL))
    }),
    ("shared by two, with a writer who waits", |all| {
        all.locks[0].share('A', READ, TTL)?;
        all.locks[0].share('C', READ, TTL)?;
        shown(all.locks[0].write('B', TTL))
    }),
    ("held, with a reader who waits", |all| {
        all.locks[0].write('A', TTL)?;
        shown(all.locks[0].share('B', READ, TTL))
    }),
];

const STATES_OF_SEVERAL: &[(&str, Call)] = &[
    ("both held", |all| shown(all.acquire('A', TTL))),
    ("both held, with a waiter for each", |all| {
        all.acquire('A', TTL)?;
        all.locks[0].acquire('B', TTL)?;
        shown(all.locks[1].acquire('C', TTL))
    }),
    ("the second is held", |all| {
        all.locks[1].acquire('B', TTL)?;
        shown(all.acquire('A', TTL))
    }),
];

fn shown<T: std::fmt::Debug>(answer: RedisResult<T>) -> RedisResult<String> {
    answer.map(|answer| format!("{answer:?}"))
}

#[test]
fn script_in_a_half_moved_slot_does_all_or_nothing() {
    Scene::new().try_all(STATES, CALLS);
}

#[test]
fn script_of_several_locks_in_a_half_moved_slot_does_all_or_nothing() {
    Scene::new().try_all(STATES_OF_SEVERAL, CALLS_OF_SEVERAL);
}

/// Two primaries, with a slot that moves from one to the other.
struct Scene {
    cluster: RedisCluster,
    slot: String,
    /// The numbers of the primaries: the one that the slot leaves, and the one that gets it.
    nodes: [usize; 2],
    locks: [RawLocks; 2],
}

impl Scene {
    fn new() -> Scene {
        let cluster = RedisCluster::with(3, 0);
        let lock = format!("lock:{}", NAMES[0]);
        let source = cluster.first_owner(&lock);
        let nodes = [source, (source + 1) % 3];
        let locks = nodes.map(|node| RawLocks::new(&cluster.nodes[node], NAMES));
        let slot = cluster.slot(&lock).to_string();
        Scene {
            cluster,
            slot,
            nodes,
            locks,
        }
    }

    /// Each call in each state, with each subset of the records moved.
    fn try_all(mut self, states: &[(&str, Call)], calls: &[(&str, Call)]) {
        // Refused, and carried out by the node that the slot leaves, and by the one that gets it.
        let mut counts = [[0_u32; 2]; 2];
        for (state, prepare) in states {
            self.prepare(*prepare);
            let records: Vec<String> = self.records().into_keys().map(|(name, _)| name).collect();
            for (name, call) in calls {
                self.prepare(*prepare);
                let answer = self.call(*call, 0);
                assert!(answer.is_ok(), "{name}, {state}: {answer:?}");
                let whole = normalized(&self.records());
                for subset in 0..1_u32 << records.len() {
                    let moved = records.iter().enumerate();
                    let moved = moved.filter(|(number, _)| subset & 1 << number != 0);
                    let moved: Vec<&String> = moved.map(|(_, record)| record).collect();
                    self.prepare(*prepare);
                    self.open(&moved);
                    let before = self.records();
                    let (node, answer) = self.call_where_it_is(*call);
                    let after = self.records();
                    counts[node][usize::from(answer.is_ok())] += 1;
                    let case = format!("{name}, {state}, {moved:?} moved, by node {node}");
                    match answer {
                        Ok(_) => assert_eq!(normalized(&after), whole, "{case}"),
                        Err(error) => assert_eq!(after, before, "{case}: {error}"),
                    }
                }
            }
        }
        // Redis 6.2 sends a client to the other node for records of which it has some, and refuses nothing.
        let refuses = !self.is_before_redis_7();
        assert_eq!(counts[0][0] > 0, refuses, "{counts:?}");
        let others = &counts.as_flattened()[1..];
        assert!(
            others.iter().all(|&count| count > 0),
            "each happens: {counts:?}"
        );
    }

    fn is_before_redis_7(&self) -> bool {
        let info: String = self.cluster.ask(0, &["INFO", "server"]);
        info.contains("redis_version:6.")
    }

    /// Calls a script as a client does, which is told by the one node to ask the other. Which of them answered.
    fn call_where_it_is(&mut self, call: Call) -> (usize, RedisResult<String>) {
        match self.call(call, 0) {
            Err(error) if error.kind() == redis::ErrorKind::Server(ServerErrorKind::Ask) => {
                (1, self.call(call, 1))
            }
            answer => (0, answer),
        }
    }

    /// Makes the records of a state, on the one node.
    fn prepare(&mut self, state: Call) {
        for node in self.nodes {
            let () = self
                .cluster
                .ask(node, &["CLUSTER", "SETSLOT", &self.slot, "STABLE"]);
            let () = self.cluster.ask(node, &["FLUSHALL"]);
        }
        state(&mut self.locks[0]).expect("the scripts run");
    }

    /// Opens the slot, and moves some of its records.
    fn open(&self, moved: &[&String]) {
        let [source, target] = self.nodes;
        for (node, role, other) in [(target, "IMPORTING", source), (source, "MIGRATING", target)] {
            let other = self.cluster.id(other);
            let command = ["CLUSTER", "SETSLOT", &self.slot, role, &other];
            let () = self.cluster.ask(node, &command);
        }
        for record in moved {
            self.cluster.move_named(record, source, target);
        }
    }

    /// Calls a script on a node. The one that gets the slot is asked, as a client is told to by ASK.
    fn call(&mut self, call: Call, node: usize) -> RedisResult<String> {
        let locks = &mut self.locks[node];
        let mut answer = ask(&mut locks.locks[0].connection).and_then(|()| call(locks));
        // A node that lacks the script is sent it first, which uses the permission up.
        if answer
            .as_ref()
            .is_err_and(|error| error.to_string().contains("MOVED"))
        {
            answer = ask(&mut locks.locks[0].connection).and_then(|()| call(locks));
        }
        answer
    }

    /// The records on both nodes.
    fn records(&mut self) -> Records {
        let mut records = Records::new();
        for (node, locks) in self.locks.iter_mut().enumerate() {
            let names: Vec<String> = locks.locks.iter().flat_map(names_of).collect();
            let connection = &mut locks.locks[0].connection;
            for name in names {
                if let Some(content) = content(connection, &name) {
                    records.insert((name, node), content);
                }
            }
        }
        records
    }
}

fn names_of(lock: &RawLock) -> [String; 4] {
    [&lock.k, &lock.f, &lock.q, &lock.r].map(String::clone)
}

/// The token of a lock, if the node has it. The permission to ask is used up, and given again.
fn token(lock: &mut RawLock) -> i64 {
    let value: RedisResult<Option<String>> =
        redis::cmd("GET").arg(&lock.k).query(&mut lock.connection);
    ask(&mut lock.connection).expect("the node is in a cluster");
    let value = value.ok().flatten();
    let token = value.as_deref().and_then(|value| value.get(23..39));
    token.and_then(|token| token.parse().ok()).unwrap_or(17)
}

/// Permits the next command in a slot that is not the node's yet.
fn ask(connection: &mut Connection) -> RedisResult<()> {
    redis::cmd("ASKING").query(connection)
}

/// A record, if the node has it. The node that the slot leaves refuses commands on what it has not.
fn content(connection: &mut Connection, name: &str) -> Option<String> {
    ask(connection).expect("the node is in a cluster");
    let kind: String = redis::cmd("TYPE").arg(name).query(connection).ok()?;
    ask(connection).expect("the node is in a cluster");
    let mut read = match kind.as_str() {
        "string" => redis::cmd("GET"),
        "zset" => redis::cmd("ZRANGE"),
        _ => return None,
    };
    read.arg(name);
    if kind == "zset" {
        read.arg(0).arg(-1).arg("WITHSCORES");
    }
    let content: redis::Value = read.query(connection).expect("it is of this type");
    Some(format!("{content:?}"))
}

/// Records wherever they are, without tokens and times.
fn normalized(records: &Records) -> Vec<(String, String)> {
    let without_times = |content: &str| {
        let mut normalized = String::new();
        for part in content.split_inclusive(|character: char| !character.is_ascii_digit()) {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            normalized.push_str(if digits >= 10 { &part[digits..] } else { part });
        }
        normalized
    };
    let normalized: BTreeMap<&String, String> = records
        .iter()
        .map(|((name, _), content)| (name, without_times(content)))
        .collect();
    assert_eq!(
        normalized.len(),
        records.len(),
        "no record is twice: {records:?}"
    );
    normalized
        .into_iter()
        .map(|(name, content)| (name.clone(), content))
        .collect()
}
