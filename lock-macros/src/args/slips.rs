//! Values without their quotes, and `:` for `=`: Rust would complain about the syntax somewhere in
//! the middle of them.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Expr, Token};

/// What to write instead of `name: value`, on the value.
pub(crate) fn colon(name: &str, input: ParseStream<'_>) -> syn::Error {
    unquoted_key(name, input).unwrap_or_else(|| instead(name, &value(input), ""))
}

/// What to write instead of `key = order:<id>`, on the value; `None` if there is nothing wrong with
/// it, or something else.
pub(crate) fn unquoted_key(name: &str, input: ParseStream<'_>) -> Option<syn::Error> {
    let ahead = input.fork();
    let is_expression =
        ahead.parse::<Expr>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,]));
    let value = value(input);
    let has = |wanted: fn(&TokenTree) -> bool| value.iter().any(wanted);
    let reads_like_a_template = has(|tree| is_punct(tree, "<:"))
        // With these it is rather the comma after it that is missing.
        && !has(|tree| is_punct(tree, "=") || matches!(tree, TokenTree::Literal(_)));
    (name == "key" && !is_expression && reads_like_a_template).then(|| instead(name, &value, "\""))
}

fn is_punct(tree: &TokenTree, wanted: &str) -> bool {
    matches!(tree, TokenTree::Punct(punct) if wanted.contains(punct.as_char()))
}

fn instead(name: &str, value: &[TokenTree], quote: &str) -> syn::Error {
    let tokens: TokenStream = value.iter().cloned().collect();
    let written = as_written(tokens.clone());
    let message = format!("write `{name} = {quote}{written}{quote}`");
    syn::Error::new_spanned(tokens, message)
}

/// The tokens up to the next comma.
fn value(input: ParseStream<'_>) -> Vec<TokenTree> {
    let ahead = input.fork();
    let mut value = Vec::new();
    while !ahead.peek(Token![,])
        && let Ok(tree) = ahead.parse()
    {
        value.push(tree);
    }
    value
}

/// Without spaces but where two words meet: a printed stream has more than were typed.
pub(super) fn as_written(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut after_word = false;
    for tree in tokens {
        let is_word = matches!(tree, TokenTree::Ident(_) | TokenTree::Literal(_));
        if after_word && is_word {
            text.push(' ');
        }
        after_word = is_word;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text += open;
                text += &as_written(group.stream());
                text += close;
            }
            other => text += &other.to_token_stream().to_string(),
        }
    }
    text
}
