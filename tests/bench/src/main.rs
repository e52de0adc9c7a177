//! `cargo run --release -p lock-bench`: see `lock-bench --help`.
//!
//! Prints each figure with its goal and its floor: the least that the same work can cost on this
//! machine, measured alternately in the same run. They depend on the machine and are not asserted.
//! The test `cost` asserts the costs that do not, such as commands, bytes and allocations.
//!
//! On a machine with several cores, waking a thread on another core costs more than a lock. So the
//! figures are measured on one core, including the server: this program restarts itself with
//! `taskset`.

mod args;
mod clock;
mod contestants;
mod distance;
mod effort;
mod field;
mod findings;
mod lead;
mod log;
mod machine;
mod meter;
mod number;
mod page;
mod pair;
mod parts;
mod ping_pong;
mod plot;
mod race;
mod runtimes;
mod stats;
mod table;

use std::env;
use std::process::ExitCode;

use harness::Kind;

use crate::args::{Args, USAGE};
use crate::field::{RACER, WORKER, racer};
use crate::lead::lead;
use crate::parts::{CYCLES, cycles};
use crate::runtimes::Flavour;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [RACER, kind, url] => racer(&Flavour::MultiThread.runtime(), kind, url),
        [CYCLES, who, url, times] => cycles(who, url, times),
        [WORKER, locks, resource] => {
            let serving = harness::serve(locks, resource, Kind::Ours);
            Flavour::MultiThread.runtime().block_on(serving);
        }
        ["--help", ..] => println!("{USAGE}"),
        _ => match Args::parse(&words) {
            Some(args) => return lead(&args, &words),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
    }
    ExitCode::SUCCESS
}
