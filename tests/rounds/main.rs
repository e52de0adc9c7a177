//! `lock-rounds`: plays the fault table, with as many rounds as the given time allows. `--help`
//! lists the options.

use std::process::ExitCode;
use std::{env, panic};

use harness::rounds::{Plan, play_controls};
use harness::{Kind, rows};

/// The argument that makes this program one of its own workers.
const WORKER: &str = "worker";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let program = env::current_exe().expect("a program knows where it is");
    let program = program.to_str().expect("its path is text").to_owned();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [WORKER, locks, resource, kind] => {
            let kind = Kind::parse(kind).expect("the rig names a client");
            let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
            runtime.block_on(harness::serve(locks, resource, kind));
            return ExitCode::SUCCESS;
        }
        ["--list"] => {
            for row in rows::table() {
                println!("{}", row.name);
            }
            return ExitCode::SUCCESS;
        }
        ["--controls", names @ ..] => {
            if !cfg!(lock_controls) {
                eprintln!("tests/control/run builds it so that lines can be removed");
                return ExitCode::from(2);
            }
            return match play_controls(&program, names) {
                Ok(table) => {
                    println!("{table}");
                    ExitCode::SUCCESS
                }
                Err(unnoticed) => {
                    eprintln!("{unnoticed}");
                    ExitCode::FAILURE
                }
            };
        }
        ["--help"] => {
            println!("{}", Plan::USAGE);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let plan = match Plan::parse(&args, &rows::table()) {
        Ok(plan) => plan,
        Err(wrong) => {
            eprintln!("{wrong}\n{}", Plan::USAGE);
            return ExitCode::from(2);
        }
    };
    // The report lists failed rounds, but not where they failed.
    panic::set_hook(Box::new(|failure| eprintln!("{failure}")));
    let report = plan.play(&[&program, WORKER], |row| {
        let violations = row.violations.len();
        eprintln!(
            "{}: {} rounds, {violations} violations",
            row.name, row.rounds
        );
    });
    print!("{report}");
    if report.is_clean() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
