//! Prints text or JSON.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::time::Duration;

use lock_runtime::inspect::is_printable;

pub(crate) use lock_runtime::inspect::escape;
use serde::Serialize;

use crate::exit::Failure;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Words for people.
    Text,
    /// One object per line.
    Json,
}

/// Prints one value, as text or as a line of JSON, and flushes: a reader may wait for it.
pub(crate) fn print<T: Serialize + fmt::Display>(form: Form, finding: &T) -> Result<(), Failure> {
    match form {
        Form::Text => say(finding),
        Form::Json => {
            let json = serde_json::to_string(finding).map_err(io::Error::from)?;
            say(&PlainJson(&json))
        }
    }
}

/// Prints a line, and flushes.
pub(crate) fn say(line: &impl fmt::Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}

/// Reports on standard error why the program ends, or what it leaves undone.
pub(crate) fn complain(what: &impl fmt::Display) {
    let text = what.to_string();
    if !text.is_empty() {
        // There is nowhere else to report it.
        let _ = writeln!(io::stderr(), "lockctl: {}", escape(&text));
    }
}

/// A holder in words, by its label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whom<'a>(pub(crate) &'a str);

impl fmt::Display for Whom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("a holder without a label"),
            label => write!(f, "{}", escape(label)),
        }
    }
}

/// JSON that a terminal shows and does not obey, with the same meaning: a character that is not printable can only be
/// inside a string, and is escaped there.
struct PlainJson<'a>(&'a str);

impl fmt::Display for PlainJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if is_printable(character) {
                f.write_char(character)?;
                continue;
            }
            // Above U+FFFF there are two units.
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(f, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

/// A duration in a few characters, or `-`: `350ms`, `4.2s`, `12m5s`, `3h12m`, `4d7h`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brief(pub(crate) Option<u64>);

impl Brief {
    pub(crate) fn of(duration: Option<Duration>) -> Brief {
        Brief(duration.map(millis))
    }
}

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u64 = 1_000;
        const MINUTE: u64 = 60 * SECOND;
        const HOUR: u64 = 60 * MINUTE;
        const DAY: u64 = 24 * HOUR;
        match self.0 {
            None => f.write_str("-"),
            Some(ms @ ..SECOND) => write!(f, "{ms}ms"),
            Some(ms @ ..MINUTE) => write!(f, "{}.{}s", ms / SECOND, ms % SECOND / 100),
            Some(ms @ ..HOUR) => write!(f, "{}m{}s", ms / MINUTE, ms % MINUTE / SECOND),
            Some(ms @ ..DAY) => write!(f, "{}h{}m", ms / HOUR, ms % HOUR / MINUTE),
            Some(ms) => write!(f, "{}d{}h", ms / DAY, ms % DAY / HOUR),
        }
    }
}

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_brief() {
        let brief = |ms| Brief(Some(ms)).to_string();
        let all = [
            0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000,
        ];
        assert_eq!(
            all.map(brief),
            [
                "0ms", "999ms", "1.0s", "59.9s", "1m0s", "59m59s", "1h0m", "1d0h"
            ]
        );
        assert_eq!(Brief(None).to_string(), "-");
    }

    #[test]
    fn json_is_escaped_and_means_the_same() {
        let text = "ü 漢 \u{1b}[1m \u{7f} \u{9b}31m \u{ad} \u{61c} \u{202e} \u{e0041} \"\\";
        let json = serde_json::to_string(text).unwrap();
        let plain = PlainJson(&json).to_string();
        assert_eq!(
            plain,
            r#""ü 漢 \u001b[1m \u007f \u009b31m \u00ad \u061c \u202e \udb40\udc41 \"\\""#
        );
        assert_eq!(serde_json::from_str::<String>(&plain).unwrap(), text);
    }
}
