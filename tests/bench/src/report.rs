//! A table, and what is wrong in it.

use std::fmt;

/// Rows of what was measured, what it cost, and the least that it could have cost.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<[String; 3]>,
    broken: Vec<String>,
}

impl Report {
    pub(crate) fn row(&mut self, what: &str, ours: impl fmt::Display, floor: impl fmt::Display) {
        self.rows
            .push([what.to_owned(), ours.to_string(), floor.to_string()]);
    }

    /// Notes what must hold on any machine.
    pub(crate) fn demand(&mut self, holds: bool, what: &str) {
        if !holds {
            self.broken.push(what.to_owned());
        }
    }

    /// Whether all that was demanded holds.
    pub(crate) fn is_sound(&self) -> bool {
        self.broken.is_empty()
    }
}

/// As Markdown, which reads well as it stands.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = ["figure", "ours", "floor"].map(str::to_owned);
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&heading]).map(|row| &row[column]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        let rule = widths.map(|width| "-".repeat(width));
        for row in [&heading, &rule].into_iter().chain(&self.rows) {
            for (cell, width) in row.iter().zip(widths) {
                write!(f, "| {cell:width$} ")?;
            }
            writeln!(f, "|")?;
        }
        for what in &self.broken {
            writeln!(f, "WRONG: {what}")?;
        }
        Ok(())
    }
}
