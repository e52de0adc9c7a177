//! Reports a token that the body does not use, and a call of `fencing_token` that is not awaited.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

use crate::errors::Errors;
use crate::item::Shape;
use crate::model::Options;

/// Reports both mistakes.
pub(crate) fn check(options: &Options, shape: &Shape, body: &Group, errors: &mut Errors) {
    if let Some(token) = &options.token
        && !is_used(&token.unraw().to_string(), body.stream())
    {
        errors.add(
            token.span(),
            format_args!(
                "the token `{token}` is never used, and minting it takes two thirds of the server's time: send it with each \
                 write, or remove `token = {token}`"
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

/// Returns whether a name begins with `_` or occurs in the body, including format strings such as `"{token}"`.
fn is_used(name: &str, body: TokenStream) -> bool {
    name.starts_with('_')
        || body.into_iter().any(|tree| match tree {
            TokenTree::Ident(ident) => ident.unraw() == name,
            TokenTree::Literal(literal) => is_in_format(name, &literal.to_string()),
            TokenTree::Group(group) => is_used(name, group.stream()),
            TokenTree::Punct(_) => false,
        })
}

/// Returns whether a format string has it as a value or a width: `"{token}"`, `"{:token$}"`.
fn is_in_format(name: &str, text: &str) -> bool {
    text.contains(&format!("{{{name}")) || text.contains(&format!("{name}$"))
}

/// Reports each `guard.fencing_token()` that is used as if it were the token. In a function that is not async, also reports
/// awaited calls, unless an async block may be around them. The compiler explains other uses of the future.
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
        // `self.guard` is another variable.
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

/// The name of the method, if the tokens begin with `guard.fencing_token()`.
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
