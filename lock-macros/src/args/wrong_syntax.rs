//! Explains common mistakes of syntax, each with the correct form: a value without quotes, `:` for `=`, and so on. The
//! compiler's own message would point into the middle of them.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Token};

use super::value::string;

/// Reports `name: value` at the value: the option takes `=`.
pub(crate) fn colon(name: &str, input: ParseStream<'_>) -> syn::Error {
    unquoted_key(name, input).unwrap_or_else(|| instead(name, &until_comma(input), ""))
}

/// Reports `key = order:<id>` at the value: the template needs quotes. So do templates in `keys = [a:<id>]`. `None`
/// if the value is correct, or wrong in another way.
pub(crate) fn unquoted_key(name: &str, input: ParseStream<'_>) -> Option<syn::Error> {
    let ahead = input.fork();
    let is_expression =
        ahead.parse::<Expr>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,]));
    if is_expression {
        return None;
    }
    let value = until_comma(input);
    match (name, &*value) {
        ("key", _) => reads_like_a_template(&value).then(|| instead(name, &value, "\"")),
        ("keys", [TokenTree::Group(list)]) if list.delimiter() == Delimiter::Bracket => {
            unquoted_element(list)
        }
        _ => None,
    }
}

/// Reports `[a:<from>, a:<to>]` with quotes.
fn unquoted_element(list: &Group) -> Option<syn::Error> {
    let trees: Vec<_> = list.stream().into_iter().collect();
    let elements: Vec<_> = trees
        .split(|tree| is_punct(tree, ","))
        .filter(|element| !element.is_empty())
        .collect();
    let is_unquoted = |element: &&[TokenTree]| reads_like_a_template(element);
    if !elements.iter().any(is_unquoted) {
        return None;
    }
    let elements = elements.iter().map(|element| {
        let written = as_written(element.iter().cloned().collect());
        if is_unquoted(element) {
            format!("\"{written}\"")
        } else {
            written
        }
    });
    let elements = elements.collect::<Vec<_>>().join(", ");
    Some(syn::Error::new_spanned(
        list,
        format_args!("write `keys = [{elements}]`"),
    ))
}

fn reads_like_a_template(value: &[TokenTree]) -> bool {
    // A path that somebody is typing, as in `key = Order::`.
    if let [.., before, last] = value
        && is_punct(before, ":")
        && is_punct(last, ":")
    {
        return false;
    }
    let has = |wanted: fn(&TokenTree) -> bool| value.iter().any(wanted);
    has(|tree| is_punct(tree, "<:"))
        // With an `=` or a literal in it, a comma is missing rather than the quotes.
        && !has(|tree| is_punct(tree, "=") || matches!(tree, TokenTree::Literal(_)))
}

/// Reports `["a:<id>"]` without a name.
pub(crate) fn unnamed_keys(input: ParseStream<'_>) -> syn::Error {
    instead("keys", &until_comma(input), "")
}

/// Reports `guard = mut held` and `token = mut token`: neither needs a `mut`.
pub(crate) fn mutable(name: &str, input: ParseStream<'_>) -> Option<syn::Error> {
    let ahead = input.fork();
    let word = ahead.parse::<Token![mut]>().ok()?;
    let bound = ahead.parse::<Ident>().ok()?;
    let reason = match name {
        "guard" => "a guard is a reference",
        "token" => "a token is a number",
        _ => return None,
    };
    Some(syn::Error::new(
        word.span,
        format_args!("{reason} and needs no `mut`: write `{name} = {bound}`"),
    ))
}

/// Reports `key = "order:{}", id` at the first argument after the key, and consumes all arguments
/// that are not options.
pub(crate) fn format_arguments(key: Option<&Expr>, input: ParseStream<'_>) -> Option<syn::Error> {
    let template = string(key?)?.value();
    let mut parts = template.split_inclusive('}').peekable();
    // `{}` and `{:?}`. The check of the template reports `{name}`.
    let hole = |part: &&str| {
        let (_, inside) = part.strip_suffix('}')?.rsplit_once('{')?;
        (inside.is_empty() || inside.starts_with(':')).then_some(inside.len() + 2)
    };
    if !parts.clone().any(|part| hole(&part).is_some()) {
        return None;
    }
    let mut arguments = Vec::new();
    let mut place = None;
    while let Some(argument) = argument(input) {
        place = place.or_else(|| Some(argument.span()));
        arguments.push(as_written(argument.to_token_stream()));
        let _ = input.parse::<Option<Token![,]>>();
    }
    let place = place?;
    let mut arguments = arguments.into_iter();
    let mut written = String::new();
    for part in parts.by_ref() {
        match hole(&part) {
            Some(length) => {
                written += &part[..part.len() - length];
                let argument = arguments.next();
                written += &format!("<{}>", argument.as_deref().unwrap_or("…"));
            }
            None => written += part,
        }
    }
    Some(syn::Error::new(
        place,
        format_args!("a key is a template and takes no arguments: write `key = {written:?}`"),
    ))
}

/// Parses an expression that is not an option.
fn argument(input: ParseStream<'_>) -> Option<Expr> {
    let ahead = input.fork();
    let found = ahead.parse::<Expr>().ok()?;
    let is_option =
        matches!(found, Expr::Assign(_)) || !(ahead.is_empty() || ahead.peek(Token![,]));
    if is_option {
        return None;
    }
    input.parse().ok()
}

pub(super) fn is_punct(tree: &TokenTree, wanted: &str) -> bool {
    matches!(tree, TokenTree::Punct(punct) if wanted.contains(punct.as_char()))
}

fn instead(name: &str, value: &[TokenTree], quote: &str) -> syn::Error {
    let tokens: TokenStream = value.iter().cloned().collect();
    let written = as_written(tokens.clone());
    let message = format!("write `{name} = {quote}{written}{quote}`");
    syn::Error::new_spanned(tokens, message)
}

/// The tokens up to the next comma.
pub(super) fn until_comma(input: ParseStream<'_>) -> Vec<TokenTree> {
    let ahead = input.fork();
    let mut value = Vec::new();
    while !ahead.peek(Token![,])
        && let Ok(tree) = ahead.parse()
    {
        value.push(tree);
    }
    value
}

/// Prints tokens with spaces only between two words and after commas. The standard output has more spaces than the user typed.
pub(crate) fn as_written(tokens: TokenStream) -> String {
    let mut text = String::new();
    let (mut after_word, mut after_comma) = (false, false);
    for tree in tokens {
        let is_word = matches!(tree, TokenTree::Ident(_) | TokenTree::Literal(_));
        if after_comma || after_word && is_word {
            text.push(' ');
        }
        (after_word, after_comma) = (is_word, is_punct(&tree, ","));
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
