//! Random commands and random calls of each script, on the fake and on a real server: equal answers, messages, records
//! and times to live after each step.
//!
//! What the fake shows of the scripts is worth as much as this test. It has three kinds of sequences: plain
//! [`commands`], small scripts that try the [`conversions`], and [`calls`] of the scripts that ship.

mod calls;
mod commands;
mod conversions;
mod records;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use harness::{Form, Listener, ScriptServer, code_of};
use lock_fake::{Deletion, FakeConnection, FakeServer, Inbox, coverage};
use proptest::prelude::{Strategy, any};
use redis::{ConnectionLike, RedisResult, Value};

use super::random::{explore, sequences};
use super::transcript::{COUNTED_ON_MS, Pooled, pooled};
use records::READ;

/// The owners that listen.
const LISTENING: [&str; 3] = ["A", "B", "C"];

/// A command, by its words.
type Command = Vec<Vec<u8>>;

/// How often each command or script was answered, and not refused.
type Tally = BTreeMap<&'static str, usize>;

/// One step of a sequence, as a number from which all its choices are drawn.
#[derive(Clone, Copy, Debug)]
struct Step(u64);

/// The choices that are left in a step.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: usize) -> usize {
        let most = most as u64;
        let drawn = self.0 % most;
        self.0 /= most;
        usize::try_from(drawn).expect("it is small")
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

fn words(words: &[&str]) -> Command {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// What a step does.
enum Deed {
    Passes(Duration),
    /// The clock is set back.
    GoesBack(Duration),
    /// Commands, and the name by which an answer to the last of them is counted.
    Sends(Vec<Command>, &'static str),
}

/// Why a sequence ends early.
enum Stop {
    Differs(String),
    /// A key is at its end. Redis 8.0 removes it in its last millisecond, or a little later. The clock of Valkey 9.1 counts on
    /// from its last look, and goes back at the next one: a key that had expired is alive.
    AtAnEnd,
}

/// The kinds of sequences.
#[derive(Clone, Copy)]
enum Kind {
    Commands,
    Conversions,
    Calls,
}

#[test]
fn commands_are_answered_as_by_a_real_server() {
    compare(Kind::Commands, sequences(), commands::ALL);
}

#[test]
fn values_are_converted_as_by_a_real_server() {
    compare(Kind::Conversions, sequences(), &[]);
}

#[test]
fn scripts_run_as_on_a_real_server() {
    // Only a long run asks for the lines that have not run.
    if Form::of_this_run() == Form::Long {
        coverage::start();
    }
    compare(Kind::Calls, 2 * sequences(), calls::ALL);
}

/// Plays sequences, in which each of `names` is answered at least once, and calls run each line of the scripts.
fn compare(kind: Kind, sequences: u32, names: &[&'static str]) {
    let stage = RefCell::new(Stage::new(kind));
    explore(
        any::<u64>().prop_map(Step),
        sequences,
        |steps| stage.borrow_mut().play(steps),
        || {
            let stage = stage.borrow();
            let names = names.iter().filter(|name| stage.can(name));
            let missing = names.filter(|name| !stage.tally.contains_key(**name));
            let mut missing: Vec<&str> = missing.copied().collect();
            if let Kind::Calls = kind {
                missing.extend(calls::lines_not_run());
            }
            missing
        },
    );
}

struct Stage {
    kind: Kind,
    tally: Tally,
    deletion: Option<&'static str>,
    is_valkey: bool,
    /// Whether keys always expire at the end of their last millisecond.
    is_exact: bool,
    real: Box<dyn ConnectionLike + Send>,
    heard: Vec<Listener>,
    // Last, so that connections end before the server is used again.
    server: Pooled,
}

/// The fake's side of one sequence.
struct Mine {
    server: FakeServer,
    connection: FakeConnection,
    inboxes: Vec<Inbox>,
}

impl Stage {
    fn new(kind: Kind) -> Stage {
        let server = pooled();
        let mut real = server.connect();
        let info: String = harness::ask(&mut *real, &["INFO", "server"]);
        Stage {
            kind,
            tally: Tally::new(),
            deletion: harness::deletion(&mut *real).map(|words| words[0]),
            is_valkey: info.contains("valkey_version"),
            is_exact: info.contains("redis_version:7.0."),
            heard: listen(&server),
            real,
            server,
        }
    }

    /// Whether the real server has this command.
    fn can(&self, name: &str) -> bool {
        !["DELIFEQ", "DELEX"].contains(&name) || self.deletion == Some(name)
    }

    fn play(&mut self, steps: &[Step]) -> Result<(), String> {
        let mut mine = self.begin();
        let mut number = 0;
        let outcome = steps.iter().try_for_each(|step| {
            number += 1;
            self.step(*step, &mut mine)
        });
        match outcome {
            Ok(()) => self.assert_silence(),
            Err(stop) => {
                // Messages that were not read must not reach the next sequence.
                self.heard = listen(&self.server);
                match stop {
                    Stop::AtAnEnd => Ok(()),
                    Stop::Differs(difference) => Err(format!("step {number}, {difference}")),
                }
            }
        }
    }

    /// Begins with empty servers, at the same time.
    fn begin(&mut self) -> Mine {
        self.server.set_full(false);
        for command in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"]] {
            let _: () = harness::ask(&mut *self.real, command);
        }
        let server = FakeServer::new(self.server.time());
        let deletion = match self.deletion {
            Some("DELIFEQ") => Deletion::DelIfEq,
            Some(_) => Deletion::DelEx,
            None => Deletion::Absent,
        };
        server.state(|state| state.deletion = deletion);
        let inboxes = LISTENING.map(|who| server.listen("SUBSCRIBE", &channel(who)));
        Mine {
            connection: server.connection(),
            inboxes: inboxes.into(),
            server,
        }
    }

    fn step(&mut self, step: Step, mine: &mut Mine) -> Result<(), Stop> {
        let mut draws = Draws(step.0);
        let deed = match self.kind {
            Kind::Commands => commands::draw(&mut draws, self.deletion),
            Kind::Conversions => conversions::draw(&mut draws, self.deletion),
            Kind::Calls => calls::draw(&mut draws, &mine.server),
        };
        let (commands, name) = match deed {
            Deed::Passes(time) => {
                self.server.forward(time);
                (vec![look()], "")
            }
            Deed::GoesBack(time) => {
                self.server.back(time);
                (vec![look()], "")
            }
            Deed::Sends(commands, name) => (commands, name),
        };
        let mut is_answered = false;
        for command in commands {
            is_answered = self.send(&command, mine).map_err(|stop| match stop {
                Stop::AtAnEnd => stop,
                Stop::Differs(difference) => {
                    let words: Vec<_> = command.iter().map(|word| shown(word)).collect();
                    Stop::Differs(format!("{}\n{difference}", words.join(" ")))
                }
            })?;
        }
        if is_answered {
            *self.tally.entry(name).or_default() += 1;
        }
        Ok(())
    }

    /// Sends a command to both. Returns whether it was answered, and not refused.
    fn send(&mut self, command: &Command, mine: &mut Mine) -> Result<bool, Stop> {
        let (time, theirs, records) = self.transact(command);
        mine.server.state(|state| state.now = time);
        if !self.is_exact && has_key_at_its_end(&mine.server) {
            return Err(Stop::AtAnEnd);
        }
        let answer = send(&mut mine.connection, command);
        // The fields of a hash have an order of their own on each server.
        let is_unordered = command[0] == b"HKEYS";
        let [theirs, answer] =
            [theirs, answer].map(|it| if is_unordered { sorted(it) } else { it });
        self.agree("the answer", theirs.as_ref(), answer.as_ref())?;
        let read = send(&mut mine.connection, &words(&["EVAL", READ, "0"]));
        self.agree("the records", records.as_ref(), read.as_ref())?;
        for (inbox, listener) in mine.inboxes.iter_mut().zip(&mut self.heard) {
            for push in inbox.by_ref() {
                let (_, _, expected): (String, String, String) =
                    redis::from_redis_value(push).expect("a push has three parts");
                let heard = listener.next_push();
                if heard != expected {
                    let difference = format!("the message: {heard:?}, of the fake {expected:?}");
                    return Err(Stop::Differs(difference));
                }
            }
        }
        Ok(theirs.is_ok())
    }

    /// Sends a command to the real server. Returns its time (µs) then, the answer and all records.
    ///
    /// Valkey counts on from its last look at the clock, but not within a transaction. Redis out of memory refuses all
    /// commands of a transaction, and its clock stands still.
    fn transact(&mut self, command: &Command) -> (i64, RedisResult<Value>, RedisResult<Value>) {
        let read = [words(&["TIME"]), words(&["EVAL", READ, "0"])];
        let [time, records] = read;
        let mut all = vec![time, command.clone(), records];
        if self.is_valkey {
            all.insert(0, words(&["MULTI"]));
            all.push(words(&["EXEC"]));
        }
        let mut packed = Vec::new();
        for command in &all {
            packed.extend(pack(command));
        }
        let answers = self.real.req_packed_commands(&packed, 0, all.len());
        let mut answers = answers.expect("the server answers");
        if self.is_valkey {
            match answers.pop() {
                Some(Value::Array(parts)) => answers = parts,
                // The command was refused before the transaction, so nothing was done.
                _ => {
                    let refusal = answers.swap_remove(2);
                    let mut read = |words| self.real.req_packed_command(&pack(&words));
                    let [time, records] = [&["TIME"][..], &["EVAL", READ, "0"]]
                        .map(|command| read(words(command)).expect("the server answers"));
                    answers = vec![time, refusal, records];
                }
            }
        }
        let [time, answer, records] = <[Value; 3]>::try_from(answers).expect("three answers");
        let (seconds, micros): (i64, i64) = redis::from_redis_value(time).expect("a time");
        let result = |value: Value| value.extract_error();
        (
            seconds * 1_000_000 + micros,
            result(answer),
            result(records),
        )
    }

    /// Compares answers: errors by their codes. On Valkey a remaining time may be a millisecond off.
    fn agree(
        &self,
        what: &str,
        theirs: Result<&Value, &redis::RedisError>,
        mine: Result<&Value, &redis::RedisError>,
    ) -> Result<(), Stop> {
        let off = u64::from(self.is_valkey);
        let is_equal = match (&theirs, &mine) {
            (Ok(theirs), Ok(mine)) => is_near(theirs, mine, off),
            (Err(theirs), Err(mine)) => code_of(theirs) == code_of(mine),
            _ => false,
        };
        if is_equal {
            return Ok(());
        }
        let difference = format!("{what}: {theirs:?}\nof the fake: {mine:?}");
        Err(Stop::Differs(difference))
    }

    /// Each listener hears an end next: no script sent more than it should.
    fn assert_silence(&mut self) -> Result<(), String> {
        for (who, listener) in LISTENING.iter().zip(&mut self.heard) {
            let _: i64 = harness::ask(&mut *self.real, &["PUBLISH", &channel(who), "end"]);
            let heard = listener.next_push();
            if heard != "end" {
                return Err(format!("{who} heard {heard:?}"));
            }
        }
        Ok(())
    }
}

/// A command that changes nothing, but that makes both servers remove what has expired. Otherwise a real one may keep a key
/// until its clock goes back.
fn look() -> Command {
    words(&[&["EXISTS"], commands::KEYS, calls::RECORDS].concat())
}

fn has_key_at_its_end(server: &FakeServer) -> bool {
    server.state(|state| {
        let now = state.now_ms();
        let mut ends = state.keys.values().filter_map(|entry| entry.expires);
        ends.any(|end| (end - now).abs() <= COUNTED_ON_MS)
    })
}

fn channel(who: &str) -> String {
    format!("lock:{}", who.repeat(8))
}

fn listen(server: &Pooled) -> Vec<Listener> {
    let listen = |who: &&str| server.listen("SUBSCRIBE", &channel(who));
    LISTENING.iter().map(listen).collect()
}

fn pack(words: &Command) -> Vec<u8> {
    let mut command = redis::Cmd::new();
    words.iter().for_each(|word| _ = command.arg(&word[..]));
    command.get_packed_command()
}

fn send(connection: &mut FakeConnection, words: &Command) -> RedisResult<Value> {
    let answer = connection.req_packed_command(&pack(words))?;
    answer.extract_error()
}

fn sorted(answer: RedisResult<Value>) -> RedisResult<Value> {
    let sort = |answer| match answer {
        Value::Array(mut parts) => {
            parts.sort_by_key(|part| format!("{part:?}"));
            Value::Array(parts)
        }
        other => other,
    };
    answer.map(sort)
}

/// The beginning of a word, which may be a whole script.
fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(&word[..word.len().min(60)]);
    format!("{text:?}")
}

/// Whether two values are equal, but for numbers above one that differ by `off` at most.
fn is_near(one: &Value, other: &Value, off: u64) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            let mut parts = one.iter().zip(other);
            one.len() == other.len() && parts.all(|(one, other)| is_near(one, other, off))
        }
        (Value::Int(one), Value::Int(other)) => {
            one == other || *one.min(other) > 1 && one.abs_diff(*other) <= off
        }
        (one, other) => one == other,
    }
}
