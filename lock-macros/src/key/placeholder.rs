//! Parses the text of a placeholder into a Rust expression.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, LitStr, Path, UnOp};

use crate::item::Names;
use crate::suggest;
use crate::tokens;

use super::scan::format_specification;

/// Turns a placeholder into an expression, or returns a message about its mistake.
///
/// The names of arguments get the hygiene of the argument and the place of the literal. The function
/// may come from a `macro_rules!` macro, and a name from the macro or from its caller.
pub(crate) fn read(source: &str, literal: Span, names: &Names) -> Result<TokenStream, String> {
    if source.trim().is_empty() {
        return Err(
            "`<>` names nothing; write an argument's name, or `<<` and `>>` for literal brackets"
                .to_owned(),
        );
    }
    if let Some(at) = format_specification(source) {
        return Err(format!(
            "a key takes no format specification; write `<{}>`",
            source[..at].trim()
        ));
    }
    // The macro's hygiene prevents a suggestion of the compiler to replace the whole literal by a
    // field of a similar name.
    let parsed = LitStr::new(source, Span::mixed_site().located_at(literal)).parse::<Expr>();
    let not_a_value = || {
        format!(
            "`<{source}>` is not a value: write an argument, `self`, a constant or a path, then `.field`, `.0`, `.method(…)` or `[index]`"
        )
    };
    let expr = parsed.map_err(|_| keyword(source, names).unwrap_or_else(not_a_value))?;
    let stream = expr.to_token_stream();
    refuse_await_and_try(&stream)?;
    let path = root(&expr).ok_or_else(not_a_value)?;
    check_root(path, names)?;
    Ok(adopt(stream, literal, names))
}

/// The message about `type`, where the argument is `r#type`.
fn keyword(source: &str, names: &Names) -> Option<String> {
    let end = source
        .find(|letter: char| letter != '_' && !letter.is_alphanumeric())
        .unwrap_or(source.len());
    let raw = format!("r#{}", &source[..end]);
    names.find(&raw)?;
    Some(format!(
        "`{}` is a keyword; write `<{raw}{}>`",
        &source[..end],
        &source[end..]
    ))
}

fn refuse_await_and_try(stream: &TokenStream) -> Result<(), String> {
    let is_await = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "await");
    let is_try =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '?');
    if tokens::any(stream.clone(), &mut |tree| is_await(tree)) {
        return Err("a key cannot await; pass the value as an argument".to_owned());
    }
    if tokens::any(stream.clone(), &mut |tree| is_try(tree)) {
        return Err("a key cannot use `?`; pass the value as an argument".to_owned());
    }
    Ok(())
}

/// The path at the start of a chain of fields, calls and indices. A `*` may precede it.
fn root(expr: &Expr) -> Option<&Path> {
    let mut expr = match expr {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => &*unary.expr,
        other => other,
    };
    loop {
        expr = match expr {
            Expr::Field(field) => &field.base,
            Expr::MethodCall(call) => &call.receiver,
            Expr::Index(index) => &index.expr,
            Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => {
                return Some(&path.path);
            }
            _ => return None,
        };
    }
}

fn check_root(path: &Path, names: &Names) -> Result<(), String> {
    let Some(name) = path.get_ident().map(Ident::to_string) else {
        return Ok(());
    };
    if name == "self" {
        return match names.receiver {
            Some(_) => Ok(()),
            None => Err("this function has no `self`".to_owned()),
        };
    }
    if names.is_ambiguous(&name) {
        return Err(format!(
            "two arguments are named `{name}`, one by a macro and one by its caller; give one of them another name"
        ));
    }
    if names.find(&name).is_some() || is_constant(&name) || names.incomplete {
        return Ok(());
    }
    Err(no_such_argument(&name, names))
}

fn is_constant(name: &str) -> bool {
    name.contains(|letter: char| letter.is_ascii_uppercase())
        && !name.contains(|letter: char| letter.is_ascii_lowercase())
}

fn no_such_argument(name: &str, names: &Names) -> String {
    let arguments: Vec<String> = names
        .bindings
        .iter()
        .map(|binding| binding.ident.to_string())
        .collect();
    let close = suggest::closest(name, arguments.iter().map(String::as_str));
    match (close, &*arguments) {
        (Some(close), _) => format!("no argument named `{name}`; did you mean `{close}`?"),
        (None, []) => format!("no argument named `{name}`; this function has none"),
        (None, [only]) => format!("no argument named `{name}`; there is `{only}`"),
        (None, several) => format!(
            "no argument named `{name}`; there are `{}`",
            several.join("`, `")
        ),
    }
}

/// Gives the names of arguments their hygiene: see [`read`].
fn adopt(stream: TokenStream, literal: Span, names: &Names) -> TokenStream {
    tokens::map_names(stream, &mut |ident| {
        let original = if ident == "self" {
            names.receiver.as_ref()
        } else {
            names.find(&ident.to_string())
        };
        match original {
            Some(original) => {
                let mut adopted = original.clone();
                adopted.set_span(original.span().located_at(literal));
                adopted
            }
            // The name may come from a pattern that a macro makes. Such a name resolves with the
            // hygiene of the literal.
            None if names.incomplete => {
                let mut adopted = ident;
                adopted.set_span(literal);
                adopted
            }
            None => ident,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(signature: &str) -> Names {
        Names::of(&syn::parse_str(signature).unwrap())
    }

    fn method() -> Names {
        names("fn f(&self, order_id: u64, tenant: Tenant, (a, b): (u8, u8))")
    }

    fn accepted(source: &str) -> String {
        read(source, Span::call_site(), &method())
            .unwrap_or_else(|message| panic!("{source}: {message}"))
            .to_string()
            .replace(' ', "")
    }

    fn refused(source: &str) -> String {
        read(source, Span::call_site(), &method()).expect_err(source)
    }

    #[test]
    fn chain_is_passed_on_unchanged() {
        for source in [
            "order_id",
            "*order_id",
            "tenant.id",
            "tenant.0.1",
            "tenant.name()",
            "tenant.parts[a].x",
            "self",
            "self.shop.id",
            "Self::REGION",
            "crate::REGION",
            "REGION",
            "N",
            "a.to_be_bytes()[0]",
            "tenant.get::<Vec<u8>>(b)",
        ] {
            assert_eq!(accepted(source), source);
        }
    }

    #[test]
    fn unknown_name_is_refused() {
        assert_eq!(
            refused("oid"),
            "no argument named `oid`; did you mean `order_id`?"
        );
        assert_eq!(
            refused("tenat.id"),
            "no argument named `tenat`; did you mean `tenant`?"
        );
        assert_eq!(
            refused("user"),
            "no argument named `user`; there are `order_id`, `tenant`, `a`, `b`"
        );
        let read =
            |source, signature| read(source, Span::call_site(), &names(signature)).unwrap_err();
        assert_eq!(
            read("user", "fn f()"),
            "no argument named `user`; this function has none"
        );
        assert_eq!(
            read("user", "fn f(n: u8)"),
            "no argument named `user`; there is `n`"
        );
        assert_eq!(read("self.x", "fn f(n: u8)"), "this function has no `self`");
    }

    #[test]
    fn keyword_is_refused_with_its_raw_form() {
        let names = names("fn f(r#type: Kind)");
        let read = |source| read(source, Span::call_site(), &names);
        assert_eq!(
            read("type.id").unwrap_err(),
            "`type` is a keyword; write `<r#type.id>`"
        );
        assert!(read("r#type.id").is_ok());
        assert!(read("match").unwrap_err().contains("is not a value"));
    }

    #[test]
    fn ambiguous_name_is_refused() {
        let names = names("fn f(id: u8, id: u8)");
        assert_eq!(
            read("id", Span::call_site(), &names).unwrap_err(),
            "two arguments are named `id`, one by a macro and one by its caller; give one of them another name"
        );
    }

    #[test]
    fn unsupported_expression_is_refused() {
        assert_eq!(
            refused("order_id:08"),
            "a key takes no format specification; write `<order_id>`"
        );
        assert_eq!(
            refused("tenant.get().await"),
            "a key cannot await; pass the value as an argument"
        );
        assert_eq!(
            refused("tenant.get(b?)"),
            "a key cannot use `?`; pass the value as an argument"
        );
        assert!(refused(" ").starts_with("`<>` names nothing"));
        for source in [
            "1",
            "a + b",
            "f(a)",
            "a!",
            "(a)",
            "{ a }",
            "a as u8",
            "!a",
            "if",
            "**a",
            "&a",
            "f::<u8>()",
        ] {
            assert!(refused(source).contains("is not a value"), "{source}");
        }
    }
}
