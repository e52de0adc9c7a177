//! The client's instructions for a cycle, as callgrind counts them.
//!
//! One process makes that many cycles and nothing else, and another makes more: the difference is the
//! cost of the cycles alone. Neither the server nor the system is counted.

use std::process::{Command, Stdio};
use std::{env, fs};

use harness::RedisServer;
use tempfile::TempDir;

use super::Setting;
use crate::contestants::{Ours, Raw};
use crate::findings::{Findings, Goal, Value};
use crate::pair::{Cycle, Work};
use crate::runtimes::Flavour;
use crate::stats::float;

/// The argument that makes this program the counted process: `cycles ours|floor URL TIMES`.
pub(crate) const CYCLES: &str = "cycles";

const KEY: &str = "order:42";
const OURS: &str = "ours";
const FLOOR: &str = "floor";

/// The program that counts.
const VALGRIND: &str = "valgrind";

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    let row = "uncontended cycle, instructions of the client, to the floor's";
    let goal = Goal::AtMost(1.3);
    if !has_valgrind() {
        findings.figure(row, Value::none(goal, "valgrind is not installed"), "–");
        return;
    }
    let times = setting.effort.instructed;
    let [ours, floor] = [OURS, FLOOR].map(|who| {
        let more = instructions(&server, who, 3 * times) - instructions(&server, who, times);
        more / float(2 * times)
    });
    findings.ratio(row, goal, ours, floor);
}

/// The main function of the counted process.
pub(crate) fn cycles(who: &str, url: &str, times: &str) {
    let times = times.parse().expect("it is a number");
    let url = url.to_owned();
    if who == OURS {
        Flavour::CurrentThread.run(async move {
            repeat(Cycle(Ours::connect(&url).await, KEY), times).await;
        });
    } else {
        Flavour::CurrentThread.run(async move {
            repeat(Cycle(Raw::connect(&url).await, KEY), times).await;
        });
    }
}

async fn repeat(work: impl Work, times: u32) {
    for _ in 0..times {
        work.once().await;
    }
}

fn has_valgrind() -> bool {
    let mut valgrind = Command::new(VALGRIND);
    let tried = valgrind
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    tried.status().is_ok_and(|status| status.success())
}

/// The count of a whole process.
fn instructions(server: &RedisServer, who: &str, times: usize) -> f64 {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let counts = folder.path().join("counts");
    let program = env::current_exe().expect("a program knows where it is");
    let mut valgrind = Command::new(VALGRIND);
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", counts.display()));
    valgrind.arg(program);
    valgrind.args([CYCLES, who, &server.url(), &times.to_string()]);
    let status = valgrind.status().expect("it was tried");
    assert!(status.success(), "callgrind has counted nothing");
    let counts = fs::read_to_string(counts).expect("it was written");
    total(&counts).expect("it ends with the sum")
}

/// The sum in callgrind's output.
fn total(counts: &str) -> Option<f64> {
    let mut sums = counts
        .lines()
        .filter_map(|line| line.strip_prefix("totals:"));
    sums.next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn the_sum_is_that_of_the_whole_process() {
        let counts = "# callgrind format\nversion: 1\nevents: Ir\nsummary: 7\n\n\
                      fn=(0) main\n12 5\n\ntotals: 1234\n";
        assert_eq!(total(counts), Some(1234.0));
        assert_eq!(total("events: Ir\n"), None);
    }
}
