//! Formats durations in a few characters.

use std::fmt;
use std::time::Duration;

use maud::Render;

/// A duration in a few characters: `350 ms`, `4.2 s`, `12 m 5 s`, `3 h 12 m`, `4 d 7 h`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brief(pub(crate) Duration);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u128 = 1_000;
        const MINUTE: u128 = 60 * SECOND;
        const HOUR: u128 = 60 * MINUTE;
        const DAY: u128 = 24 * HOUR;
        match self.0.as_millis() {
            ms @ ..SECOND => write!(f, "{ms} ms"),
            ms @ ..MINUTE => write!(f, "{}.{} s", ms / SECOND, ms % SECOND / 100),
            ms @ ..HOUR => write!(f, "{} m {} s", ms / MINUTE, ms % MINUTE / SECOND),
            ms @ ..DAY => write!(f, "{} h {} m", ms / HOUR, ms % HOUR / MINUTE),
            ms => write!(f, "{} d {} h", ms / DAY, ms % DAY / HOUR),
        }
    }
}

impl Render for Brief {
    fn render_to(&self, markup: &mut String) {
        // Nothing needs escaping.
        markup.push_str(&self.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_brief() {
        let brief = |ms| Brief(Duration::from_millis(ms)).to_string();
        let all = [
            0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000,
        ];
        assert_eq!(
            all.map(brief),
            [
                "0 ms",
                "999 ms",
                "1.0 s",
                "59.9 s",
                "1 m 0 s",
                "59 m 59 s",
                "1 h 0 m",
                "1 d 0 h"
            ]
        );
    }
}
