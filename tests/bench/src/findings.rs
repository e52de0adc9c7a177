//! The results, and their transfer from one process to another.

use std::fmt;

use crate::number::Number;

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// One row per figure, with its goal.
    Figures,
    /// One row per contestant.
    Contestants,
}

/// One field of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) table: Table,
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) text: String,
}

/// Transfers per second of a contestant with a number of waiters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) contestant: String,
    pub(crate) waiters: u32,
    pub(crate) rate: f64,
}

/// The goal of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// A number, its goal, and how it is shown.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    goal: Goal,
    /// `None` where it cannot be measured.
    value: Option<f64>,
    shown: String,
}

/// All results of a run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Findings {
    pub(crate) cells: Vec<Cell>,
    pub(crate) points: Vec<Point>,
    pub(crate) broken: Vec<String>,
}

/// The columns of the figures.
pub(crate) mod column {
    pub(crate) const GOAL: &str = "goal";
    pub(crate) const OURS: &str = "ours";
    pub(crate) const REACHED: &str = "reached";
    pub(crate) const FLOOR: &str = "floor";
    pub(crate) const UNPINNED: &str = "not pinned";
}

impl Findings {
    /// A figure, with its floor and its peer.
    pub(crate) fn figure(&mut self, row: &str, value: Value, floor: impl fmt::Display) {
        self.figures(row, &[value], floor);
    }

    /// The ratio of two counts.
    pub(crate) fn ratio(&mut self, row: &str, goal: Goal, ours: f64, floor: f64) {
        let value = Value::new(goal, ours / floor).of(Number(ours));
        self.figure(row, value, Number(floor));
    }

    /// Figures that belong together, such as those of two settings.
    pub(crate) fn figures(&mut self, row: &str, values: &[Value], floor: impl fmt::Display) {
        let each = |text: fn(&Value) -> String| values.iter().map(text).collect::<Vec<_>>();
        let mut reached = each(|value| value.verdict().to_owned());
        if reached.iter().all(|verdict| *verdict == reached[0]) {
            reached.truncate(1);
        }
        let cells = [
            (column::GOAL, each(|value| value.goal.to_string())),
            (column::OURS, each(|value| value.shown.clone())),
            (column::REACHED, reached),
            (column::FLOOR, vec![floor.to_string()]),
        ];
        for (column, texts) in cells {
            self.put(Table::Figures, row, column, texts.join(" / "));
        }
    }

    /// A result of a contestant.
    pub(crate) fn contestant(&mut self, who: &str, column: &str, text: impl fmt::Display) {
        self.put(Table::Contestants, who, column, text.to_string());
    }

    /// A point of the plot.
    pub(crate) fn point(&mut self, who: &str, waiters: u32, rate: f64) {
        self.points.push(Point {
            contestant: who.to_owned(),
            waiters,
            rate,
        });
    }

    /// Records a condition that must hold on any machine, if it does not.
    pub(crate) fn demand(&mut self, holds: bool, what: &str) {
        if !holds {
            self.broken.push(what.to_owned());
        }
    }

    /// Adds the figures of another run beside these, as those that were not pinned.
    pub(crate) fn put_beside(&mut self, other: Findings) {
        for cell in other.cells {
            match (cell.table, cell.column.as_str()) {
                (Table::Figures, column::OURS) => {
                    self.put(Table::Figures, &cell.row, column::UNPINNED, cell.text);
                }
                (Table::Figures, _) => {}
                (Table::Contestants, _) => self.cells.push(cell),
            }
        }
        self.broken.extend(other.broken);
    }

    /// One line per result, with tabs between its parts.
    pub(crate) fn write(&self) -> String {
        let cells = self.cells.iter().map(|cell| {
            let kind = match cell.table {
                Table::Figures => "figure",
                Table::Contestants => "contestant",
            };
            [kind, &cell.row, &cell.column, &cell.text].join("\t")
        });
        let points = self.points.iter().map(|point| {
            let (waiters, rate) = (point.waiters.to_string(), point.rate.to_string());
            ["point", &point.contestant, &waiters, &rate].join("\t")
        });
        let broken = self.broken.iter().map(|what| ["broken", what].join("\t"));
        let lines = cells.chain(points).chain(broken);
        lines.map(|line| line + "\n").collect()
    }

    /// # Panics
    ///
    /// When it is not the output of [`write`](Findings::write).
    pub(crate) fn read(text: &str) -> Findings {
        let mut findings = Findings::default();
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["figure", row, column, text] => findings.put(Table::Figures, row, column, text),
                ["contestant", row, column, text] => {
                    findings.put(Table::Contestants, row, column, text);
                }
                ["point", who, waiters, rate] => findings.point(
                    who,
                    waiters.parse().expect("it is a number"),
                    rate.parse().expect("it is a number"),
                ),
                ["broken", what] => findings.broken.push(what.to_owned()),
                _ => panic!("no finding: {line}"),
            }
        }
        findings
    }

    fn put(&mut self, table: Table, row: &str, column: &str, text: impl Into<String>) {
        self.cells.push(Cell {
            table,
            row: row.to_owned(),
            column: column.to_owned(),
            text: text.into(),
        });
    }
}

impl Value {
    pub(crate) fn new(goal: Goal, value: f64) -> Value {
        Value {
            goal,
            value: Some(value),
            shown: Number(value).to_string(),
        }
    }

    /// A figure that cannot be measured here, and why.
    pub(crate) fn none(goal: Goal, why: impl fmt::Display) -> Value {
        Value {
            goal,
            value: None,
            shown: why.to_string(),
        }
    }

    /// Shown with the measurement behind it: `1.23 (50 µs)`.
    pub(crate) fn of(self, what: impl fmt::Display) -> Value {
        let shown = format!("{} ({what})", self.shown);
        Value { shown, ..self }
    }

    /// Shown as this text instead of the number.
    pub(crate) fn shown(self, shown: impl fmt::Display) -> Value {
        let shown = shown.to_string();
        Value { shown, ..self }
    }

    fn verdict(&self) -> &'static str {
        match self.value {
            Some(value) if self.goal.is_met_by(value) => "yes",
            Some(_) => "no",
            None => "–",
        }
    }
}

impl Goal {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Goal::AtMost(most) => value <= most,
            Goal::AtLeast(least) => value >= least,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Goal::AtMost(most) => write!(f, "≤ {most}"),
            Goal::AtLeast(least) => write!(f, "≥ {least}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Findings {
        let mut findings = Findings::default();
        let cycle = Value::new(Goal::AtMost(1.25), 1.26).of("50 µs");
        findings.figure("cycle", cycle, "40 µs");
        findings.contestant("peer", "cycle", "1.07");
        findings.point("peer", 16, 0.1);
        findings.demand(true, "this holds");
        findings.demand(false, "this does not");
        findings
    }

    fn texts(findings: &Findings, wanted: &str) -> Vec<String> {
        let cells = findings.cells.iter();
        let cells = cells.filter(|cell| cell.column == wanted);
        cells.map(|cell| cell.text.clone()).collect()
    }

    #[test]
    fn findings_are_read_as_they_were_written() {
        let findings = some();
        assert_eq!(Findings::read(&findings.write()), findings);
    }

    #[test]
    fn a_goal_is_reached_at_its_limit_and_not_beyond() {
        let met = [
            Goal::AtMost(1.25).is_met_by(1.25),
            Goal::AtMost(1.25).is_met_by(1.251),
            Goal::AtLeast(0.8).is_met_by(0.8),
            Goal::AtLeast(0.8).is_met_by(0.79),
            Goal::AtMost(1.0).is_met_by(f64::NAN),
        ];
        assert_eq!(met, [true, false, true, false, false]);
        assert_eq!(texts(&some(), column::REACHED), ["no"]);
        assert_eq!(texts(&some(), column::GOAL), ["≤ 1.25"]);
    }

    #[test]
    fn unmeasurable_figure_reaches_no_goal_and_misses_none() {
        let mut findings = Findings::default();
        let none = Value::none(Goal::AtMost(1.2), "the server has none");
        findings.figure("native", none, "–");
        assert_eq!(texts(&findings, column::OURS), ["the server has none"]);
        assert_eq!(texts(&findings, column::REACHED), ["–"]);
        assert_eq!(texts(&findings, column::GOAL), ["≤ 1.2"]);
    }

    #[test]
    fn figures_of_one_row_have_a_verdict_together_or_each() {
        let mut findings = Findings::default();
        let value = |value| Value::new(Goal::AtLeast(6.0), value);
        findings.figures("both", &[value(6.0), value(7.0)], "");
        findings.figures("one", &[value(6.0), value(5.0).shown("five")], "");
        assert_eq!(texts(&findings, column::REACHED), ["yes", "yes / no"]);
        assert_eq!(
            texts(&findings, column::OURS),
            ["6.00 / 7.00", "6.00 / five"]
        );
        assert_eq!(texts(&findings, column::GOAL), ["≥ 6 / ≥ 6", "≥ 6 / ≥ 6"]);
    }

    #[test]
    fn only_broken_rules_are_noted() {
        assert_eq!(some().broken, ["this does not"]);
    }

    #[test]
    fn another_run_is_put_beside_without_its_goals_and_floors() {
        let mut findings = some();
        let mut other = Findings::default();
        other.figure("cycle", Value::new(Goal::AtMost(1.25), 5.8), "43 µs");
        other.contestant("peer", "hand-off", "54 ms");
        findings.put_beside(other);
        assert_eq!(texts(&findings, column::UNPINNED), ["5.80"]);
        assert_eq!(texts(&findings, column::FLOOR), ["40 µs"]);
        assert_eq!(texts(&findings, "hand-off"), ["54 ms"]);
    }
}
