//! Reads numbers of permits in options: `5`, or an expression.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ExprUnary, Lit, UnOp};

use crate::args::ungrouped;
use crate::errors::Errors;

/// A number of permits as it was written, 1 or more.
pub(crate) enum Count {
    Literal(u32, Span),
    Expr(Expr),
}

impl Count {
    /// Reads the value of an option. Returns `None` if it reported a mistake.
    pub(crate) fn read(name: &str, value: Expr, errors: &mut Errors) -> Option<Count> {
        let read = match ungrouped(&value) {
            Expr::Lit(literal) => number(&literal.lit),
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
fn number(literal: &Lit) -> Result<u32, String> {
    match literal {
        Lit::Int(number) if matches!(number.suffix(), "" | "u32") => {
            checked(number.base10_digits())
        }
        Lit::Int(number) => Err(instead(number.base10_digits())),
        Lit::Float(number) => Err(instead(number.base10_digits().trim_end_matches(".0"))),
        Lit::Str(text) => Err(instead(text.value().trim())),
        _ => Err(FORMAT.to_owned()),
    }
}

const FORMAT: &str = "must be a whole number such as `5`, or an expression of type `u32`";

/// Parses digits as a `u32` other than zero.
fn checked(digits: &str) -> Result<u32, String> {
    match digits.parse() {
        Ok(0) => Err(TOO_SMALL.to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("must be at most {}", u32::MAX)),
    }
}

/// The correction of a literal of another type.
fn instead(digits: &str) -> String {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return FORMAT.to_owned();
    }
    match checked(digits) {
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
        match Count::read("permits", value, &mut errors) {
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
