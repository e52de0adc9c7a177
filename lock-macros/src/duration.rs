//! Reads durations in options: `"1m30s"`, or an expression.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Lit};

use crate::args::ungrouped;
use crate::errors::Errors;

/// The range that an option accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// `ttl`: from 20 ms to 24 h, the range of a lease on a server.
    Lease,
    /// `max_hold`: from 20 ms, without an upper bound. A value below the ttl shortens the lease.
    Hold,
    /// `min_hold`: to 24 h, where zero turns it off.
    Minimum,
    /// `wait`, where zero means a single attempt, and `retain`, where zero turns it off.
    Any,
}

/// A duration as it was written.
pub(crate) enum Length {
    Literal(Duration, Span),
    Expr(Expr),
}

impl Length {
    /// Reads the value of an option. Returns `None` if it reported a mistake.
    pub(crate) fn read(
        name: &str,
        value: Expr,
        allowed: Allowed,
        errors: &mut Errors,
    ) -> Option<Length> {
        let Expr::Lit(literal) = ungrouped(&value) else {
            return Some(Length::Expr(value));
        };
        let span = literal.span();
        let read = match &literal.lit {
            Lit::Str(text) => parse(&text.value()).and_then(|length| check(length, allowed)),
            other => Err(bare(&other.to_token_stream().to_string())),
        };
        match read {
            Ok(length) => Some(Length::Literal(length, span)),
            Err(problem) => {
                errors.add(span, format_args!("`{name}` {problem}"));
                None
            }
        }
    }

    /// Refuses a `retain` of more than a third of the `ttl`, if both are literals. Beyond a third,
    /// the runtime does not hand the lease over to another caller.
    pub(crate) fn must_be_a_third_of(&self, ttl: &Length, errors: &mut Errors) {
        if let (Length::Literal(retain, span), Length::Literal(ttl, _)) = (self, ttl)
            && *retain > *ttl / 3
        {
            let third = ttl.as_millis() / 3;
            errors.add(
                *span,
                format_args!("`retain` must be at most a third of the `ttl`, `\"{third}ms\"` here"),
            );
        }
    }

    /// Refuses a literal `min_hold` that is longer than a literal `max_hold`.
    pub(crate) fn must_be_within(&self, max_hold: &Length, errors: &mut Errors) {
        if let (Length::Literal(least, span), Length::Literal(most, _)) = (self, max_hold)
            && least > most
        {
            errors.add(*span, "`min_hold` is longer than `max_hold`");
        }
    }

    /// Refuses a literal `min_hold` of a share: other holders of the lock may stay for longer.
    pub(crate) fn must_not_be_of_a_share(&self, errors: &mut Errors) {
        if let Length::Literal(least, span) = self
            && !least.is_zero()
        {
            errors.add(*span, "a share has no minimum hold: leave `min_hold` out");
        }
    }

    /// Refuses a literal `retain` of a lease that is never retained.
    pub(crate) fn must_not_retain(&self, what: &str, errors: &mut Errors) {
        if let Length::Literal(retain, span) = self
            && !retain.is_zero()
        {
            errors.add(
                *span,
                format_args!("{what} is never retained: leave `retain` out"),
            );
        }
    }
}

impl ToTokens for Length {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Length::Expr(expr) => expr.to_tokens(tokens),
            Length::Literal(length, span) => {
                let span = Span::mixed_site().located_at(*span);
                let (seconds, nanos) = (length.as_secs(), length.subsec_nanos());
                quote_spanned!(span=> ::core::time::Duration::new(#seconds, #nanos))
                    .to_tokens(tokens);
            }
        }
    }
}

/// The units, largest first, each with its milliseconds and the words that users write for it.
const UNITS: [(&str, u64, &[&str]); 4] = [
    ("h", 3_600_000, &["hr", "hrs", "hour", "hours"]),
    ("m", 60_000, &["min", "mins", "minute", "minutes"]),
    ("s", 1_000, &["sec", "secs", "second", "seconds"]),
    (
        "ms",
        1,
        &[
            "msec",
            "msecs",
            "milli",
            "millis",
            "millisecond",
            "milliseconds",
        ],
    ),
];

const FORMAT: &str = "must be whole numbers with the units `h`, `m`, `s` or `ms`, largest first, such as `\"10s\"` or `\"1m30s\"`";

/// Parses `1m30s`. The error continues a sentence that begins with the option's name.
fn parse(text: &str) -> Result<Duration, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("needs a unit: write `\"{text}s\"`"));
    }
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut millis: u64 = 0;
    while !rest.is_empty() {
        let (number, after) = split_where(rest, |letter| !letter.is_ascii_digit());
        let (unit, after) = split_where(after, |letter| letter.is_ascii_digit());
        let Some((_, factor, _)) = units.find(|(name, ..)| *name == unit) else {
            return Err(malformed(text));
        };
        let number: u64 = number.parse().map_err(|_| malformed(text))?;
        millis = number
            .checked_mul(*factor)
            .and_then(|part| millis.checked_add(part))
            .ok_or_else(|| "is too long to represent".to_owned())?;
        rest = after;
    }
    if text.is_empty() {
        return Err(malformed(text));
    }
    Ok(Duration::from_millis(millis))
}

fn check(length: Duration, allowed: Allowed) -> Result<Duration, String> {
    const SHORTEST: Duration = Duration::from_millis(20);
    const LONGEST: Duration = Duration::from_secs(24 * 3600);
    let problem = match allowed {
        Allowed::Any => return Ok(length),
        Allowed::Minimum if length > LONGEST => "must be at most `\"24h\"`",
        Allowed::Minimum => return Ok(length),
        _ if length.is_zero() => "must be longer than zero",
        _ if length < SHORTEST => "must be at least `\"20ms\"`",
        Allowed::Lease if length > LONGEST => {
            "must be at most `\"24h\"`; the lease is renewed while the function runs"
        }
        Allowed::Lease | Allowed::Hold => return Ok(length),
    };
    Err(problem.to_owned())
}

/// A literal without quotes: `10`, `10s`, `1.5`.
fn bare(literal: &str) -> String {
    if !literal.is_empty() && literal.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("needs a unit: write `\"{literal}s\"`")
    } else if parse(literal).is_ok() {
        format!("must be a string: write `\"{literal}\"`")
    } else {
        format!("{FORMAT}, or a `Duration` expression")
    }
}

fn malformed(text: &str) -> String {
    match understood(text) {
        Some(meant) => format!("cannot be `\"{text}\"`: write `\"{meant}\"`"),
        None => FORMAT.to_owned(),
    }
}

/// Converts a common misspelling, such as `10 secs`, to the accepted form `10s`.
fn understood(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (number, word) = split_where(&text, |letter| !letter.is_ascii_digit());
    let word = word.trim();
    let (unit, ..) = UNITS
        .iter()
        .find(|(unit, _, words)| *unit == word || words.contains(&word))?;
    (!number.is_empty()).then(|| format!("{number}{unit}"))
}

fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str, allowed: Allowed) -> Result<Duration, String> {
        let mut errors = Errors::default();
        let value = syn::parse_str(value).unwrap();
        match Length::read("ttl", value, allowed, &mut errors) {
            Some(Length::Literal(length, _)) => Ok(length),
            Some(Length::Expr(_)) => Err("an expression".to_owned()),
            None => Err(errors.messages().join("\n")),
        }
    }

    #[test]
    fn length_is_sum_of_its_units() {
        for (text, millis) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("1m30s", 90_000),
            ("2h5ms", 7_200_005),
            ("1h1m1s1ms", 3_661_001),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn number_without_unit_is_refused() {
        let message = "`ttl` needs a unit: write `\"10s\"`";
        assert_eq!(read("10", Allowed::Lease).unwrap_err(), message);
        assert_eq!(read("\"10\"", Allowed::Lease).unwrap_err(), message);
    }

    #[test]
    fn misspelt_length_is_refused_with_its_correction() {
        for (value, message) in [
            ("10s", "`ttl` must be a string: write `\"10s\"`"),
            (
                "\"10 secs\"",
                "`ttl` cannot be `\"10 secs\"`: write `\"10s\"`",
            ),
            (
                "\"2 Minutes\"",
                "`ttl` cannot be `\"2 Minutes\"`: write `\"2m\"`",
            ),
            ("\"10 s\"", "`ttl` cannot be `\"10 s\"`: write `\"10s\"`"),
        ] {
            assert_eq!(read(value, Allowed::Lease).unwrap_err(), message);
        }
    }

    #[test]
    fn malformed_length_is_refused_with_the_format() {
        for value in [
            "\"\"",
            "\"s\"",
            "\"30s1m\"",
            "\"1s1s\"",
            "\"-1s\"",
            "\"1.5s\"",
            "\"1d\"",
            "1.5",
            "true",
        ] {
            let message = read(value, Allowed::Any).unwrap_err();
            assert!(
                message.starts_with("`ttl` must be whole numbers with the units"),
                "{value}: {message}"
            );
        }
        assert!(
            parse("99999999999999999h")
                .unwrap_err()
                .contains("too long to represent")
        );
        assert!(parse("99999999999999999999h").is_err());
    }

    #[test]
    fn length_out_of_range_is_refused() {
        let zero = "`ttl` must be longer than zero";
        assert_eq!(read("\"0s\"", Allowed::Lease).unwrap_err(), zero);
        assert_eq!(read("\"0s\"", Allowed::Hold).unwrap_err(), zero);
        assert_eq!(read("\"0s\"", Allowed::Any), Ok(Duration::ZERO));
        assert!(
            read("\"19ms\"", Allowed::Lease)
                .unwrap_err()
                .contains("at least")
        );
        assert!(read("\"20ms\"", Allowed::Lease).is_ok());
        assert!(read("\"24h\"", Allowed::Lease).is_ok());
        assert!(
            read("\"24h1ms\"", Allowed::Lease)
                .unwrap_err()
                .contains("at most")
        );
        assert!(read("\"48h\"", Allowed::Hold).is_ok());
    }

    #[test]
    fn minimum_hold_is_within_the_longest_and_not_of_a_share() {
        let mut errors = Errors::default();
        let mut length = |name, text: &str, allowed| {
            let value = syn::parse_str(text).unwrap();
            Length::read(name, value, allowed, &mut errors)
        };
        let least = length("min_hold", "\"30s\"", Allowed::Minimum).unwrap();
        let none = length("min_hold", "\"0s\"", Allowed::Minimum).unwrap();
        let most = length("max_hold", "\"30s\"", Allowed::Hold).unwrap();
        assert!(length("min_hold", "\"25h\"", Allowed::Minimum).is_none());
        assert_eq!(errors.messages(), ["`min_hold` must be at most `\"24h\"`"]);
        let mut errors = Errors::default();
        least.must_be_within(&most, &mut errors);
        none.must_not_be_of_a_share(&mut errors);
        assert_eq!(errors.messages(), [""; 0]);
        let mut errors = Errors::default();
        least.must_be_within(&none, &mut errors);
        least.must_not_be_of_a_share(&mut errors);
        assert_eq!(
            errors.messages(),
            [
                "`min_hold` is longer than `max_hold`",
                "a share has no minimum hold: leave `min_hold` out"
            ]
        );
    }

    #[test]
    fn retain_above_a_third_of_the_ttl_is_refused() {
        let problems = |retain: &str, ttl: &str| {
            let mut errors = Errors::default();
            let mut length = |name, value, allowed| {
                let value = syn::parse_str(value).unwrap();
                Length::read(name, value, allowed, &mut errors).unwrap()
            };
            let retain = length("retain", retain, Allowed::Any);
            let ttl = length("ttl", ttl, Allowed::Lease);
            retain.must_be_a_third_of(&ttl, &mut errors);
            errors.messages()
        };
        for (retain, ttl) in [
            ("\"1s\"", "\"3s\""),
            ("\"0s\"", "\"20ms\""),
            ("RETAIN", "\"20ms\""),
            ("\"8h\"", "TTL"),
        ] {
            assert_eq!(problems(retain, ttl), [""; 0], "{retain} {ttl}");
        }
        assert_eq!(
            problems("\"1s1ms\"", "\"3s\""),
            ["`retain` must be at most a third of the `ttl`, `\"1000ms\"` here"]
        );
    }

    #[test]
    fn retain_of_a_share_is_refused_unless_zero() {
        let problems = |retain| {
            let mut errors = Errors::default();
            let retain = syn::parse_str(retain).unwrap();
            let retain = Length::read("retain", retain, Allowed::Any, &mut errors).unwrap();
            retain.must_not_retain("a share of a lock", &mut errors);
            errors.messages()
        };
        let refused = "a share of a lock is never retained: leave `retain` out";
        assert_eq!(problems("\"1ms\""), [refused]);
        assert_eq!(problems("\"0s\""), [""; 0]);
        assert_eq!(problems("RETAIN"), [""; 0], "it may be zero");
    }

    #[test]
    fn expression_is_left_to_the_compiler() {
        assert_eq!(
            read("self.ttl", Allowed::Lease),
            Err("an expression".to_owned())
        );
        assert_eq!(
            read("TTL * 2", Allowed::Lease),
            Err("an expression".to_owned())
        );
    }
}
