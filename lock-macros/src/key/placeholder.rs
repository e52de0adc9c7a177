//! Parses the text of a placeholder into a Rust expression.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, LitStr, Path, UnOp};

use crate::tokens;

use super::scan::format_specification;
use super::scope::{Noun, Scope};

/// Turns a placeholder into an expression, or returns a message about its mistake.
pub(crate) fn read(source: &str, literal: Span, scope: &dyn Scope) -> Result<TokenStream, String> {
    let noun = scope.noun();
    if source.trim().is_empty() {
        return Err(format!(
            "`<>` names nothing; write {}'s name, or `<<` and `>>` for literal brackets",
            noun.with_article()
        ));
    }
    if let Some(at) = format_specification(source) {
        return Err(format!(
            "a key takes no format specification; write `<{}>`",
            source[..at].trim()
        ));
    }
    // The macro's hygiene prevents a suggestion of the compiler to replace the whole literal by a
    // field of a similar name.
    let place = Span::mixed_site().located_at(literal);
    let parsed = LitStr::new(&scope.parsable(source)?, place).parse::<Expr>();
    let not_a_value = || {
        format!(
            "`<{source}>` is not a value: write {}, then `.field`, `.0`, `.method(…)` or `[index]`",
            noun.roots()
        )
    };
    let expr = parsed.map_err(|_| keyword(source, scope).unwrap_or_else(not_a_value))?;
    let stream = expr.to_token_stream();
    refuse_await_and_try(&stream, noun)?;
    let path = root(&expr).ok_or_else(not_a_value)?;
    check_root(path, scope)?;
    Ok(tokens::map_names(stream, &mut |name| {
        scope.value(name, literal)
    }))
}

/// The message about `type`, where the argument is `r#type`.
fn keyword(source: &str, scope: &dyn Scope) -> Option<String> {
    let end = source
        .find(|letter: char| letter != '_' && !letter.is_alphanumeric())
        .unwrap_or(source.len());
    let raw = format!("r#{}", &source[..end]);
    scope.has(&raw).then(|| {
        format!(
            "`{}` is a keyword; write `<{raw}{}>`",
            &source[..end],
            &source[end..]
        )
    })
}

fn refuse_await_and_try(stream: &TokenStream, noun: Noun) -> Result<(), String> {
    let is_await = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "await");
    let is_try =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '?');
    if tokens::any(stream.clone(), &mut |tree| is_await(tree)) {
        return Err(format!("a key cannot await; {}", noun.instead()));
    }
    if tokens::any(stream.clone(), &mut |tree| is_try(tree)) {
        return Err(format!("a key cannot use `?`; {}", noun.instead()));
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

fn check_root(path: &Path, scope: &dyn Scope) -> Result<(), String> {
    let Some(name) = path.get_ident().map(Ident::to_string) else {
        return Ok(());
    };
    if name == "self" {
        return scope.check_self();
    }
    if scope.is_ambiguous(&name) {
        return Err(format!(
            "two {}s are named `{name}`, one by a macro and one by its caller; give one of them another name",
            scope.noun().singular()
        ));
    }
    if scope.has(&name) || is_constant(&name) || scope.is_open() {
        return Ok(());
    }
    Err(scope.no_such(&name))
}

fn is_constant(name: &str) -> bool {
    name.contains(|letter: char| letter.is_ascii_uppercase())
        && !name.contains(|letter: char| letter.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Names;

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
