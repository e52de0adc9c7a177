//! Keeps a value that does not parse, such as `client = locks.`, as it was typed.
//!
//! It goes where the finished value would go. So the compiler reports it like any other unfinished code, and an editor, which
//! expands the attribute once more with a name at the cursor, finds the same code around it and can complete the name.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprArray, Token, token};

use super::wrong_syntax::{is_punct, until_comma};

/// Parses a value. The tokens up to the next comma are one, even if they do not parse.
pub(super) fn value(input: ParseStream<'_>) -> syn::Result<Expr> {
    if input.fork().parse::<Expr>().is_ok() {
        return input.parse();
    }
    let typed = until_comma(input);
    for _ in &typed {
        input.parse::<TokenTree>()?;
    }
    Ok(match &*typed {
        [TokenTree::Group(list)] if list.delimiter() == Delimiter::Bracket => elements(list),
        _ => as_typed(&typed),
    })
}

/// The elements of a list, such as `["account:<from>", ledger.]`, one by one.
fn elements(list: &Group) -> Expr {
    let trees: Vec<_> = list.stream().into_iter().collect();
    let elements = trees.split(|tree| is_punct(tree, ","));
    let elements = elements.filter(|element| !element.is_empty());
    let elements = elements.map(|element| {
        syn::parse2(element.iter().cloned().collect()).unwrap_or_else(|_| as_typed(element))
    });
    Expr::Array(ExprArray {
        attrs: Vec::new(),
        bracket_token: token::Bracket {
            span: list.delim_span(),
        },
        elems: elements.collect::<Punctuated<Expr, Token![,]>>(),
    })
}

fn as_typed(tokens: &[TokenTree]) -> Expr {
    Expr::Verbatim(tokens.iter().cloned().collect::<TokenStream>())
}
