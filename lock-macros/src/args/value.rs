//! Reads the kinds of values that options take, each with its own message.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, LitStr};

use super::options::sample;
use super::wrong_syntax::as_written;
use crate::errors::Errors;

/// Strips parentheses and the invisible groups that `macro_rules!` puts around `$key:literal`.
pub(crate) fn ungrouped(mut value: &Expr) -> &Expr {
    loop {
        value = match value {
            Expr::Group(group) => &group.expr,
            Expr::Paren(paren) => &paren.expr,
            other => return other,
        }
    }
}

/// The string literal that an expression consists of.
pub(crate) fn string(value: &Expr) -> Option<LitStr> {
    match ungrouped(value) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Reads `true` or `false` and reports anything else.
pub(super) fn boolean(name: &str, value: Expr, errors: &mut Errors) -> Option<bool> {
    if let Expr::Lit(literal) = ungrouped(&value)
        && let Lit::Bool(boolean) = &literal.lit
    {
        return Some(boolean.value);
    }
    errors.add(
        value.span(),
        format_args!("`{name}` must be `true` or `false`"),
    );
    None
}

/// Reads one of two words and reports anything else.
pub(crate) fn word<T>(
    name: &str,
    value: &Expr,
    words: [(&str, T); 2],
    errors: &mut Errors,
) -> Option<T> {
    let written = string(value).map(|text| text.value());
    let [first, second] = [words[0].0, words[1].0];
    let expected = format!("`{name}` must be `\"{first}\"` or `\"{second}\"`");
    let found = words
        .into_iter()
        .find_map(|(word, meaning)| (written.as_deref() == Some(word)).then_some(meaning));
    if found.is_none() {
        errors.add(value.span(), expected);
    }
    found
}

/// Reads a single identifier and reports anything else.
pub(crate) fn identifier(name: &str, value: &Expr, errors: &mut Errors) -> Option<Ident> {
    let ident = match ungrouped(value) {
        Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => path.path.get_ident(),
        _ => None,
    };
    // `self` is a path of one identifier, but not a name that a `let` can bind.
    let ident = ident.filter(|ident| syn::parse2::<Ident>(ident.to_token_stream()).is_ok());
    if ident.is_none() {
        let example = string(value)
            .and_then(|text| syn::parse_str::<Ident>(&text.value()).ok())
            .map_or_else(|| sample(name).to_owned(), |ident| ident.to_string());
        errors.add(
            value.span(),
            format_args!("`{name}` needs an identifier: `{name} = {example}`"),
        );
    }
    ident.cloned()
}

/// Reads a closure or a function, and reports a value that obviously is neither.
pub(crate) fn callable(name: &str, value: Expr, errors: &mut Errors) -> Option<Expr> {
    let bare = ungrouped(&value);
    let is_value = match bare {
        Expr::Array(_) | Expr::Lit(_) | Expr::Struct(_) | Expr::Tuple(_) => true,
        Expr::Call(call) => constructs(&call.func),
        Expr::Path(path) => path.path.is_ident("None"),
        _ => false,
    };
    if is_value {
        let written = as_written(bare.to_token_stream());
        errors.push(syn::Error::new_spanned(
            bare,
            format_args!("`{name}` needs a closure or a function: `{name} = |_| {written}`"),
        ));
    }
    (!is_value).then_some(value)
}

/// Whether a call constructs a value, as `Ok(…)` and `Some(…)` do.
fn constructs(function: &Expr) -> bool {
    let Expr::Path(path) = function else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

/// Reads a path and reports anything else.
pub(crate) fn path(name: &str, value: &Expr, errors: &mut Errors) -> Option<TokenStream> {
    match ungrouped(value) {
        Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => {
            Some(path.path.to_token_stream())
        }
        _ => {
            errors.add(
                value.span(),
                format_args!("`{name}` needs a path: `{name} = {}`", sample(name)),
            );
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_wrong_kind_is_reported() {
        let mut errors = Errors::default();
        let value = |text| syn::parse_str::<Expr>(text).unwrap();
        assert_eq!(boolean("renew", value("true"), &mut errors), Some(true));
        assert_eq!(boolean("renew", value("\"yes\""), &mut errors), None);
        let words = || [("error", 1), ("skip", 2)];
        assert_eq!(
            word("on_busy", &value("\"skip\""), words(), &mut errors),
            Some(2)
        );
        assert_eq!(
            word("on_busy", &value("\"skp\""), words(), &mut errors),
            None
        );
        assert!(identifier("guard", &value("lock"), &mut errors).is_some());
        assert!(identifier("guard", &value("\"held\""), &mut errors).is_none());
        assert!(identifier("guard", &value("1"), &mut errors).is_none());
        assert!(identifier("guard", &value("self"), &mut errors).is_none());
        for written in ["Ok(())", "(None)", "\"none\"", "()", "Answer { n: 1 }"] {
            assert!(callable("or_else", value(written), &mut errors).is_none());
        }
        for written in [
            "|_| ()",
            "Err",
            "Self::busy",
            "busy(1)",
            "async || 1",
            "self.busy",
        ] {
            assert!(callable("or_else", value(written), &mut errors).is_some());
        }
        assert!(path("crate", &value("crate::rt"), &mut errors).is_some());
        assert!(path("crate", &value("\"rt\""), &mut errors).is_none());
        assert_eq!(
            errors.messages(),
            [
                "`renew` must be `true` or `false`",
                "`on_busy` must be `\"error\"` or `\"skip\"`",
                "`guard` needs an identifier: `guard = held`",
                "`guard` needs an identifier: `guard = lock`",
                "`guard` needs an identifier: `guard = lock`",
                "`or_else` needs a closure or a function: `or_else = |_| Ok(())`",
                "`or_else` needs a closure or a function: `or_else = |_| None`",
                "`or_else` needs a closure or a function: `or_else = |_| \"none\"`",
                "`or_else` needs a closure or a function: `or_else = |_| ()`",
                "`or_else` needs a closure or a function: `or_else = |_| Answer{n:1}`",
                "`crate` needs a path: `crate = path::to::lock_runtime`",
            ]
        );
    }
}
