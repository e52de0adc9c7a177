//! Rounds side by side.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::outcome::Outcome;
use super::round::Round;
use super::row::Row;
use super::tally::Tally;
use crate::clock::Clock;
use crate::server::RedisServer;
use crate::worker::{Kind, Worker};

/// The shared environment of all rounds.
#[derive(Debug)]
pub struct Arena {
    worker: Vec<String>,
    kind: Kind,
    register: RedisServer,
    // The number of rounds begun, so that each has a key of its own in the register.
    begun: AtomicUsize,
}

impl Arena {
    /// An arena whose workers are `worker LOCKS RESOURCE KIND`, where `worker` is a program with
    /// its first arguments.
    pub fn new(worker: &[&str], kind: Kind) -> Self {
        Self {
            worker: worker.iter().map(|&word| word.to_owned()).collect(),
            kind,
            register: RedisServer::start(),
            begun: AtomicUsize::new(0),
        }
    }

    /// Runs up to `rounds` rounds of a row, `at_once` of them side by side. Only the first may begin
    /// after `budget`.
    pub fn run(&self, row: &Row, rounds: usize, at_once: usize, budget: Duration) -> Tally {
        let started = Instant::now();
        let next = AtomicUsize::new(0);
        let tally = Mutex::new(Tally::new(row));
        let rounds_in_turn = || {
            loop {
                let round = next.fetch_add(1, Ordering::Relaxed);
                // At least once: a row that was not played would look like one that passed.
                if round >= rounds || (round > 0 && started.elapsed() >= budget) {
                    return;
                }
                let outcome = self.round(row);
                tally
                    .lock()
                    .expect("adding does not panic")
                    .add(round, outcome);
            }
        };
        thread::scope(|scope| {
            for _ in 0..at_once.min(rounds) {
                thread::Builder::new()
                    .name(row.name.to_owned())
                    .spawn_scoped(scope, rounds_in_turn)
                    .expect("a thread can be started");
            }
        });
        tally.into_inner().expect("adding does not panic")
    }

    /// One round, whatever its outcome.
    fn round(&self, row: &Row) -> Outcome {
        let played = panic::catch_unwind(AssertUnwindSafe(|| {
            let number = self.begun.fetch_add(1, Ordering::Relaxed);
            let mut round = Round::new(self, (row.server)(), format!("order:{number}"));
            // The script's own failure must not hide what the checkers find.
            let script = panic::catch_unwind(AssertUnwindSafe(|| (row.run)(&mut round)));
            round.end(row.class, script.err().map(|panic| message(&*panic)))
        }));
        played.unwrap_or_else(|panic| Outcome::broken(message(&*panic)))
    }

    /// A worker whose locks are at `locks`, maybe with a clock of its own.
    pub(super) fn worker(&self, locks: &str, clock: Option<&Clock>) -> Worker {
        self.worker_of(self.kind, locks, clock)
    }

    /// The same of another kind.
    pub(super) fn worker_of(&self, kind: Kind, locks: &str, clock: Option<&Clock>) -> Worker {
        let register = self.register.admin_url();
        let (program, first) = self.worker.split_first().expect("there is a program");
        let args = first.iter().map(String::as_str);
        let args: Vec<&str> = args.chain([locks, &register, kind.name()]).collect();
        match clock {
            None => Worker::spawn(program, &args),
            Some(clock) => Worker::spawn_by(clock, program, &args),
        }
    }

    /// The client that the workers use.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn register(&self) -> redis::Connection {
        self.register.connection()
    }
}

/// The message of a panic.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
    text.unwrap_or_else(|| "a panic without words".to_owned())
}
