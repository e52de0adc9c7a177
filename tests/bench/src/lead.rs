//! The whole run, and its output.

use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::args::Args;
use crate::findings::Findings;
use crate::machine::{load, machine};
use crate::number::Short;
use crate::page;
use crate::plot;
use crate::runtimes::cores;
use crate::table::table;

/// Measures, prints the results, and writes them to the given files.
pub(crate) fn lead(args: &Args, words: &[String]) -> ExitCode {
    if cores() > 1 && !args.all_cores {
        keep_to_one_core(words);
    }
    let (start, load) = (Instant::now(), load());
    let (effort, mut findings) = (args.effort(), Findings::default());
    for part in &args.parts {
        let start = Instant::now();
        findings.ask(part.question);
        (part.measure)(&mut findings, effort);
        eprintln!("{} in {}", part.name, Short(start.elapsed()));
    }

    let how = if cores() > 1 {
        "Not pinned"
    } else {
        "Server and clients on one of them"
    };
    let head = format!(
        "On {}. {how}: medians of {} rounds by turns with the floor, a round of {} cycles or {}. The load before was {load}.",
        machine(),
        effort.rounds,
        effort.cycles,
        Short(effort.slice),
    );
    let figures = format!("{head}\n\n{}", table(&findings.table()));
    print!("{figures}");
    if let Some(root) = &args.root {
        replace(&root.join(page::PAGE), &figures);
        write(&root.join(page::PLOT), &plot::svg(&findings.points));
    }
    eprintln!("measured in {}", Short(start.elapsed()));
    for what in &findings.broken {
        eprintln!("WRONG: {what}");
    }
    if findings.broken.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn replace(file: &Path, figures: &str) {
    let text = fs::read_to_string(file).expect("the file for the figures is there");
    let text = page::with_figures(&text, figures);
    write(file, &text.expect("it has two marks for the figures"));
}

fn write(file: &Path, text: &str) {
    let written = fs::write(file, text);
    written.unwrap_or_else(|error| panic!("{} cannot be written: {error}", file.display()));
}

/// Continues as the same program on the first core that this process may use. Returns if there is
/// no `taskset`.
fn keep_to_one_core(words: &[String]) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut fields = status.lines().filter_map(|line| line.split_once(':'));
    let allowed = fields.find(|(name, _)| *name == "Cpus_allowed_list");
    // A list such as `0-3,8`.
    let core = allowed.and_then(|(_, list)| list.trim().split(['-', ',']).next());
    let core = core.unwrap_or("0");
    let program = env::current_exe().expect("a program knows where it is");
    let mut taskset = Command::new("taskset");
    let error = taskset.args(["-c", core]).arg(program).args(words).exec();
    eprintln!("on all cores, since there is no taskset: {error}");
}
