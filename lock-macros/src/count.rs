//! Reads whole numbers in options: `5`, or an expression.

use std::ops::RangeInclusive;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ExprUnary, Lit, UnOp};

use crate::args::ungrouped;
use crate::errors::Errors;

/// The numbers that an option accepts; the first is 1.
type Range = RangeInclusive<u32>;

/// `permits` and `take`.
pub(crate) const PERMITS: Range = 1..=u32::MAX;

/// `runs`: as many as the runtime keeps.
pub(crate) const RUNS: Range = 1..=1_000;

/// A number as it was written, 1 or more.
pub(crate) enum Count {
    Literal(u32, Span),
    Expr(Expr),
}

impl Count {
    /// Reads the value of an option that accepts these numbers. Returns `None` if it reported a mistake.
    pub(crate) fn read(
        name: &str,
        value: Expr,
        allowed: &Range,
        errors: &mut Errors,
    ) -> Option<Count> {
        let read = match ungrouped(&value) {
            Expr::Lit(literal) => number(&literal.lit, allowed),
            Expr::Unary(ExprUnary {
                op: UnOp::Neg(_),
                expr,
                ..
            }) if matches!(ungrouped(expr), Expr::Lit(_)) => Err(TOO_SMALL.to_owned()),
            _ => return Some(Count::Expr(value)),
        };
        match read {
            Ok(count) => Some(Count::Literal(count, value.span())),
            Err(problem) => {
                let message = format!("`{name}` {problem}");
                errors.push(syn::Error::new_spanned(value, message));
                None
            }
        }
    }
}

impl ToTokens for Count {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Count::Expr(expr) => expr.to_tokens(tokens),
            Count::Literal(count, _) => count.to_tokens(tokens),
        }
    }
}

const TOO_SMALL: &str = "must be at least 1";

/// Parses a literal. The error continues a sentence that begins with the option's name.
fn number(literal: &Lit, allowed: &Range) -> Result<u32, String> {
    match literal {
        Lit::Int(number) if matches!(number.suffix(), "" | "u32") => {
            checked(number.base10_digits(), allowed)
        }
        Lit::Int(number) => Err(instead(number.base10_digits(), allowed)),
        Lit::Float(number) => {
            let digits = number.base10_digits().trim_end_matches(".0");
            Err(instead(digits, allowed))
        }
        Lit::Str(text) => Err(instead(text.value().trim(), allowed)),
        _ => Err(FORMAT.to_owned()),
    }
}

const FORMAT: &str = "must be a whole number such as `5`, or an expression of type `u32`";

/// Parses digits as an allowed number.
fn checked(digits: &str, allowed: &Range) -> Result<u32, String> {
    match digits.parse() {
        Ok(0) => Err(TOO_SMALL.to_owned()),
        Ok(number) if number <= *allowed.end() => Ok(number),
        _ => Err(format!("must be at most {}", allowed.end())),
    }
}

/// The correction of a literal of another type.
fn instead(digits: &str, allowed: &Range) -> String {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return FORMAT.to_owned();
    }
    match checked(digits, allowed) {
        Ok(number) => format!("must be a `u32`: write `{number}`"),
        Err(problem) => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Result<u32, String> {
        let mut errors = Errors::default();
        let value = syn::parse_str(value).unwrap();
        match Count::read("permits", value, &PERMITS, &mut errors) {
            Some(Count::Literal(count, _)) => Ok(count),
            Some(Count::Expr(_)) => Err("an expression".to_owned()),
            None => Err(errors.messages().join("\n")),
        }
    }

    #[test]
    fn whole_number_is_read() {
        for (value, count) in [
            ("5", 5),
            ("1_000", 1000),
            ("0x10", 16),
            ("5u32", 5),
            ("(5)", 5),
            ("4294967295", u32::MAX),
        ] {
            assert_eq!(read(value), Ok(count), "{value}");
        }
    }

    #[test]
    fn number_out_of_range_is_refused() {
        for value in ["0", "-1", "-0", "(-1)", "-1.5", "\"0\"", "0.0", "0u8"] {
            assert_eq!(
                read(value).unwrap_err(),
                "`permits` must be at least 1",
                "{value}"
            );
        }
        for value in ["4294967296", "99999999999999999999", "4294967296u64"] {
            assert_eq!(
                read(value).unwrap_err(),
                "`permits` must be at most 4294967295",
                "{value}"
            );
        }
    }

    #[test]
    fn largest_number_is_the_options_own() {
        let read = |value| {
            let mut errors = Errors::default();
            let value = syn::parse_str(value).unwrap();
            let read = Count::read("runs", value, &RUNS, &mut errors);
            read.ok_or_else(|| errors.messages().join("\n"))
        };
        assert!(matches!(read("1_000"), Ok(Count::Literal(1_000, _))));
        for value in ["1e4", "2.5", "0", "-1"] {
            assert!(read(value).is_err(), "{value}");
        }
        for value in ["1001", "\"1001\"", "5000000000"] {
            let message = read(value).err().unwrap();
            assert_eq!(message, "`runs` must be at most 1000", "{value}");
        }
    }

    #[test]
    fn number_of_another_type_is_refused_with_its_correction() {
        for value in ["\"5\"", "\" 5 \"", "5.0", "5usize", "5f64"] {
            assert_eq!(
                read(value).unwrap_err(),
                "`permits` must be a `u32`: write `5`",
                "{value}"
            );
        }
    }

    #[test]
    fn literal_other_than_a_whole_number_is_refused_with_the_format() {
        for value in [
            "\"\"",
            "\"-1\"",
            "\"5 permits\"",
            "2.5",
            "1e3",
            "true",
            "'5'",
        ] {
            assert_eq!(
                read(value).unwrap_err(),
                "`permits` must be a whole number such as `5`, or an expression of type `u32`",
                "{value}"
            );
        }
    }

    #[test]
    fn expression_is_left_to_the_compiler() {
        for value in ["LIMIT", "-LIMIT", "self.limit", "5 * 2", "limit()", "{ 5 }"] {
            assert_eq!(read(value).unwrap_err(), "an expression", "{value}");
        }
    }
}
