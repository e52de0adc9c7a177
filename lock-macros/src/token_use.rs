//! Explains a token that the body does not use, and a call of `fencing_token` whose answer is not awaited.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

use crate::errors::Errors;
use crate::item::Shape;
use crate::model::Options;

/// Looks at the body for both mistakes.
pub(crate) fn check(options: &Options, shape: &Shape, body: &Group, errors: &mut Errors) {
    if let Some(token) = &options.token
        && !is_used(&token.unraw().to_string(), body.stream())
    {
        errors.add(
            token.span(),
            format_args!(
                "nothing uses the token `{token}`, which costs the server two thirds of a call: send it along with each \
                 write, or leave `token = {token}` out"
            ),
        );
    }
    if let Some(guard) = &options.guard {
        let right = match shape {
            Shape::Sync => "fencing_token_blocking()?",
            Shape::Async | Shape::Future(_) => "fencing_token().await?",
        };
        not_awaited(guard, shape, body.stream(), &mut |place| {
            errors.add(
                place,
                format_args!(
                    "`fencing_token` may ask the server: write `{guard}.{right}`, or bind the token with `token = token`"
                ),
            );
        });
    }
}

/// Whether a name that begins with `_`, or that the body has: also in the text of a format, `"{token}"`.
fn is_used(name: &str, body: TokenStream) -> bool {
    name.starts_with('_')
        || body.into_iter().any(|tree| match tree {
            TokenTree::Ident(ident) => ident.unraw() == name,
            TokenTree::Literal(literal) => is_in_format(name, &literal.to_string()),
            TokenTree::Group(group) => is_used(name, group.stream()),
            TokenTree::Punct(_) => false,
        })
}

/// Whether a format shows it, or has it as a width: `"{token}"`, `"{:token$}"`.
fn is_in_format(name: &str, text: &str) -> bool {
    text.contains(&format!("{{{name}")) || text.contains(&format!("{name}$"))
}

/// Reports each `guard.fencing_token()` that is used as if it was the token, and in a function that is not async each one
/// that is awaited, unless an async block may be around it. A future that goes elsewhere is not a mistake of ours to explain:
/// the compiler does.
fn not_awaited(guard: &Ident, shape: &Shape, body: TokenStream, report: &mut dyn FnMut(Span)) {
    let trees: Vec<TokenTree> = body.into_iter().collect();
    let mut shape = shape;
    for (place, tree) in trees.iter().enumerate() {
        if is(tree, "async") {
            shape = &Shape::Async;
        }
        if let TokenTree::Group(group) = tree {
            not_awaited(guard, shape, group.stream(), report);
        }
        // `self.guard` is another one.
        let is_field = place > 0 && is(&trees[place - 1], ".");
        let Some(method) = call_of_fencing_token(guard, &trees[place..]).filter(|_| !is_field)
        else {
            continue;
        };
        let is_wrong = match &trees[place + 4..] {
            [next, ..] if is(next, "?") => true,
            [next, then, ..] if is(next, ".") => {
                is(then, "get") || matches!(shape, Shape::Sync) && is(then, "await")
            }
            _ => false,
        };
        if is_wrong {
            report(method);
        }
    }
}

/// The name of the method, if these begin with `guard.fencing_token()`.
fn call_of_fencing_token(guard: &Ident, trees: &[TokenTree]) -> Option<Span> {
    let [held, dot, method, TokenTree::Group(arguments), ..] = trees else {
        return None;
    };
    let is_call = matches!(held, TokenTree::Ident(held) if held == guard)
        && is(dot, ".")
        && is(method, "fencing_token")
        && arguments.delimiter() == Delimiter::Parenthesis;
    is_call.then(|| method.span())
}

fn is(tree: &TokenTree, text: &str) -> bool {
    match tree {
        TokenTree::Ident(ident) => ident == text,
        TokenTree::Punct(punct) => text.len() == 1 && text.starts_with(punct.as_char()),
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}
