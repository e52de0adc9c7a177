//! The results.

use std::fmt;
use std::time::Duration;

use crate::number::{Number, PerSecond, Short};
use crate::pair::Pair;

/// The columns of the table.
const HEAD: [&str; 6] = [
    "figure",
    "goal",
    "ours",
    "reached",
    "floor",
    "rslock / tuned",
];

/// All results of a run.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The question that the next figures answer.
    question: &'static str,
    rows: Vec<Row>,
    pub(crate) points: Vec<Point>,
    /// Conditions that must hold on any machine, but do not.
    pub(crate) broken: Vec<String>,
}

/// A figure, or several that belong together.
#[derive(Debug)]
pub(crate) struct Row {
    question: &'static str,
    fields: [String; HEAD.len()],
}

/// Transfers per second of a contestant with a number of waiters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) contestant: &'static str,
    pub(crate) waiters: u32,
    pub(crate) rate: f64,
}

/// A number, its goal, and its text.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    goal: String,
    /// `None` where it cannot be measured.
    is_reached: Option<bool>,
    shown: String,
}

impl Findings {
    pub(crate) fn ask(&mut self, question: &'static str) {
        self.question = question;
    }

    /// Values that belong together, such as the values of two settings, and their floor.
    pub(crate) fn figure<const N: usize>(
        &mut self,
        name: impl Into<String>,
        values: [Value; N],
        floor: impl fmt::Display,
    ) -> &mut Row {
        let each = |text: fn(&Value) -> &str| values.iter().map(text).collect::<Vec<_>>();
        let mut reached = each(Value::verdict);
        reached.dedup();
        let goal = each(|value| &value.goal).join(" / ");
        let ours = each(|value| &value.shown).join(" / ");
        let (reached, floor, peers) = (reached.join(" / "), floor.to_string(), NONE.to_owned());
        self.rows.push(Row {
            question: self.question,
            fields: [name.into(), goal, ours, reached, floor, peers],
        });
        self.rows.last_mut().expect("it was added")
    }

    /// The ratio of two times.
    pub(crate) fn pair(&mut self, name: &str, most: f64, pair: Pair) -> &mut Row {
        self.figure(name, [pair.value(most)], Short(pair.floor))
    }

    /// A point of the plot.
    pub(crate) fn point(&mut self, contestant: &'static str, waiters: u32, rate: f64) {
        self.points.push(Point {
            contestant,
            waiters,
            rate,
        });
    }

    /// Records a condition that must hold on any machine, if it fails.
    pub(crate) fn demand(&mut self, holds: bool, what: impl Into<String>) {
        if !holds {
            self.broken.push(what.into());
        }
    }

    /// The rows of the table, with a heading for each question.
    pub(crate) fn table(&self) -> Vec<Vec<String>> {
        let mut table = vec![HEAD.map(str::to_owned).to_vec()];
        let mut last = "";
        for row in &self.rows {
            if row.question != last {
                table.push(vec![format!("**{}**", row.question)]);
                last = row.question;
            }
            table.push(row.fields.to_vec());
        }
        table
    }
}

/// A field without a value.
pub(crate) const NONE: &str = "–";

impl Row {
    /// The peers' cost of the same work.
    pub(crate) fn peers(&mut self, text: impl fmt::Display) {
        self.fields[HEAD.len() - 1] = text.to_string();
    }
}

impl Value {
    pub(crate) fn at_most(most: f64, value: f64) -> Value {
        Value::new(format!("≤ {most}"), value <= most, value)
    }

    pub(crate) fn at_least(least: f64, value: f64) -> Value {
        Value::new(format!("≥ {least}"), value >= least, value)
    }

    fn new(goal: String, is_reached: bool, value: f64) -> Value {
        Value {
            goal,
            is_reached: Some(is_reached),
            shown: Number(value).to_string(),
        }
    }

    /// A figure that cannot be measured here, with the reason.
    pub(crate) fn unmeasured(most: f64, why: &str) -> Value {
        Value {
            is_reached: None,
            ..Value::at_most(most, 0.0).shown(why)
        }
    }

    /// Milliseconds.
    pub(crate) fn millis(most: f64, time: Duration) -> Value {
        Value::at_most(most, time.as_secs_f64() * 1e3)
    }

    /// Microseconds.
    pub(crate) fn micros(most: f64, time: Duration) -> Value {
        Value::at_most(most, time.as_secs_f64() * 1e6)
    }

    /// Shown with the measurement: `1.23 (50 µs)`.
    pub(crate) fn of(self, what: impl fmt::Display) -> Value {
        let shown = format!("{} ({what})", self.shown);
        Value { shown, ..self }
    }

    /// A ratio of rates, shown with this one: `1.23 (4 567/s)`.
    pub(crate) fn of_rate(self, rate: f64) -> Value {
        self.of(PerSecond(rate))
    }

    /// Shown as this text instead of the number.
    pub(crate) fn shown(self, shown: impl fmt::Display) -> Value {
        let shown = shown.to_string();
        Value { shown, ..self }
    }

    fn verdict(&self) -> &str {
        match self.is_reached {
            Some(true) => "yes",
            Some(false) => "no",
            None => NONE,
        }
    }
}
