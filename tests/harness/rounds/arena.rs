//! Runs rounds side by side.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::places::Places;
use super::round::Round;
use super::row::{Row, Run};
use super::site::Site;
use super::tally::Tally;
use crate::clock::Clock;
use crate::seed::seed;
use crate::server::RedisServer;
use crate::worker::{Kind, Worker};

/// The shared environment of all rounds.
#[derive(Debug)]
pub struct Arena {
    worker: Vec<String>,
    kind: Kind,
    register: RedisServer,
    places: Places,
    // The number of rounds begun, so that each has its own key in the register.
    begun: AtomicUsize,
    seed: usize,
}

impl Arena {
    /// An arena whose workers are `worker LOCKS RESOURCE KIND`, where `worker` is a program with
    /// its first arguments. It plays `at_once` rounds on one server at the same time.
    pub fn new(worker: &[&str], kind: Kind, at_once: usize) -> Self {
        Self {
            worker: worker.iter().map(|&word| word.to_owned()).collect(),
            kind,
            register: RedisServer::start(),
            places: Places::new(at_once),
            begun: AtomicUsize::new(0),
            // Rounds are numbered from the seed.
            seed: (seed() % (1 << 31)) as usize,
        }
    }

    /// Runs up to `rounds` rounds of a row, as many at a time as there are places. Only the first
    /// may begin after `budget`.
    pub fn run(&self, row: &Row, rounds: usize, budget: Duration) -> Tally {
        let turns = Turns {
            rounds,
            budget,
            started: Instant::now(),
            next: AtomicUsize::new(0),
            tally: Mutex::new(Tally::new(row)),
        };
        thread::scope(|scope| {
            for _ in 0..self.places.at_once(row.places).min(rounds) {
                thread::Builder::new()
                    .name(row.name.to_owned())
                    .spawn_scoped(scope, || (row.play)(self, row, &turns))
                    .expect("a thread can be started");
            }
        });
        turns.tally.into_inner().expect("adding does not panic")
    }

    /// Plays rounds one after the other, while there are turns left.
    pub(super) fn rounds<S: Site>(&self, row: &Row, start: fn() -> S, run: Run<S>, turns: &Turns) {
        let _taken = self.places.take(row.places);
        let mut site = None;
        while let Some(number) = turns.take() {
            let begun = Instant::now();
            let played = panic::catch_unwind(AssertUnwindSafe(|| {
                self.round(row, number, site.take().unwrap_or_else(start), run, turns)
            }));
            let mut tally = match played {
                Ok((tally, reused)) => {
                    site = reused;
                    tally
                }
                Err(panic) => Tally::broken(row, number, message(&*panic)),
            };
            tally.took = begun.elapsed();
            turns.add(tally);
        }
    }

    /// Plays one round. Returns its outcome, and the site if the next round may reuse it.
    fn round<S: Site>(
        &self,
        row: &Row,
        turn: usize,
        site: S,
        run: Run<S>,
        turns: &Turns,
    ) -> (Tally, Option<S>) {
        let key = format!("order:{}", self.begun.fetch_add(1, Ordering::Relaxed));
        let mut round = Round::new(self, site, turn, row, key);
        // A failure of the script must not hide the findings of the checkers.
        let script = panic::catch_unwind(AssertUnwindSafe(|| run(&mut round)));
        let failure = script.err().map(|panic| message(&*panic));
        // Servers that the script did not get to mend may fail the checks, which must not hide its own failure.
        let end = || round.end(row, turn, failure.clone());
        let (tally, site) = match panic::catch_unwind(AssertUnwindSafe(end)) {
            Ok(ended) => ended,
            Err(panic) => {
                let reason = failure.unwrap_or_else(|| message(&*panic));
                return (Tally::broken(row, turn, reason), None);
            }
        };
        let reused = if tally.violations.is_empty() && turns.are_left() {
            site.reused()
        } else {
            None
        };
        (tally, reused)
    }

    /// A worker with a client of this kind and its locks at `locks`, optionally with its own clock.
    pub(super) fn worker(&self, kind: Kind, locks: &str, clock: Option<&Clock>) -> Worker {
        let register = self.register.admin_url();
        let (program, first) = self.worker.split_first().expect("there is a program");
        let args = first.iter().map(String::as_str);
        let args: Vec<&str> = args.chain([locks, &register, kind.name()]).collect();
        match clock {
            None => Worker::spawn(program, &args),
            Some(clock) => Worker::spawn_by(clock, program, &args),
        }
    }

    /// The number of the first round.
    pub(super) fn seed(&self) -> usize {
        self.seed
    }

    /// The client that the workers use.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn register(&self) -> redis::Connection {
        self.register.connection()
    }
}

/// The rounds of a row that are yet to be played, and the outcomes of the others.
pub(super) struct Turns {
    rounds: usize,
    budget: Duration,
    started: Instant,
    next: AtomicUsize,
    tally: Mutex<Tally>,
}

impl Turns {
    /// The number of the next round. At least one is played: a row without rounds would look as if
    /// it had passed.
    fn take(&self) -> Option<usize> {
        let round = self.next.fetch_add(1, Ordering::Relaxed);
        let is_late = round > 0 && self.started.elapsed() >= self.budget;
        (round < self.rounds && !is_late).then_some(round)
    }

    fn are_left(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.rounds && self.started.elapsed() < self.budget
    }

    fn add(&self, round: Tally) {
        let mut tally = self.tally.lock().expect("adding does not panic");
        tally.add(round);
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
    text.unwrap_or_else(|| "a panic without words".to_owned())
}
