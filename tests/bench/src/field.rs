//! Several processes that want one lock.

use std::env;
use std::fs;
use std::io::{BufRead, Write};

use harness::{PATIENCE, RedisServer, Worker};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::contestants::Kind;
use crate::log::{self, Log, Window};
use crate::race::{Race, race};

/// The argument that makes this program one of these processes.
pub(crate) const RACER: &str = "racer";

/// The argument that makes this program a worker of the test harness.
pub(crate) const WORKER: &str = "worker";

/// The processes of one contestant, connected.
pub(crate) struct Field {
    racers: Vec<Worker>,
    folder: TempDir,
}

impl Field {
    pub(crate) fn new(kind: Kind, url: &str, processes: u32) -> Field {
        let racers: Vec<_> = (0..processes)
            .map(|_| spawn(&[RACER, kind.name(), url]))
            .collect();
        for racer in &racers {
            assert_eq!(racer.line(PATIENCE).as_deref(), Some("ready"));
        }
        Field {
            racers,
            folder: TempDir::new().expect("a temporary folder can be made"),
        }
    }

    /// Has that many tasks of each process take turns.
    pub(crate) fn race(&mut self, key: &str, tasks: u32, window: Window) -> Log {
        let Window { begin, start, end } = window;
        let (mut visits, mut waiting) = (Vec::new(), Vec::new());
        let files = (0..).map(|process| self.folder.path().join(format!("{process}")));
        let files: Vec<_> = files.take(self.racers.len()).collect();
        for ((racer, file), process) in self.racers.iter_mut().zip(&files).zip(0..) {
            let (first, file) = (process * tasks, file.display());
            racer.send(&format!(
                "{key} {first} {tasks} {begin} {start} {end} {file}"
            ));
        }
        for (racer, file) in self.racers.iter().zip(&files) {
            assert_eq!(racer.line(2 * PATIENCE).as_deref(), Some("raced"));
            let told = fs::read_to_string(file).expect("the racer has written it");
            let (own, asked) = log::read(&told);
            visits.extend(own);
            waiting.extend(asked);
        }
        let processes = u32::try_from(self.racers.len()).expect("there are a few");
        Log::new(window, processes * tasks, visits, waiting)
    }
}

/// The main function of one such process.
pub(crate) fn racer(runtime: &Runtime, kind: &str, url: &str) {
    let kind = Kind::parse(kind).expect("there is such a contestant");
    let contestant = runtime.block_on(kind.connect(url));
    say("ready");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.splitn(7, ' ').collect();
        let [key, numbers @ .., file] = &words[..] else {
            panic!("no race: {line}");
        };
        let numbers: Result<Vec<u64>, _> = numbers.iter().map(|word| word.parse()).collect();
        let [first, tasks, begin, start, end] = numbers.expect("they are numbers")[..] else {
            panic!("no race: {line}");
        };
        let [first, tasks] =
            [first, tasks].map(|number| u32::try_from(number).expect("it is small"));
        let plan = Race {
            key: (*key).to_owned(),
            first,
            tasks,
            window: Window { begin, start, end },
        };
        let (visits, waiting) = runtime.block_on(race(&contestant, &plan));
        fs::write(file, log::write(&visits, &waiting)).expect("the folder is there");
        say("raced");
    }
}

/// A process that uses locks on one server and a resource on another one, as the test harness does.
pub(crate) fn worker(locks: &RedisServer, resource: &RedisServer) -> Worker {
    spawn(&[WORKER, &locks.url(), &resource.url()])
}

fn spawn(args: &[&str]) -> Worker {
    let program = env::current_exe().expect("a program knows where it is");
    Worker::spawn(program.to_str().expect("its path is text"), args)
}

fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .expect("the parent reads");
}
