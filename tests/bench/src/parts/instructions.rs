//! The client's instructions and system calls for a cycle, as callgrind and strace count them.
//!
//! One process makes that many cycles and nothing else, and another makes more: the difference is the
//! cost of the cycles alone. The server is not counted.

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
    let times = effort.instructed;
    let each = |who| {
        let more = instructions(&server, who, 3 * times)? - instructions(&server, who, times)?;
        Some(more / float(2 * times))
    };
    system_calls(findings, &server, times);
    let row = "uncontended cycle, instructions of the client, to the floor's";
    let most = 1.3;
    match (each(OURS), each(FLOOR)) {
        (Some(ours), Some(floor)) => {
            let value = Value::at_most(most, ours / floor).of(Number(ours));
            findings.figure(row, [value], Number(floor));
        }
        _ => {
            let value = Value::unmeasured(most, "valgrind is not installed");
            findings.figure(row, [value], NONE);
        }
    }
}

/// The calls that send, receive and wait: any client makes them.
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

fn system_calls(findings: &mut Findings, server: &RedisServer, times: usize) {
    let each = |who| {
        let more = calls(server, who, 3 * times)? - calls(server, who, times)?;
        Some(more / float(2 * times))
    };
    let row = "uncontended cycle, system calls besides send, receive and wait";
    let most = 2.0;
    match (each(OURS), each(FLOOR)) {
        (Some(ours), Some(floor)) => {
            // The background wakes up now and then.
            let value = Value::at_most(most, (ours * 10.0).round() / 10.0);
            findings.figure(row, [value], Number(floor));
        }
        _ => {
            let value = Value::unmeasured(most, "strace is not installed");
            findings.figure(row, [value], NONE);
        }
    }
}

/// The system calls of a whole process, without those that are [`NEEDED`]; `None` without the program that counts.
fn calls(server: &RedisServer, who: &str, times: usize) -> Option<f64> {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let counts = folder.path().join("counts");
    let program = env::current_exe().expect("a program knows where it is");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-c", "-U", "calls,name", "-o"])
        .arg(&counts);
    strace.arg(program);
    strace.args([CYCLES, who, &server.url(), &times.to_string()]);
    let status = strace.status().ok()?;
    assert!(status.success(), "strace has counted nothing");
    let counts = fs::read_to_string(counts).expect("it was written");
    let lines = counts.lines().filter_map(|line| {
        let (calls, name) = line.trim().split_once(char::is_whitespace)?;
        let is_other = !NEEDED.contains(&name.trim()) && name.trim() != "total";
        calls.parse::<f64>().ok().filter(|_| is_other)
    });
    Some(lines.sum())
}

/// The main function of the counted process.
pub(crate) fn cycles(who: &str, url: &str, times: &str) {
    let times = times.parse().expect("it is a number");
    let (is_ours, url) = (who == OURS, url.to_owned());
    Flavour::CurrentThread.run(async move {
        match is_ours {
            true => repeat(Cycle::new(Ours::connect(&url).await), times).await,
            false => repeat(Cycle::new(Raw::connect(&url).await), times).await,
        }
    });
}

async fn repeat(work: impl Work, times: u32) {
    for _ in 0..times {
        work.once().await;
    }
}

/// The count of a whole process; `None` without the program that counts.
fn instructions(server: &RedisServer, who: &str, times: usize) -> Option<f64> {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let counts = folder.path().join("counts");
    let program = env::current_exe().expect("a program knows where it is");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", counts.display()));
    valgrind.arg(program);
    valgrind.args([CYCLES, who, &server.url(), &times.to_string()]);
    let status = valgrind.status().ok()?;
    assert!(status.success(), "callgrind has counted nothing");
    let counts = fs::read_to_string(counts).expect("it was written");
    let (_, sum) = counts
        .split_once("\ntotals:")
        .expect("it ends with the sum");
    sum.trim().parse().ok()
}
