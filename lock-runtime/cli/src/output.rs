//! What the program prints.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::time::Duration;

use serde::Serialize;

use crate::exit::Failure;

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Words for people.
    Text,
    /// An object a line.
    Json,
}

/// Prints one finding, as words or as a line of JSON, and at once: a reader may wait for it.
pub(crate) fn print<T: Serialize + fmt::Display>(form: Form, finding: &T) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match form {
        Form::Text => writeln!(out, "{finding}")?,
        Form::Json => {
            serde_json::to_writer(&mut out, finding).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Says on standard error why the program ends, or what it leaves undone.
pub(crate) fn complain(what: &impl fmt::Display) {
    let text = what.to_string();
    if !text.is_empty() {
        // There is nowhere else to say it.
        let _ = writeln!(io::stderr(), "lockctl: {}", Plain(&text));
    }
}

/// Text from elsewhere, such as a key or the label of a holder. What a terminal would obey is escaped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<'a>(pub(crate) &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match is_plain(character) {
                true => f.write_char(character)?,
                false => write!(f, "{}", character.escape_unicode())?,
            }
        }
        Ok(())
    }
}

/// A duration in a few characters, or `-`: `350ms`, `4.2s`, `12m5s`, `3h12m`, `4d7h`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brief(pub(crate) Option<u64>);

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

/// Neither a control character nor one that reorders or hides the text around it.
fn is_plain(character: char) -> bool {
    let hides = matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    !character.is_control() && !hides
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
    fn text_that_a_terminal_would_obey_is_escaped() {
        let text = "order:42 \u{1b}[31mred\u{7}\r\n\u{202e}txt.exe ü 漢";
        assert_eq!(
            Plain(text).to_string(),
            "order:42 \\u{1b}[31mred\\u{7}\\u{d}\\u{a}\\u{202e}txt.exe ü 漢"
        );
    }
}
