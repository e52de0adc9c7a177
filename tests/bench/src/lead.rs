//! The whole run: once on one core, once on all, and its output.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::args::Args;
use crate::findings::{Findings, Table, column};
use crate::machine::{load, machine};
use crate::marks::with_figures;
use crate::number::Short;
use crate::parts::{Part, Setting};
use crate::plot;
use crate::program::Program;
use crate::readme;
use crate::runtimes::cores;
use crate::sheet::Sheet;

/// The argument that makes this program measure: `measure FILE pinned|beside ARGS`.
pub(crate) const MEASURE: &str = "measure";

const BESIDE: &str = "beside";
const PINNED: &str = "pinned";

/// Measures, prints the results, and writes them to the given files.
pub(crate) fn lead(args: &Args, words: &[String]) -> ExitCode {
    let (start, load) = (Instant::now(), load());
    for program in [Program::COUNTING, Program::LOCKCTL] {
        if args
            .parts
            .iter()
            .any(|part| part.program() == Some(program))
        {
            program.build();
        }
    }
    let folder = TempDir::new().expect("a temporary folder can be made");
    let taskset = if cores() > 1 { taskset() } else { Vec::new() };
    let mut findings = start_self(&taskset, &folder.path().join(PINNED), PINNED, words);
    let beside = args.parts.iter().any(|part| part.is_put_beside());
    if beside && !taskset.is_empty() {
        findings.put_beside(start_self(&[], &folder.path().join(BESIDE), BESIDE, words));
    }

    let place = place(!taskset.is_empty() || cores() == 1);
    let head = format!("{place}: {}. The load before was {load}.", rounds(args));
    let order = [
        column::GOAL,
        column::OURS,
        column::REACHED,
        column::FLOOR,
        column::UNPINNED,
    ];
    let sheets = [
        Sheet::new(&findings.cells, Table::Figures, "figure", &order),
        Sheet::new(&findings.cells, Table::Contestants, "contestant", &[]),
    ];
    let sheets: Vec<&Sheet> = sheets.iter().filter(|sheet| !sheet.is_empty()).collect();
    let text: Vec<String> = sheets.iter().map(|sheet| sheet.text()).collect();
    print!("{head}\n\n{}", text.join("\n"));
    let markdown: Vec<String> = sheets.iter().map(|sheet| sheet.markdown()).collect();
    let whole = format!("{head}\n\n{}", markdown.join("\n"));
    deliver(args, &findings, &place, &whole);
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

fn deliver(args: &Args, findings: &Findings, place: &str, markdown: &str) {
    let write = |file: &Path, text: &str| {
        let written = fs::write(file, text);
        written.unwrap_or_else(|error| panic!("{} cannot be written: {error}", file.display()));
    };
    if let Some(file) = &args.markdown {
        write(file, markdown);
    }
    if let Some(file) = &args.svg {
        write(file, &plot::svg(&findings.points));
    }
    let replace = |file: &Path, figures: &str| {
        let text = fs::read_to_string(file).expect("the file for the figures is there");
        let text = with_figures(&text, figures);
        write(file, &text.expect("it has two marks for the figures"));
    };
    if let Some(file) = &args.page {
        replace(file, markdown);
    }
    if let Some(file) = &args.readme {
        let table = readme::table(&findings.cells).markdown();
        replace(file, &format!("{place}.\n\n{table}"));
    }
}

/// The machine of the run.
fn place(pinned: bool) -> String {
    let how = if pinned {
        "Server and clients on one of them"
    } else {
        "Not pinned, since there is no taskset"
    };
    format!("On {}. {how}", machine())
}

/// The number of rounds.
fn rounds(args: &Args) -> String {
    let effort = args.effort();
    format!(
        "medians of {} rounds by turns with the floor, a round of {} cycles or {}",
        effort.rounds,
        effort.cycles,
        Short(effort.slice)
    )
}

/// Keeps a program and all its children on the first core that this process may use. Does nothing where
/// that is impossible.
fn taskset() -> Vec<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut fields = status.lines().filter_map(|line| line.split_once(':'));
    let allowed = fields.find(|(name, _)| *name == "Cpus_allowed_list");
    let first = allowed.map_or("0", |(_, list)| first_core(list)).to_owned();
    let mut try_it = Command::new("taskset");
    let tried = try_it
        .args(["-c", &first, "true"])
        .stderr(Stdio::null())
        .status();
    if tried.is_ok_and(|status| status.success()) {
        vec!["taskset".to_owned(), "-c".to_owned(), first]
    } else {
        Vec::new()
    }
}

/// The first core of a list such as `0-3,8`.
fn first_core(list: &str) -> &str {
    let end = list.trim().find(|c: char| !c.is_ascii_digit());
    &list.trim()[..end.unwrap_or(list.trim().len())]
}

/// Starts this program to measure, as an argument of a given command.
fn start_self(before: &[String], file: &Path, how: &str, words: &[String]) -> Findings {
    let program = env::current_exe().expect("a program knows where it is");
    let mut command = match before {
        [] => Command::new(program),
        [command, args @ ..] => {
            let mut command = Command::new(command);
            command.args(args).arg(program);
            command
        }
    };
    let status = command.arg(MEASURE).arg(file).arg(how).args(words).status();
    let ended = status.expect("it can be started");
    assert!(ended.success(), "it could not be measured");
    Findings::read(&fs::read_to_string(file).expect("it was written"))
}

/// Measures in this process, and writes the results to a file.
pub(crate) fn measure(file: &str, how: &str, words: &[String]) {
    let args = Args::parse(words).expect("they were understood before");
    let beside = how == BESIDE;
    let setting = Setting {
        effort: if beside {
            args.effort_beside()
        } else {
            args.effort()
        },
        beside,
    };
    let mut findings = Findings::default();
    let parts = args.parts.iter().copied();
    for part in parts.filter(|part| !beside || Part::is_put_beside(*part)) {
        let start = Instant::now();
        part.measure(&mut findings, setting);
        eprintln!("{how}: {} in {}", part.name(), Short(start.elapsed()));
    }
    fs::write(file, findings.write()).expect("the folder is there");
}

#[cfg(test)]
mod tests {
    use super::first_core;

    #[test]
    fn the_first_core_of_a_list_is_a_number() {
        for (list, first) in [("\t0-1\n", "0"), ("3", "3"), ("12,14-15", "12"), ("", "")] {
            assert_eq!(first_core(list), first, "{list}");
        }
    }
}
