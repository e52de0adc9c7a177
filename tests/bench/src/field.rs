//! Several processes that compete for one lock.

use std::env;
use std::io::BufRead;

use harness::{PATIENCE, RedisServer, Worker};
use tokio::runtime::Runtime;

use crate::contestants::Kind;
use crate::log::{self, Log, Window};
use crate::race::race;

/// The argument that makes this program one of these processes.
pub(crate) const RACER: &str = "racer";

/// The argument that makes this program a worker of the test harness.
pub(crate) const WORKER: &str = "worker";

/// The processes of one contestant, connected.
pub(crate) struct Field(Vec<Worker>);

impl Field {
    pub(crate) fn new(kind: Kind, url: &str, processes: u32) -> Field {
        let racer = |_| spawn(&[RACER, kind.name(), url]);
        let racers: Vec<Worker> = (0..processes).map(racer).collect();
        for racer in &racers {
            assert_eq!(racer.line(PATIENCE).as_deref(), Some("ready"));
        }
        Field(racers)
    }

    /// That many tasks of each process take turns.
    pub(crate) fn race(&mut self, key: &str, tasks: u32, window: Window) -> Log {
        let Window { begin, start, end } = window;
        for (racer, first) in self.0.iter_mut().zip((0..).step_by(tasks as usize)) {
            racer.send(&format!("{key} {first} {tasks} {begin} {start} {end}"));
        }
        let (mut visits, mut all) = (Vec::new(), 0);
        for racer in &self.0 {
            let told = racer.line(2 * PATIENCE).expect("it tells its visits");
            visits.extend(log::read(&told));
            all += tasks;
        }
        Log::new(window, all, visits)
    }
}

/// The main function of one such process.
pub(crate) fn racer(runtime: &Runtime, kind: &str, url: &str) {
    let kind = Kind::parse(kind).expect("there is such a contestant");
    let contestant = runtime.block_on(kind.connect(url));
    println!("ready");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: usize| words[word].parse::<u64>().expect("it is a number");
        let [first, tasks] = [1, 2].map(|word| u32::try_from(number(word)).expect("it is small"));
        let [begin, start, end] = [3, 4, 5].map(number);
        let window = Window { begin, start, end };
        let visits = race(&contestant, words[0], first, tasks, window);
        println!("{}", log::write(&runtime.block_on(visits)));
    }
}

/// A process that uses locks on one server and a resource on another, like the test harness's
/// workers.
pub(crate) fn worker(locks: &RedisServer, resource: &RedisServer) -> Worker {
    spawn(&[WORKER, &locks.url(), &resource.url()])
}

fn spawn(args: &[&str]) -> Worker {
    let program = env::current_exe().expect("a program knows where it is");
    Worker::spawn(program.to_str().expect("its path is text"), args)
}
