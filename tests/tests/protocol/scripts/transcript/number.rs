//! The numbers of transcripts: tokens, times and spans.

use super::world::{COUNTED_ON_MS, World};
use crate::scripts::random::records::FIRST_TOKEN;

/// A span in µs: `5s`, `300ms`, `16`.
fn micros(text: &str) -> i64 {
    let (digits, unit) = match text.find(|letter: char| !letter.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let unit = match unit {
        "" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        other => panic!("no unit {other} of {text}"),
    };
    digits.parse::<i64>().expect("digits") * unit
}

/// A span in ms, or `claim`; `None` for any other text.
pub(crate) fn ms(text: &str) -> Option<i64> {
    let has_unit = text.starts_with(|first: char| first.is_ascii_digit()) && text.ends_with('s');
    match text {
        "claim" => Some(super::super::CLAIM),
        text if has_unit => Some(micros(text) / 1_000),
        _ => None,
    }
}

/// Whether a remaining time in ms is the expected one, except for the time that a clock counts on. −1 and −2 are not
/// times.
pub(crate) fn is_near(left: i64, expected: i64) -> bool {
    left == expected || left >= 0 && (left - expected).abs() <= COUNTED_ON_MS
}

impl World {
    /// The value, and how far off the server's may be; `None` for an unbound name.
    fn value(&mut self, text: &str) -> Option<(i64, i64)> {
        let (base, more) = match text.find(['+', '-']) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let (base, off) = match base {
            "now" => (self.lock().now(), 1_000 * COUNTED_ON_MS),
            "zero" => (self.zero, 0),
            // The largest number from which a grant has all of its tokens.
            "max" => ((1 << 53) - 33, 0),
            "" => (0, 0),
            digits if digits.starts_with(|first: char| first.is_ascii_digit()) => {
                (micros(digits), 0)
            }
            name => (*self.tokens.get(name)?, 0),
        };
        let more = match more.split_at_checked(1) {
            Some(("-", less)) => -micros(less),
            Some((_, more)) => micros(more),
            None => 0,
        };
        Some((base + more, off))
    }

    pub(crate) fn number(&mut self, text: &str) -> i64 {
        let value = self.value(text);
        value
            .unwrap_or_else(|| panic!("no token is called {text}"))
            .0
    }

    /// Compares a token, or binds a name to it. Successive tokens of a lock differ by as many as the turns of a grant
    /// may use.
    pub(crate) fn check_token(&mut self, text: &str, token: i64) -> Result<(), String> {
        if text == "none" {
            return super::expect(token < FIRST_TOKEN, "a number that is no token", token);
        }
        if let Some((expected, off)) = self.value(text) {
            let is_near = (token - expected).abs() <= off;
            return super::expect(is_near, &format!("{text}, which is {expected}"), token);
        }
        let turns = if self.node.is_some() { 1 } else { 16 };
        let least = self.highest[self.place] + turns;
        super::expect(
            token >= least,
            &format!("a token of {least} or more"),
            token,
        )?;
        self.highest[self.place] = token;
        self.tokens.insert(text.to_owned(), token);
        Ok(())
    }

    /// Compares a time or a span, on which the server's clock may have counted on.
    pub(crate) fn check_near(&mut self, text: &str, seen: i64, unit: i64) -> Result<(), String> {
        let expected = self.number(text) / unit;
        let is_near = (seen - expected).abs() <= COUNTED_ON_MS * 1_000 / unit;
        super::expect(is_near, &format!("{text}, which is {expected}"), seen)
    }
}
