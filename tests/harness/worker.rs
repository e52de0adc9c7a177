//! Worker processes that a test may kill and stop.

mod commands;
mod crowd;
mod hammer;
mod idle;
mod locks;
mod mode;
mod ours;
mod plain;
mod redisson;
mod runtimes;
mod serve;
mod visit;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use ours::comes_with_token;
pub use redisson::Version;
pub use serve::{Kind, serve};

use crate::clock::Clock;
use crate::process;
use crate::wait::{PATIENCE, wait_until};

/// A process that reads one command per line and answers each with one line.
///
/// Its standard error is the test's. It is killed when its last handle is dropped.
#[derive(Debug)]
pub struct Worker(Arc<Mutex<Process>>);

#[derive(Debug)]
struct Process {
    child: Child,
    stdin: ChildStdin,
    // Each with its arrival time.
    lines: Receiver<(Instant, String)>,
}

impl Worker {
    /// Starts `program` with `args`; tests pass `env!("CARGO_BIN_EXE_lock-worker")`.
    pub fn spawn(program: &str, args: &[&str]) -> Self {
        Self::start(program, args, None)
    }

    /// Like [`spawn`](Self::spawn), with its own wall clock.
    pub fn spawn_by(clock: &Clock, program: &str, args: &[&str]) -> Self {
        Self::start(program, args, Some(clock))
    }

    fn start(program: &str, args: &[&str], clock: Option<&Clock>) -> Self {
        let mut process = Command::new(program);
        if let Some(clock) = clock {
            clock.rule(&mut process);
        }
        let mut child = process
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} cannot be started: {error}"));
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
        Self(Arc::new(Mutex::new(Process {
            child,
            stdin,
            lines,
        })))
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.0.lock().expect("no panic leaves it half changed")
    }

    /// Another handle of the process.
    pub(crate) fn handle(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Whether this is a handle of the same process.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the process has not ended, by itself or by a signal.
    pub(crate) fn is_running(&self) -> bool {
        let status = self.process().child.try_wait();
        status.expect("the state of a child can be read").is_none()
    }

    pub fn pid(&self) -> u32 {
        self.process().child.id()
    }

    /// Sends a command without waiting for its answer.
    pub fn send(&mut self, command: &str) {
        writeln!(self.process().stdin, "{command}").expect("the worker reads its commands");
    }

    /// The next line that the worker prints; none if it is silent for `limit` or ends.
    pub fn line(&self, limit: Duration) -> Option<String> {
        let (_, line) = self.line_at(limit)?;
        Some(line)
    }

    /// Like [`line`](Self::line), with its arrival time: the lines of several workers share one
    /// clock.
    pub fn line_at(&self, limit: Duration) -> Option<(Instant, String)> {
        self.process().lines.recv_timeout(limit).ok()
    }

    /// Sends a command and waits for its answer.
    #[track_caller]
    pub fn ask(&mut self, command: &str, limit: Duration) -> String {
        self.send(command);
        match self.line(limit) {
            Some(answer) => answer,
            None => panic!("no answer to `{command}` within {limit:?}"),
        }
    }

    /// Sets the mode in which later calls hold their locks.
    #[track_caller]
    pub fn ask_mode(&mut self, mode: &str) {
        assert_eq!(self.ask(&format!("mode {mode}"), PATIENCE), "ok");
    }

    /// Waits for the end of a `hammer`. Returns the number of visits, none of which failed.
    #[track_caller]
    pub fn hammered(&self) -> usize {
        // A failure would be printed after the number.
        let tally = self.line(PATIENCE * 2).expect("a tally");
        let visits = tally.strip_prefix("hammered ").map(str::parse);
        visits
            .and_then(Result::ok)
            .unwrap_or_else(|| panic!("{tally}"))
    }

    /// Waits until the process ends on its own.
    #[track_caller]
    pub fn ended(&mut self, limit: Duration) -> ExitStatus {
        let mut status = None;
        wait_until("end of the worker", limit, || {
            status = self
                .process()
                .child
                .try_wait()
                .expect("the state of a child can be read");
            status.is_some()
        });
        status.expect("it has ended")
    }

    /// Terminates the process (SIGTERM).
    pub fn terminate(&self) {
        process::terminate(&self.process().child);
    }

    /// Kills the process (SIGKILL).
    pub fn kill9(&mut self) {
        process::kill9(&mut self.process().child);
    }

    /// Freezes the process (SIGSTOP).
    pub fn stop(&self) {
        process::stop(&self.process().child);
    }

    /// Continues a frozen process (SIGCONT).
    pub fn cont(&self) {
        process::cont(&self.process().child);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        process::kill9(&mut self.child);
    }
}
