//! Walks over token streams.

use std::collections::HashSet;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};

/// Applies `change` to every identifier, at any depth, telling it whether a `.` stands before it.
pub(crate) fn map_idents(
    tokens: TokenStream,
    change: &mut dyn FnMut(Ident, bool) -> Ident,
) -> TokenStream {
    let mut after_dot = false;
    tokens
        .into_iter()
        .map(|tree| {
            let follows_dot = std::mem::replace(
                &mut after_dot,
                matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '.'),
            );
            match tree {
                TokenTree::Ident(ident) => TokenTree::Ident(change(ident, follows_dot)),
                TokenTree::Group(group) => {
                    let mut changed =
                        Group::new(group.delimiter(), map_idents(group.stream(), change));
                    changed.set_span(group.span());
                    TokenTree::Group(changed)
                }
                other => other,
            }
        })
        .collect()
}

/// Whether any token, at any depth, is the one looked for.
pub(crate) fn any(tokens: TokenStream, wanted: &mut dyn FnMut(&TokenTree) -> bool) -> bool {
    tokens.into_iter().any(|tree| {
        wanted(&tree)
            || match tree {
                TokenTree::Group(group) => any(group.stream(), wanted),
                _ => false,
            }
    })
}

/// Whether an identifier occurs, at any depth.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    any(
        tokens,
        &mut |tree| matches!(tree, TokenTree::Ident(ident) if ident == name),
    )
}

/// Every identifier that occurs, at any depth.
pub(crate) fn identifiers(tokens: TokenStream, into: &mut HashSet<String>) {
    any(tokens, &mut |tree| {
        if let TokenTree::Ident(ident) = tree {
            into.insert(ident.to_string());
        }
        false
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_found_at_any_depth() {
        let tokens: TokenStream = "a.b(|c| { [d] }) + \"e\"".parse().unwrap();
        assert!(mentions(tokens.clone(), "d"));
        assert!(!mentions(tokens.clone(), "e"));
        let mut found = HashSet::new();
        identifiers(tokens, &mut found);
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn a_field_is_told_from_a_name() {
        let tokens: TokenStream = "id.id(id)".parse().unwrap();
        let renamed = map_idents(tokens, &mut |ident, after_dot| {
            if after_dot {
                ident
            } else {
                Ident::new("x", ident.span())
            }
        });
        assert_eq!(renamed.to_string().replace(' ', ""), "x.id(x)");
    }
}
