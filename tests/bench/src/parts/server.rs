//! The server's CPU time for a cycle.
//!
//! The commands of a cycle are sent as they are, many in one write: the time is that of the commands
//! and hardly that of sockets. Many keys take turns. Two grants of one key within 16 µs would take the
//! slow path of `acquire`; a client that awaits its answers never has those.

use std::time::Duration;

use harness::{ACQUIRE, RELEASE, RedisServer, ask, deletion, owner};
use redis::{Connection, FromRedisValue, Pipeline, Script};

use super::Setting;
use crate::contestants::{Contestant, Ours, TTL_MILLIS, raw};
use crate::findings::{Findings, Goal, Value};
use crate::meter::Meter;
use crate::number::Short;
use crate::runtimes::Flavour;
use crate::stats::ratio;

const KEYS: usize = 200;

/// The part of a lock's record before the label: owner, flag and token.
const BEFORE_LABEL: usize = 39;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    let mut bench = Bench::new(&server);
    let mut ways = vec![Way::Floor, Way::Scripts];
    ways.extend(deletion(&mut bench.connection).map(Way::Deletion));
    // Alternately: the minimum is the time of the commands, and the rest is noise.
    let batches = (setting.effort.cycles / 3).div_ceil(KEYS);
    let mut least = vec![Duration::MAX; ways.len()];
    for _ in 0..2 * setting.effort.rounds {
        for (&way, least) in ways.iter().zip(&mut least) {
            *least = bench.round(way, batches).min(*least);
        }
    }
    let floor = least[0];
    let rows = [("scripts", 1.5), ("released by DELIFEQ or DELEX", 1.2)];
    for ((how, most), time) in rows.into_iter().zip([least.get(1), least.get(2)]) {
        let goal = Goal::AtMost(most);
        let value = match time {
            Some(&time) => Value::new(goal, ratio(time, floor)).of(Short(time)),
            None => Value::none(goal, "the server has neither"),
        };
        findings.figure(
            &format!("uncontended cycle, the server's CPU to the floor's, {how}"),
            value,
            Short(floor),
        );
    }
}

/// How the locks are acquired and released.
#[derive(Clone, Copy)]
enum Way {
    Floor,
    /// `acquire` and `release`, as a client sends them to most servers.
    Scripts,
    /// `acquire`, and the arguments of a command that compares and deletes.
    Deletion(&'static [&'static str]),
}

struct Bench {
    connection: Connection,
    meter: Meter,
    unlock: Script,
    /// The floor's locks.
    floors: Vec<String>,
    /// This project's locks: the names of lock, fence and queue.
    records: Vec<[String; 3]>,
    owner: String,
    label: String,
}

impl Bench {
    fn new(server: &RedisServer) -> Bench {
        let mut connection = server.connection();
        let unlock = raw::unlock_script();
        for script in [&*ACQUIRE, &*RELEASE, &unlock] {
            script.load(&mut connection).expect("the server answers");
        }
        let floors = (0..KEYS).map(|n| raw::name(&n.to_string()));
        let records = (0..KEYS).map(|n| {
            let lock = format!("lock:{n}");
            let [fence, queue] = ["f", "w"].map(|record| format!("{{{lock}}}:{record}"));
            [lock, fence, queue]
        });
        Bench {
            meter: Meter::new(server),
            unlock,
            floors: floors.collect(),
            records: records.collect(),
            owner: owner('a'),
            label: default_label(server, &mut connection),
            connection,
        }
    }

    /// The server's time for a cycle, over that many with each key.
    fn round(&mut self, way: Way, batches: usize) -> Duration {
        let before = self.meter.cpu();
        for _ in 0..batches {
            match way {
                Way::Floor => self.floor(),
                Way::Scripts => self.scripts(),
                Way::Deletion(words) => self.deletion(words),
            }
        }
        let cycles = u32::try_from(batches * KEYS).expect("they are few");
        (self.meter.cpu() - before) / cycles
    }

    fn floor(&mut self) {
        let mut locks = Pipeline::with_capacity(KEYS);
        for name in &self.floors {
            locks.add_command(raw::lock(name));
        }
        let taken: Vec<Option<String>> = self.ask(&locks);
        assert!(taken.iter().all(Option::is_some), "the locks are free");
        let mut unlocks = Pipeline::with_capacity(KEYS);
        for name in &self.floors {
            unlocks.invoke_script(&raw::unlock(&self.unlock, name));
        }
        self.free(&unlocks);
    }

    fn scripts(&mut self) {
        self.acquire();
        let mut releases = Pipeline::with_capacity(KEYS);
        for [lock, ..] in &self.records {
            releases.invoke_script(RELEASE.key(lock).arg(&self.owner));
        }
        self.free(&releases);
    }

    fn deletion(&mut self, words: &[&str]) {
        let grants = self.acquire();
        let mut deletions = Pipeline::with_capacity(KEYS);
        for ([lock, ..], grant) in self.records.iter().zip(grants) {
            let record = [&self.owner, &grant, &self.label].map(String::as_str);
            let deletion = deletions.cmd(words[0]).arg(lock).arg(&words[1..]);
            deletion.arg(record.concat());
        }
        self.free(&deletions);
    }

    /// The flags and tokens of all locks.
    fn acquire(&mut self) -> Vec<String> {
        let entry = [&*self.owner, &*self.label].concat();
        let mut acquires = Pipeline::with_capacity(KEYS);
        for record in &self.records {
            let mut acquire = ACQUIRE.prepare_invoke();
            for name in record {
                acquire.key(name);
            }
            acquires.invoke_script(acquire.arg(&entry).arg(TTL_MILLIS));
        }
        self.ask(&acquires)
    }

    /// Releases all locks.
    fn free(&mut self, releases: &Pipeline) {
        let freed: Vec<u32> = self.ask(releases);
        assert_eq!(freed, [1; KEYS], "they were held throughout");
    }

    fn ask<T: FromRedisValue>(&mut self, commands: &Pipeline) -> T {
        let answers = commands.query(&mut self.connection);
        answers.expect("the server answers")
    }
}

/// The end of a record of a client with default options: a space and its label.
fn default_label(server: &RedisServer, connection: &mut Connection) -> String {
    let runtime = Flavour::CurrentThread.runtime();
    let ours = runtime.block_on(Ours::connect(&server.url()));
    let held = runtime.block_on(ours.acquire("label"));
    let record: String = ask(connection, &["GET", "lock:label"]);
    runtime.block_on(ours.release(held));
    record[BEFORE_LABEL..].to_owned()
}
