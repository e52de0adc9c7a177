//! The server's CPU time for a cycle.
//!
//! The commands of a cycle are sent unchanged, many in one write, so the time is spent in the
//! commands and not in sockets. Many keys take turns. Two grants of one key within 16 µs would take
//! the slow path of `acquire`, which a client that awaits its answers never does.

use std::time::Duration;

use harness::{ACQUIRE, RELEASE, RedisServer, deletion, owner};
use redis::{Connection, FromRedisValue, Pipeline, Script};

use crate::contestants::{TTL_MILLIS, raw};
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::meter::Meter;
use crate::number::Short;
use crate::stats::ratio;

const KEYS: usize = 200;

/// The end of a record: a space and a label in the form of a client with default options.
const LABEL: &str = " host-1 (pid 4121)";

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let mut bench = Bench::new(&server);
    // Alternately: the minimum is the time of the commands, and the rest is noise.
    let batches = (effort.cycles / 3).div_ceil(KEYS);
    let [mut ours, mut fenced, mut floor] = [Duration::MAX; 3];
    for _ in 0..2 * effort.rounds {
        floor = bench.round(Bench::floor, batches).min(floor);
        ours = bench.round(Bench::ours, batches).min(ours);
        fenced = bench.round(Bench::fenced, batches).min(fenced);
    }
    let to_floor = |most, time| Value::at_most(most, ratio(time, floor)).of(Short(time));
    findings.figure(
        "uncontended cycle, the server's CPU to the floor's; without / with a token",
        [to_floor(1.05, ours), to_floor(3.3, fenced)],
        Short(floor),
    );
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
    /// The arguments of the compare-and-delete command, if the server has one: clients then release
    /// with it.
    deletion: Option<&'static [&'static str]>,
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
            deletion: deletion(&mut connection),
            connection,
        }
    }

    /// The server's time per cycle, over this many cycles with each key.
    fn round(&mut self, cycle: fn(&mut Bench), batches: usize) -> Duration {
        let before = self.meter.cpu();
        for _ in 0..batches {
            cycle(self);
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

    /// The command of a client with default options: the number in the record is the client's time.
    fn ours(&mut self) {
        const GRANT: &str = " 0001764120000000";
        let mut acquires = Pipeline::with_capacity(KEYS);
        for [lock, ..] in &self.records {
            let record = [&*self.owner, GRANT, LABEL].concat();
            let set = acquires.cmd("SET").arg(lock).arg(record);
            set.arg("NX").arg("PX").arg(TTL_MILLIS);
        }
        let taken: Vec<Option<String>> = self.ask(&acquires);
        assert!(taken.iter().all(Option::is_some), "the locks are free");
        self.release(std::iter::repeat_n(GRANT.to_owned(), KEYS));
    }

    /// The command of a client with default options that requests a token with the lock.
    fn fenced(&mut self) {
        let entry = [&*self.owner, LABEL].concat();
        let mut acquires = Pipeline::with_capacity(KEYS);
        for record in &self.records {
            let mut acquire = ACQUIRE.prepare_invoke();
            for name in record {
                acquire.key(name);
            }
            acquires.invoke_script(acquire.arg(&entry).arg(TTL_MILLIS));
        }
        // The flags and tokens of all locks.
        let grants: Vec<String> = self.ask(&acquires);
        self.release(grants);
    }

    /// Releases the locks with these flags and numbers.
    fn release(&mut self, grants: impl IntoIterator<Item = String>) {
        let mut releases = Pipeline::with_capacity(KEYS);
        for ([lock, ..], grant) in self.records.iter().zip(grants) {
            match self.deletion {
                None => releases.invoke_script(RELEASE.key(lock).arg(&self.owner)),
                Some(words) => {
                    let record = [&*self.owner, &*grant, LABEL];
                    let deletion = releases.cmd(words[0]).arg(lock).arg(&words[1..]);
                    deletion.arg(record.concat())
                }
            };
        }
        self.free(&releases);
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
