//! Walks over token streams.

use std::collections::HashSet;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};

/// Tells names from fields and methods, which come after a single `.`; a name may come after `..`.
#[derive(Default)]
struct Dots(usize);

impl Dots {
    /// Whether the tree is a field or a method, if it is an identifier.
    fn precede(&mut self, tree: &TokenTree) -> bool {
        let before = self.0;
        self.0 = match tree {
            TokenTree::Punct(punct) if punct.as_char() == '.' => before + 1,
            _ => 0,
        };
        before == 1
    }
}

/// Applies `change` to every name, at any depth; fields and methods stay.
pub(crate) fn map_names(
    tokens: TokenStream,
    change: &mut dyn FnMut(Ident) -> Ident,
) -> TokenStream {
    let mut dots = Dots::default();
    tokens
        .into_iter()
        .map(|tree| {
            let is_member = dots.precede(&tree);
            match tree {
                TokenTree::Ident(ident) if !is_member => TokenTree::Ident(change(ident)),
                TokenTree::Group(group) => {
                    let mut changed =
                        Group::new(group.delimiter(), map_names(group.stream(), change));
                    changed.set_span(group.span());
                    TokenTree::Group(changed)
                }
                other => other,
            }
        })
        .collect()
}

/// Adds every name that occurs, at any depth, except those of fields and methods.
pub(crate) fn add_names(tokens: TokenStream, into: &mut HashSet<String>) {
    let mut dots = Dots::default();
    for tree in tokens {
        let is_member = dots.precede(&tree);
        match tree {
            TokenTree::Ident(ident) if !is_member => {
                into.insert(ident.to_string());
            }
            TokenTree::Group(group) => add_names(group.stream(), into),
            _ => (),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    #[test]
    fn identifiers_are_found_at_any_depth() {
        let tokens = tokens("a.b(|c| { [d] }) + \"e\"");
        assert!(mentions(tokens.clone(), "d"));
        assert!(mentions(tokens.clone(), "b"));
        assert!(!mentions(tokens, "e"));
    }

    #[test]
    fn names_are_told_from_fields_and_methods() {
        let mut found = HashSet::new();
        add_names(tokens("a.b(|c| { [d] }) + x..y ..= z"), &mut found);
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        assert_eq!(found, ["a", "c", "d", "x", "y", "z"]);

        let renamed = map_names(tokens("id.id(id)..id"), &mut |ident| {
            Ident::new("x", ident.span())
        });
        assert_eq!(renamed.to_string().replace(' ', ""), "x.id(x)..x");
    }
}
