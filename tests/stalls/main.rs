//! `lock-stalls`: runs a command, and stops its test programs, their servers and their workers, one after the other, each
//! for a second at a random moment. What fails then needs a machine that never pauses.
//!
//! ```text
//! cargo run -p lock-tests --bin lock-stalls -- tests/run
//! ```
//!
//! It ends as its command does. A line of its log, `stalls.log` in the folder for temporary files, tells which process was
//! stopped and when; `LOCK_TEST_SEED` repeats its choices, as far as the machine repeats the processes.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, thread};

use harness::MARKED_STOPS;
use rustix::process::{Pid, Signal, kill_process};

/// How long a process is stopped: as long as the product waits for an answer.
const STOP: Duration = Duration::from_secs(1);

/// The longest pause between two stops.
const PAUSE: u64 = 300;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let [program, args @ ..] = &words[..] else {
        eprintln!("lock-stalls COMMAND [ARGUMENT]...");
        return ExitCode::from(2);
    };
    let marks = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(program);
    command.args(args).env(MARKED_STOPS, marks.path());
    let mut command = command.spawn().expect("the command can be started");
    let path = env::temp_dir().join("stalls.log");
    let mut stalls = Stalls {
        random: harness::seed() | 1,
        began: Instant::now(),
        stopped: HashSet::new(),
        counts: HashMap::new(),
        log: File::create(&path).expect("the log can be written"),
    };
    let status = loop {
        if let Some(status) = command.try_wait().expect("it is a child") {
            break status;
        }
        stalls.pause();
        stalls
            .stop_one(command.id(), marks.path())
            .expect("the log can be written");
    };
    eprintln!(
        "stopped for a second each: {:?}; {}",
        stalls.counts,
        path.display()
    );
    if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

struct Stalls {
    random: u64,
    began: Instant,
    /// Servers and workers are stopped once, test programs again and again.
    stopped: HashSet<i32>,
    counts: HashMap<Kind, usize>,
    log: File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Test,
    Worker,
    Server,
}

impl Stalls {
    /// xorshift, by Marsaglia.
    fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the main thread has nothing else to do"
    )]
    fn sleep(time: Duration) {
        thread::sleep(time);
    }

    fn pause(&mut self) {
        let pause = self.draw(PAUSE);
        Self::sleep(Duration::from_millis(pause));
    }

    fn stop_one(&mut self, root: u32, marks: &std::path::Path) -> io::Result<()> {
        let is_marked = |pid: i32| marks.join(pid.to_string()).exists();
        let mut processes = below(root);
        processes.retain(|it| !self.stopped.contains(&it.pid) && !is_marked(it.pid));
        // As often a test as one of the many servers and workers.
        let wants_test = self.draw(2) == 0;
        let wanted: Vec<_> = processes
            .iter()
            .filter(|it| (it.kind == Kind::Test) == wants_test)
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let chosen = wanted[self.draw(wanted.len() as u64) as usize];
        let Some(pid) = Pid::from_raw(chosen.pid) else {
            return Ok(());
        };
        if kill_process(pid, Signal::STOP).is_err() {
            return Ok(());
        }
        let at = self.began.elapsed();
        Self::sleep(STOP);
        // A test that has stopped it meanwhile lets it continue itself.
        if !is_marked(chosen.pid)
            && kill_process(pid, Signal::CONT).is_ok()
            && is_marked(chosen.pid)
        {
            // In between.
            kill_process(pid, Signal::STOP).ok();
        }
        if chosen.kind != Kind::Test {
            self.stopped.insert(chosen.pid);
        }
        *self.counts.entry(chosen.kind).or_default() += 1;
        let Process { pid, kind, name } = chosen;
        writeln!(
            self.log,
            "{:8.1} s  {kind:?} {pid} {name}",
            at.as_secs_f64()
        )
    }
}

struct Process {
    pid: i32,
    kind: Kind,
    name: String,
}

/// The running processes below this one that belong to tests.
fn below(root: u32) -> Vec<Process> {
    let Ok(all) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let parents: HashMap<i32, (i32, char)> = pids
        .filter_map(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name before is in brackets and may contain any character.
            let mut words = stat.rsplit(')').next()?.split_whitespace();
            let state = words.next()?.chars().next()?;
            Some((pid, (words.next()?.parse().ok()?, state)))
        })
        .collect();
    let is_below = |mut pid: i32| {
        while let Some((parent, _)) = parents.get(&pid) {
            if *parent == root as i32 {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let running = parents
        .iter()
        .filter(|(_, (_, state))| !"TtZX".contains(*state));
    running
        .filter(|(pid, _)| is_below(**pid))
        .filter_map(|(&pid, _)| {
            let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
            let name = program.file_name()?.to_str()?.to_owned();
            let folder = program.parent()?.file_name()?;
            let kind = match &*name {
                name if name.starts_with("redis-") || name.starts_with("valkey-") => Kind::Server,
                "lock-worker" | "lock-service" => Kind::Worker,
                _ if folder == "deps" => Kind::Test,
                _ => return None,
            };
            Some(Process { pid, kind, name })
        })
        .collect()
}
