//! The negative control: plays rows with locks that are known to be wrong.

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A lock that is known to be broken.
#[derive(Debug)]
pub struct Control {
    pub name: &'static str,
    /// The property that is missing without the line.
    pub missing: &'static str,
    /// The check that must notice.
    pub noticed_by: Noticed,
    /// The prefix of the violation that each of the rows must report, or the rule of the model that
    /// is broken.
    pub violation: &'static str,
}

/// The check that must notice a missing line.
#[derive(Debug, Clone, Copy)]
pub enum Noticed {
    /// These rows.
    Rows(&'static [&'static str]),
    /// This configuration of `tests/model`, whose own tests show it.
    Model(&'static str),
}

macro_rules! noticed {
    ([$($row:ident),+]) => { Noticed::Rows(&[$(stringify!($row)),+]) };
    (model $configuration:literal) => { Noticed::Model($configuration) };
}

macro_rules! safety_lines {
    ($(
        $name:ident: $missing:literal, $([$($row:ident),+])? $(model $configuration:literal)?, $violation:literal;
    )+) => {
        pub const CONTROLS: &[Control] = &[
            Control {
                name: PLAIN,
                missing: "the whole protocol: a plain `SET NX PX`",
                noticed_by: Noticed::Rows(&["holder_paused", "lock_deleted"]),
                violation: "stale write",
            },
            $(Control {
                name: stringify!($name),
                missing: $missing,
                noticed_by: noticed!($([$($row),+])? $(model $configuration)?),
                violation: $violation,
            },)+
        ];
    };
}

include!("../../../lock-runtime/src/control/lines.rs");

/// The lock that needs no other build.
const PLAIN: &str = "plain";

/// The number of rounds of each row.
const ROUNDS: &str = "3";

/// The number of controls that are played in parallel: their rows spend most of the time waiting.
const AT_ONCE: usize = 8;

/// The number of rounds on one server that a control plays in parallel.
const ROUNDS_AT_ONCE: &str = "3";

impl Control {
    /// The rows that must notice; empty if the model must.
    pub fn rows(&self) -> &'static [&'static str] {
        match self.noticed_by {
            Noticed::Rows(rows) => rows,
            Noticed::Model(_) => &[],
        }
    }

    /// Its lines in the table of the page, without their ends.
    pub fn lines(&self) -> Vec<String> {
        let Control {
            missing, violation, ..
        } = self;
        match self.noticed_by {
            Noticed::Rows(rows) => {
                let line = |row| format!("| {missing} | `{row}` | {violation} |");
                rows.iter().map(line).collect()
            }
            Noticed::Model(configuration) => {
                let by = format!("`{configuration}` in the model");
                vec![format!("| {missing} | {by} | broken: {violation} |")]
            }
        }
    }

    /// Plays the rows with `program`, which is `lock-rounds`. They must pass with the line, and
    /// report its absence.
    fn play(&self, program: &str) -> Result<(), String> {
        let rows = self.rows();
        let play = |prepare: &dyn Fn(&mut Command)| {
            let mut command = Command::new(program);
            command
                .args(["--rounds", ROUNDS, "--at-once", ROUNDS_AT_ONCE])
                .args(rows);
            prepare(&mut command);
            command.output().expect("this program can be started")
        };
        let whole = play(&|_| ());
        if !whole.status.success() {
            return Err(told("with all lines in place", &whole));
        }
        let without = play(&|command| match self.name {
            PLAIN => drop(command.args(["--client", PLAIN])),
            name => drop(command.env("LOCK_CONTROL", name)),
        });
        let report = String::from_utf8_lossy(&without.stdout);
        let notices = |row: &&&str| {
            let mut lines = report.lines();
            let start = format!("VIOLATION {row} round ");
            lines.any(|line| {
                let told = line
                    .strip_prefix(&start)
                    .and_then(|rest| rest.split_once(": "));
                told.is_some_and(|(_, what)| what.starts_with(self.violation))
            })
        };
        // The exit code reports failed rows: the program was not killed.
        if without.status.code() == Some(1) && rows.iter().all(|row| notices(&row)) {
            Ok(())
        } else {
            Err(told(
                &format!("not \"{}\" in each row", self.violation),
                &without,
            ))
        }
    }
}

fn told(what: &str, output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "{what}:\n{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    )
}

/// Plays the controls with these names, or all of them, several in parallel, except those that the
/// model notices. Returns the lines of the table, or the unnoticed controls.
pub fn play_controls(program: &str, names: &[&str]) -> Result<String, String> {
    let known = |name: &&&str| !CONTROLS.iter().any(|control| control.name == **name);
    if let Some(unknown) = names.iter().find(known) {
        return Err(format!("no control {unknown}"));
    }
    let named = |control: &&Control| names.is_empty() || names.contains(&control.name);
    let controls: Vec<_> = CONTROLS.iter().filter(named).collect();
    let played: Vec<_> = controls
        .iter()
        .filter(|control| !control.rows().is_empty())
        .collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(control) = played.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = control.play(program);
                    let word = if outcome.is_ok() {
                        "noticed"
                    } else {
                        "UNNOTICED"
                    };
                    eprintln!("{}: {word} by {:?}", control.name, control.rows());
                    if let Err(what) = outcome {
                        let mut wrong = wrong.lock().expect("adding does not panic");
                        wrong.insert(control.name, what);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("adding does not panic");
    if wrong.is_empty() {
        let head = ["| removed | noticed by | reported |", "|---|---|---|"].map(str::to_owned);
        let lines = controls.iter().flat_map(|control| control.lines());
        Ok(head.into_iter().chain(lines).collect::<Vec<_>>().join("\n"))
    } else {
        let wrong = wrong.iter().map(|(name, what)| format!("{name}: {what}"));
        Err(wrong.collect::<Vec<_>>().join("\n"))
    }
}
