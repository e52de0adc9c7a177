//! The options of the command line.

use std::time::{Duration, Instant};

use super::arena::Arena;
use super::report::Report;
use super::row::Row;
use super::tally::Tally;
use crate::worker::Kind;

/// The rows, the number of rounds, the time, and the client.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The rows, in the order of the table.
    pub rows: Vec<Row>,
    pub rounds: usize,
    /// How many rounds on one server run in parallel.
    pub at_once: usize,
    /// The time for all rows; each row gets its share of the remaining time.
    pub budget: Duration,
    pub kind: Kind,
}

impl Plan {
    pub const USAGE: &str = "\
usage: lock-rounds [--rounds N] [--budget TIME] [--at-once N] [--client ours|plain] [ROW…]
       lock-rounds --list
       lock-rounds --controls [NAME…]

Plays the rows of the fault table (all, or those that are named), up to N rounds each (10), and
begins no round after TIME (1h; such as 90s, 10m, 2h), of which each row has its share, but at least
one. Prints one line a row and every violation; fails if there is one. With --controls, plays rows
with locks that are known to be wrong, and fails unless they notice (see tests/control/run).";

    /// Parses the arguments, or returns a description of the error.
    pub fn parse(args: &[String], table: &[Row]) -> Result<Self, String> {
        let mut plan = Self {
            rows: Vec::new(),
            rounds: 10,
            at_once: 6,
            budget: Duration::from_secs(3600),
            kind: Kind::Ours,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--rounds" => plan.rounds = number(value()?)?,
                "--at-once" => plan.at_once = number(value()?)?,
                "--budget" => plan.budget = time(value()?)?,
                "--client" => {
                    let name = value()?;
                    // The rows start clients of other kinds themselves, in addition to ours.
                    let kind = Kind::parse(name);
                    let kind = kind.filter(|kind| matches!(kind, Kind::Ours | Kind::Plain));
                    plan.kind = kind.ok_or(format!("no such client: {name}"))?;
                }
                name => {
                    let row = table.iter().find(|row| row.name == name);
                    plan.rows
                        .push(row.ok_or(format!("no such row: {name}"))?.clone());
                }
            }
        }
        if plan.rows.is_empty() {
            plan.rows = table.to_vec();
        }
        Ok(plan)
    }

    /// Plays the plan. `watch` gets each row as soon as it has ended.
    pub fn play(&self, worker: &[&str], mut watch: impl FnMut(&Tally)) -> Report {
        let arena = Arena::new(worker, self.kind, self.at_once);
        let started = Instant::now();
        let mut report = Report::default();
        for (n, row) in self.rows.iter().enumerate() {
            let rest = self.budget.saturating_sub(started.elapsed());
            let rows = u32::try_from(self.rows.len() - n).expect("the table is short");
            let tally = arena.run(row, self.rounds, rest / rows);
            watch(&tally);
            report.add(tally);
        }
        report
    }
}

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err(format!("{text} is no number above 0")),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text} is no time, such as 90s, 10m or 2h");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(number * seconds))
}
