//! One line per row, and every violation.

use std::fmt;

use super::tally::Tally;

/// The tallies of the rows that were played.
#[derive(Debug, Default)]
pub struct Report {
    tallies: Vec<Tally>,
}

impl Report {
    pub fn add(&mut self, tally: Tally) {
        self.tallies.push(tally);
    }

    /// Whether no violation was found.
    pub fn is_clean(&self) -> bool {
        self.tallies.iter().all(|tally| tally.violations.is_empty())
    }
}

impl From<Tally> for Report {
    fn from(tally: Tally) -> Self {
        Self {
            tallies: vec![tally],
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tallies.iter().map(|tally| tally.name.len());
        let width = names.max().unwrap_or(0).max("row".len());
        writeln!(
            f,
            "{:width$}  class  rounds  double entries, unfenced  stale writes, fenced  refused  slowest grant  window, median and largest  violations",
            "row"
        )?;
        for tally in &self.tallies {
            let slowest = tally
                .slowest
                .map_or("-".to_owned(), |time| format!("{} ms", time.as_millis()));
            let window = tally.window().map_or("-".to_owned(), |(median, largest)| {
                format!("{} ms, {} ms", median.as_millis(), largest.as_millis())
            });
            writeln!(
                f,
                "{:width$}  {:>5}  {:>6}  {:>24}  {:>20}  {:>7}  {:>13}  {:>26}  {:>10}",
                tally.name,
                // Padding works only on text.
                tally.class.to_string(),
                tally.rounds,
                tally.double,
                tally.stale,
                tally.refused,
                slowest,
                window,
                tally.violations.len()
            )?;
        }
        for tally in &self.tallies {
            for (round, violation) in &tally.violations {
                writeln!(f, "VIOLATION {} round {round}: {violation}", tally.name)?;
            }
        }
        Ok(())
    }
}
