//! Numbers in words and in replies.

use std::ops::Range;

use crate::reply::{Reply, fail};

/// Parses a number as servers do: no plus, no leading zeros.
pub(crate) fn integer(text: &[u8]) -> Result<i64, Reply> {
    let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    match number {
        Some(number) if i64::to_string(&number).as_bytes() == text => Ok(number),
        _ => fail("ERR value is not an integer or out of range"),
    }
}

/// Parses a double as C's `strtod` does, but for hexadecimal digits.
pub(super) fn float(text: &[u8]) -> Result<f64, Reply> {
    let text = str::from_utf8(text).unwrap_or_default();
    let number = text.parse().unwrap_or(f64::NAN);
    // A number that is too large is not infinite, as it is for Rust.
    let is_overflow = number.is_infinite() && text.contains(|c: char| c.is_ascii_digit());
    if number.is_nan() || is_overflow {
        fail("ERR value is not a valid float")
    } else {
        Ok(number)
    }
}

/// The reply with a double.
pub(super) fn double(number: f64) -> Reply {
    Reply::Bulk(digits(number).into())
}

/// Writes a number as C's `%.17g`, which servers use for scores and for the numbers of scripts.
pub(crate) fn digits(number: f64) -> String {
    const DIGITS: i32 = 17;
    if !number.is_finite() {
        return number.to_string().to_ascii_lowercase();
    }
    let text = format!("{number:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = text.split_once('e').expect("it has an exponent");
    let exponent: i32 = exponent.parse().expect("it has digits");
    if (-4..DIGITS).contains(&exponent) {
        let places = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
        return without_zeros(&format!("{number:.places$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{}e{sign}{:02}",
        without_zeros(mantissa),
        exponent.unsigned_abs()
    )
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// The places from `first` to `last`, as words have them: negative numbers count from the end.
#[derive(Debug)]
pub(super) struct Places {
    first: i64,
    last: i64,
}

impl Places {
    pub(super) fn parse(first: &[u8], last: &[u8]) -> Result<Self, Reply> {
        let (first, last) = (integer(first)?, integer(last)?);
        Ok(Self { first, last })
    }

    /// The places of so many elements.
    pub(super) fn of(&self, count: usize) -> Range<usize> {
        let end = place(self.last, count).map_or(0, |last| last.saturating_add(1));
        range(place(self.first, count).unwrap_or(0), end, count)
    }

    /// The places in a text of so many bytes. Unlike in a list, a last place in front of the first byte is the first byte.
    pub(super) fn of_text(&self, length: usize) -> Range<usize> {
        if self.last < self.first && self.first < 0 {
            return 0..0;
        }
        let last = place(self.last, length).unwrap_or(0);
        let first = place(self.first, length).unwrap_or(0);
        range(first, last.saturating_add(1), length)
    }
}

fn range(first: usize, end: usize, count: usize) -> Range<usize> {
    let end = end.min(count);
    first.min(end)..end
}

/// The place that a number means, which may be behind all elements; none if it is in front of the first.
pub(super) fn place(number: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let place = if number < 0 {
        count.saturating_add(number)
    } else {
        number
    };
    usize::try_from(place).ok()
}
