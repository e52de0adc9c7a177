//! The client's instructions and system calls for a cycle, as counted by callgrind and strace.
//!
//! One process runs this many cycles and nothing else, and another runs more: the difference is the
//! cost of the cycles alone. The server is not counted.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use harness::RedisServer;
use tempfile::TempDir;

use crate::contestants::{Ours, Raw};
use crate::effort::Effort;
use crate::findings::{Findings, NONE, Value};
use crate::number::Number;
use crate::pair::{Cycle, Work};
use crate::runtimes::Flavour;
use crate::stats::float;

/// The argument that makes this program the counted process: `cycles ours|floor URL TIMES`.
pub(crate) const CYCLES: &str = "cycles";

const OURS: &str = "ours";
const FLOOR: &str = "floor";

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let each = |count: Count, who| {
        let cycles = |times| count(&[CYCLES, who, &server.url(), &usize::to_string(&times)]);
        // More would take longer without adding precision.
        let (few, many) = (effort.cycles / 30, effort.cycles / 10);
        Some((cycles(many)? - cycles(few)?) / float(many - few))
    };
    let both = |count| Some((each(count, OURS)?, each(count, FLOOR)?));
    let row = "uncontended cycle, system calls besides send, receive and wait";
    match both(system_calls) {
        Some((ours, floor)) => {
            // The background occasionally wakes up.
            let value = Value::at_most(2.0, (ours * 10.0).round() / 10.0);
            findings.figure(row, [value], Number(floor))
        }
        None => findings.figure(row, [Value::unmeasured(2.0, "no strace")], NONE),
    };
    let row = "uncontended cycle, instructions of the client, to the floor's";
    match both(instructions) {
        Some((ours, floor)) => {
            let value = Value::at_most(1.3, ours / floor).of(Number(ours));
            findings.figure(row, [value], Number(floor))
        }
        None => findings.figure(row, [Value::unmeasured(1.3, "no valgrind")], NONE),
    };
}

/// Counts for this program with these arguments; `None` without the counting program.
type Count = fn(&[&str]) -> Option<f64>;

/// The system calls that send, receive and wait: any client makes them.
const NEEDED: [&str; 8] = [
    "sendto",
    "recvfrom",
    "write",
    "read",
    "writev",
    "readv",
    "epoll_wait",
    "poll",
];

/// All system calls except [`NEEDED`].
fn system_calls(args: &[&str]) -> Option<f64> {
    let counts = counted(args, "strace", |strace, file| {
        let strace = strace.args(["-f", "-c", "-U", "calls,name", "-o"]);
        strace.arg(file);
    })?;
    let lines = counts.lines().filter_map(|line| {
        let (calls, name) = line.trim().split_once(char::is_whitespace)?;
        let is_other = !NEEDED.contains(&name.trim()) && name.trim() != "total";
        calls.parse::<f64>().ok().filter(|_| is_other)
    });
    Some(lines.sum())
}

fn instructions(args: &[&str]) -> Option<f64> {
    let counts = counted(args, "valgrind", |valgrind, file| {
        valgrind.args(["--quiet", "--tool=callgrind"]);
        valgrind.arg(format!("--callgrind-out-file={}", file.display()));
    })?;
    let (_, sum) = counts
        .split_once("\ntotals:")
        .expect("it ends with the sum");
    sum.trim().parse().ok()
}

/// The file that a program writes about this program with these arguments.
fn counted(args: &[&str], by: &str, options: fn(&mut Command, &Path)) -> Option<String> {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let file = folder.path().join("counts");
    let program = env::current_exe().expect("a program knows where it is");
    let mut command = Command::new(by);
    options(&mut command, &file);
    let status = command.arg(program).args(args).status().ok()?;
    assert!(status.success(), "{by} has counted nothing");
    Some(fs::read_to_string(file).expect("it was written"))
}

/// The main function of the counted process.
pub(crate) fn cycles(who: &str, url: &str, times: &str) {
    let times = times.parse().expect("it is a number");
    let (is_ours, url) = (who == OURS, url.to_owned());
    Flavour::CurrentThread.run(async move {
        if is_ours {
            repeat(Cycle::new(Ours::connect(&url).await), times).await
        } else {
            repeat(Cycle::new(Raw::connect(&url).await), times).await
        }
    });
}

async fn repeat(work: impl Work, times: u32) {
    for _ in 0..times {
        work.once().await;
    }
}
