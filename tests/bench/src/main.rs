//! `cargo run --release -p lock-bench -- [cycle|turns|crash|handoff|all] [--seconds N]`
//!
//! Prints figures, each beside its floor: the least that the same work can cost here and now,
//! measured in the same run. It starts a `redis-server` of its own for each. Times depend on the
//! machine, so nothing is asserted of them; counts do not, and a wrong one fails the run.

mod crash;
mod cycle;
mod handoff;
mod report;
mod stats;
mod turns;

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use harness::{Kind, RedisServer, Worker};
use lock_runtime::LockClient;

use crate::report::Report;

const USAGE: &str = "usage: lock-bench [cycle|turns|crash|handoff|all] [--seconds N]";

/// The argument that makes this program a worker of its own.
const WORKER: &str = "worker";

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [WORKER, locks, resource] = &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        harness::serve(locks, resource, Kind::Ours).await;
        return ExitCode::SUCCESS;
    }
    let Some(plan) = Plan::parse(&args) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    // A task, since that is where services call from.
    let report = tokio::spawn(measure(plan))
        .await
        .expect("nothing panics while it is measured");
    print!("{report}");
    if report.is_sound() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// What to measure.
#[derive(Debug)]
struct Plan {
    only: Option<String>,
    turns: Duration,
}

impl Plan {
    fn parse(args: &[String]) -> Option<Plan> {
        let mut plan = Plan {
            only: None,
            turns: Duration::from_secs(60),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "all" => plan.only = None,
                "cycle" | "turns" | "crash" | "handoff" => plan.only = Some(arg.clone()),
                "--seconds" => plan.turns = Duration::from_secs(args.next()?.parse().ok()?),
                _ => return None,
            }
        }
        Some(plan)
    }

    fn has(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}

async fn measure(plan: Plan) -> Report {
    let mut report = Report::default();
    if plan.has("cycle") {
        cycle::measure(&mut report).await;
    }
    if plan.has("handoff") {
        handoff::measure(&mut report).await;
    }
    if plan.has("turns") {
        turns::measure(&mut report, plan.turns).await;
    }
    if plan.has("crash") {
        crash::measure(&mut report);
    }
    report
}

/// A client in this process, connected.
async fn client(server: &RedisServer) -> LockClient {
    LockClient::connect(&server.url())
        .await
        .expect("the server is there")
}

/// A process that uses locks on this server.
fn worker(server: &RedisServer) -> Worker {
    let program = env::current_exe().expect("a program knows where it is");
    let program = program.to_str().expect("its path is text");
    let url = server.url();
    Worker::spawn(program, &[WORKER, &url, &url])
}
