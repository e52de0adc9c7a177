//! Searches and rewrites token streams.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};

/// Distinguishes names from fields and methods, which follow a single `.`. A name may follow `..`.
#[derive(Default)]
struct Dots(usize);

impl Dots {
    /// Whether the next tree, if it is an identifier, is a field or a method.
    fn precede(&mut self, tree: &TokenTree) -> bool {
        let before = self.0;
        self.0 = match tree {
            TokenTree::Punct(punct) if punct.as_char() == '.' => before + 1,
            _ => 0,
        };
        before == 1
    }
}

/// Applies `change` to every name, at any depth. Fields and methods stay unchanged.
pub(crate) fn map_names(
    tokens: TokenStream,
    change: &mut dyn FnMut(Ident) -> TokenStream,
) -> TokenStream {
    let mut dots = Dots::default();
    tokens
        .into_iter()
        .map(|tree| {
            let is_member = dots.precede(&tree);
            match tree {
                TokenTree::Ident(ident) if !is_member => change(ident),
                TokenTree::Group(group) => {
                    let mut changed =
                        Group::new(group.delimiter(), map_names(group.stream(), change));
                    changed.set_span(group.span());
                    TokenTree::Group(changed).into()
                }
                other => other.into(),
            }
        })
        .collect()
}

/// Adds every name that is used, at any depth.
///
/// Fields and methods are not uses, nor is a name before a `:`, which is a field, a label or a new
/// variable. In a macro call, a name before a `:` may be a use, and a string may use names as `{name}`.
pub(crate) fn add_names(tokens: TokenStream, into: &mut HashSet<String>) {
    add_names_of(tokens, false, into);
}

fn add_names_of(tokens: TokenStream, in_macro: bool, into: &mut HashSet<String>) {
    let mut dots = Dots::default();
    let mut after_bang = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(tree) = tokens.next() {
        let is_member = dots.precede(&tree);
        let is_argument = after_bang;
        after_bang = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '!');
        match tree {
            TokenTree::Ident(_) if !in_macro && tokens.peek().is_some_and(is_colon) => (),
            TokenTree::Ident(ident) if !is_member => {
                into.insert(ident.to_string());
            }
            TokenTree::Group(group) => {
                add_names_of(group.stream(), in_macro || is_argument, into);
            }
            TokenTree::Literal(literal) if in_macro => add_formatted(&literal.to_string(), into),
            _ => (),
        }
    }
}

/// Whether the tree is a `:`, and not the first half of `::`.
fn is_colon(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(punct)
        if punct.as_char() == ':' && punct.spacing() == Spacing::Alone)
}

/// Adds the names in a format string: `{name}`, and `name$` for a width or a precision.
fn add_formatted(text: &str, into: &mut HashSet<String>) {
    let mut at = 0;
    for word in text.split(|letter: char| letter != '_' && !letter.is_alphanumeric()) {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        if before.trim_end().ends_with('{') || after.starts_with('$') {
            into.insert(word.to_owned());
            into.insert(format!("r#{word}"));
        }
        at += word.len() + after.chars().next().map_or(0, char::len_utf8);
    }
}

/// Whether a variable or a part of it is assigned to, at any depth: `name = …`, `name.field += …`.
pub(crate) fn assigns_to(tokens: TokenStream, name: &str) -> bool {
    let mut dots = Dots::default();
    let mut declares = false;
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    trees.iter().enumerate().any(|(at, tree)| {
        let is_member = dots.precede(tree);
        let is_new = declares;
        declares = matches!(tree, TokenTree::Ident(word) if word == "let" || word == "mut");
        match tree {
            TokenTree::Ident(ident) => {
                ident == name && !is_member && !is_new && is_assigned(&trees[at + 1..])
            }
            TokenTree::Group(group) => assigns_to(group.stream(), name),
            _ => false,
        }
    })
}

/// Whether the next trees are an assignment, after any fields and indices.
fn is_assigned(mut rest: &[TokenTree]) -> bool {
    loop {
        rest = match rest {
            [
                TokenTree::Punct(dot),
                TokenTree::Ident(_) | TokenTree::Literal(_),
                after @ ..,
            ] if dot.as_char() == '.' => after,
            [TokenTree::Group(group), after @ ..] if group.delimiter() == Delimiter::Bracket => {
                after
            }
            _ => break,
        };
    }
    let operator: String = rest
        .iter()
        .map_while(|tree| match tree {
            TokenTree::Punct(punct) => Some(punct.as_char()),
            _ => None,
        })
        .collect();
    match operator.find('=') {
        // `==` and `=>` do not assign. The assigned expression may begin with an operator such as `&`.
        Some(0) => !operator[1..].starts_with(['=', '>']),
        Some(at) => ["+", "-", "*", "/", "%", "^", "&", "|", "<<", ">>"].contains(&&operator[..at]),
        None => false,
    }
}

/// Whether a tree at any depth meets a condition.
pub(crate) fn any(tokens: TokenStream, wanted: &mut dyn FnMut(&TokenTree) -> bool) -> bool {
    tokens.into_iter().any(|tree| {
        wanted(&tree)
            || match tree {
                TokenTree::Group(group) => any(group.stream(), wanted),
                _ => false,
            }
    })
}

/// Whether a type has an open part: a `_` at any depth, other than in the lifetime `'_`.
pub(crate) fn is_open(ty: TokenStream) -> bool {
    let mut after_quote = false;
    ty.into_iter().any(|tree| {
        let open = match &tree {
            TokenTree::Ident(ident) => !after_quote && ident == "_",
            TokenTree::Group(group) => is_open(group.stream()),
            _ => false,
        };
        after_quote = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '\'');
        open
    })
}

/// The place where an identifier first occurs, at any depth.
pub(crate) fn find(tokens: TokenStream, name: &str) -> Option<Span> {
    tokens.into_iter().find_map(|tree| match tree {
        TokenTree::Ident(ident) if ident == name => Some(ident.span()),
        TokenTree::Group(group) => find(group.stream(), name),
        _ => None,
    })
}

/// Whether an identifier occurs, at any depth.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    find(tokens, name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    #[test]
    fn identifier_is_found_at_any_depth() {
        let tokens = tokens("a.b(|c| { [d] }) + \"e\"");
        assert!(mentions(tokens.clone(), "d"));
        assert!(mentions(tokens.clone(), "b"));
        assert!(!mentions(tokens, "e"));
    }

    #[test]
    fn elided_lifetime_is_not_an_open_type() {
        for (ty, expected) in [
            ("_", true),
            ("Result<(_, u8), E>", true),
            ("Result<Cow<'_, str>, E>", false),
            ("&'_ _", true),
        ] {
            assert_eq!(is_open(tokens(ty)), expected, "{ty}");
        }
    }

    #[test]
    fn assignment_is_found_at_any_depth() {
        for text in [
            "g = h",
            "g.a = false;",
            "f(|| { g.a.0.1[i].b = -1 })",
            "*x = 1; g.a += 1",
            "g <<= 1",
            "self.g(); g[0] ^= *y",
            "g = &h",
        ] {
            assert!(assigns_to(tokens(text), "g"), "{text}");
        }
        for text in [
            "g == h",
            "g.a <= 1; g >= 2; g != 3",
            "match g { g => 1 }",
            "let g = h; let mut g = h;",
            "self.g = 1; x.g.a = 2",
            "g.a().b = 1",
            "g.a; b = 1",
            "h = g",
            "g && a == b",
        ] {
            assert!(!assigns_to(tokens(text), "g"), "{text}");
        }
    }

    #[test]
    fn field_or_method_is_not_a_name() {
        let mut found = HashSet::new();
        add_names(tokens("a.b(|c| { [d] }) + x..y ..= z"), &mut found);
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        assert_eq!(found, ["a", "c", "d", "x", "y", "z"]);

        let mut found = HashSet::new();
        let text = "S { a: b, c, d: e::f }; let g: H = 'i: loop {}; m!(j: k)";
        add_names(tokens(text), &mut found);
        for (name, expected) in [
            ("a", false),
            ("b", true),
            ("c", true),
            ("d", false),
            ("e", true),
            ("g", false),
            ("i", false),
            ("j", true),
            ("k", true),
        ] {
            assert_eq!(found.contains(name), expected, "{name}");
        }

        let mut found = HashSet::new();
        add_names(
            tokens(r#"f("{no}"); g!(["{a} {{b}} { c:>d$.e$}", r"{f.x}"], "h")"#),
            &mut found,
        );
        for (name, expected) in [
            ("a", true),
            ("c", true),
            ("d", true),
            ("e", true),
            ("f", true),
            ("r#a", true),
            ("no", false),
            ("h", false),
            ("x", false),
        ] {
            assert_eq!(found.contains(name), expected, "{name}");
        }

        let renamed = map_names(tokens("id.id(id)..id"), &mut |ident| {
            TokenTree::from(Ident::new("x", ident.span())).into()
        });
        assert_eq!(renamed.to_string().replace(' ', ""), "x.id(x)..x");
    }
}
