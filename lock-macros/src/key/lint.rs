//! Finds mistakes in a template as a whole: keys that different values could share, and braces that
//! make no hash tag.

use std::ops::Range;

use super::Place;
use super::diagnostic::Diagnostic;
use super::foreign;
use super::scan::{Kind, Piece};
use super::scope::{Noun, Scope};

/// The longest key that can be locked, in bytes.
const LONGEST: usize = 512;

/// Checks a template and its pieces.
pub(crate) fn lint(
    template: &str,
    pieces: &[Piece],
    scope: &dyn Scope,
    place: Place,
    diagnostics: &mut Vec<Diagnostic>,
) {
    if pieces.is_empty() && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::new(0..0, "the key is empty"));
    }
    length(pieces, diagnostics);
    separators(pieces, scope.noun(), diagnostics);
    let before = diagnostics.len();
    literal_names(pieces, scope, diagnostics);
    // Text that was meant as a placeholder is reported once.
    if diagnostics.len() == before {
        foreign::placeholders(template, pieces, scope, place, diagnostics);
    }
    if diagnostics.len() == before {
        braces(pieces, diagnostics);
    }
}

fn length(pieces: &[Piece], diagnostics: &mut Vec<Diagnostic>) {
    let text: usize = pieces.iter().map(|piece| text(piece).len()).sum();
    if text > LONGEST {
        diagnostics.push(Diagnostic::new(
            0..0,
            format_args!(
                "the key is at least {text} bytes long, but at most {LONGEST} are allowed"
            ),
        ));
    }
}

/// Requires a byte between two values that no value can contain. `%` does not count, since it starts
/// an escaped byte of a value.
fn separators(pieces: &[Piece], noun: Noun, diagnostics: &mut Vec<Diagnostic>) {
    let separates = |byte: u8| byte.is_ascii() && byte != b'%' && !is_unescaped(byte);
    let mut last: Option<usize> = None;
    let mut separated = true;
    for piece in pieces {
        match &piece.kind {
            Kind::Text(text) => separated |= text.bytes().any(separates),
            Kind::Value(_) => {
                if let Some(start) = last
                    && !separated
                {
                    diagnostics.push(Diagnostic::new(
                        start..piece.range.end,
                        format_args!(
                            "different {}s could give the same key; separate them with `:` or `/`",
                            noun.singular()
                        ),
                    ));
                }
                last = Some(piece.range.start);
                separated = false;
            }
        }
    }
}

/// Whether the runtime writes a byte of a value unescaped. Tests of both crates contain the same list.
fn is_unescaped(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.@+".contains(&byte)
}

/// Reports `{id}`, the syntax of `format!`, if `id` is a name of the scope.
fn literal_names(pieces: &[Piece], scope: &dyn Scope, diagnostics: &mut Vec<Diagnostic>) {
    for piece in pieces {
        let text = text(piece);
        for (open, _) in text.match_indices('{') {
            let Some(length) = text[open + 1..].find('}') else {
                continue;
            };
            let inside = &text[open + 1..open + 1 + length];
            let root = inside.split(['.', ':', '[', '(']).next().unwrap_or(inside);
            if is_meant(root, scope) {
                let range = within(piece, open..open + length + 2);
                diagnostics.push(Diagnostic::new(
                    range,
                    format_args!(
                        "`{{{inside}}}` is literal text here, but `{root}` is {}; write `<{inside}>`, or `{{<{inside}>}}` for a hash tag",
                        scope.noun().with_article()
                    ),
                ));
            }
        }
    }
}

/// Whether a name in text stands for a value: a name of the scope, or `self`.
pub(super) fn is_meant(name: &str, scope: &dyn Scope) -> bool {
    scope.has(name) || name == "self" && scope.check_self().is_ok()
}

/// Checks the hash tag: Redis Cluster takes the text between the first `{` and the first `}` after it,
/// unless it is empty.
fn braces(pieces: &[Piece], diagnostics: &mut Vec<Diagnostic>) {
    let mut stray = None;
    let mut open = false;
    let mut tag_is_empty = true;
    for piece in pieces {
        let Kind::Text(text) = &piece.kind else {
            tag_is_empty = false;
            continue;
        };
        for (at, letter) in text.char_indices() {
            match letter {
                '{' if !open => {
                    open = true;
                    tag_is_empty = true;
                }
                '}' if !open => stray = stray.or(Some(within(piece, at..at + 1))),
                '}' if tag_is_empty => {
                    diagnostics.push(Diagnostic::new(
                        within(piece, at - 1..at + 1),
                        "`{}` is an empty hash tag, which Redis Cluster ignores; put the text that decides the slot between the braces, or remove them",
                    ));
                    return;
                }
                '}' => return reserved_suffix(pieces, diagnostics),
                _ => tag_is_empty = false,
            }
        }
    }
    if let Some(range) = stray {
        diagnostics.push(Diagnostic::new(
            range,
            "`}` closes no hash tag: Redis Cluster would hash the key as a whole, and the lock's other records differently; write `{tag}`, or remove the brace",
        ));
    }
}

/// Reports a tagged key that ends like the name of another record of a lock.
fn reserved_suffix(pieces: &[Piece], diagnostics: &mut Vec<Diagnostic>) {
    let Some(last) = pieces.last() else {
        return;
    };
    let text = text(last);
    if let Some(suffix) = [":f", ":w", ":r", ":h"]
        .iter()
        .find(|suffix| text.ends_with(**suffix))
    {
        diagnostics.push(Diagnostic::new(
            last.range.end - suffix.len()..last.range.end,
            format_args!(
                "a key with a hash tag cannot end in `{suffix}`, the suffix of another lock's record"
            ),
        ));
    }
}

fn text(piece: &Piece) -> &str {
    match &piece.kind {
        Kind::Text(text) => text,
        Kind::Value(_) => "",
    }
}

/// The bytes of the template for a part of a piece's text. Doubled brackets make the text shorter than
/// its source. In that case the result is the whole piece.
fn within(piece: &Piece, part: Range<usize>) -> Range<usize> {
    if text(piece).len() == piece.range.len() {
        piece.range.start + part.start..piece.range.start + part.end
    } else {
        piece.range.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::*;
    use crate::item::Names;

    fn diagnostics(template: &str) -> Vec<(&str, String)> {
        let mut diagnostics = Vec::new();
        let pieces = scan(template, &mut diagnostics);
        let names = Names::of(&syn::parse_str("fn f(&self, id: u64)").unwrap());
        lint(template, &pieces, &names, Place::Value, &mut diagnostics);
        diagnostics
            .into_iter()
            .map(|diagnostic| (&template[diagnostic.range], diagnostic.message))
            .collect()
    }

    #[test]
    fn correct_template_is_accepted() {
        for template in [
            "order:<id>",
            "<a>:<b>",
            "<a>-/-<b>",
            "<a>%:<b>",
            "{<a>}:<b>",
            "{order}:<id>",
            "a{b}c}",
            "a}{b}",
            "user:f",
            "{user}",
            "a{b",
            "%<a>",
            "{ }",
            "{x}:f:<id>",
        ] {
            assert_eq!(diagnostics(template), [], "{template}");
        }
    }

    #[test]
    fn values_without_separator_are_refused() {
        for template in [
            "<a><b>",
            "<a>-<b>",
            "<a>%<b>",
            "<a>é<b>",
            "<a>%3A<b>",
            "<a>_.@+x9<b>",
        ] {
            let found = diagnostics(template);
            assert_eq!(found.len(), 1, "{template}");
            assert_eq!(found[0].0, template);
            assert_eq!(
                found[0].1,
                "different arguments could give the same key; separate them with `:` or `/`"
            );
        }
        assert_eq!(diagnostics("<a>:<b>-<c>")[0].0, "<b>-<c>");
    }

    #[test]
    fn empty_template_is_refused() {
        assert_eq!(diagnostics(""), [("", "the key is empty".to_owned())]);
    }

    #[test]
    fn argument_in_braces_is_refused() {
        let found = diagnostics("order:{id}");
        assert_eq!(found[0].0, "{id}");
        assert_eq!(
            found[0].1,
            "`{id}` is literal text here, but `id` is an argument; write `<id>`, or `{<id>}` for a hash tag"
        );
        assert_eq!(diagnostics("{self.id}")[0].0, "{self.id}");
        assert!(
            diagnostics("{id:08}")[0]
                .1
                .starts_with("`{id:08}` is literal text")
        );
        assert_eq!(diagnostics("<<{id}")[0].0, "<<{id}");
    }

    #[test]
    fn foreign_placeholder_is_reported_once() {
        for template in ["order:#id", "order}:#id", "order:{0}", "order:#{id}"] {
            assert_eq!(diagnostics(template).len(), 1, "{template}");
        }
    }

    #[test]
    fn braces_without_hash_tag_are_refused() {
        assert_eq!(diagnostics("order}:<id>")[0].0, "}");
        assert_eq!(diagnostics("order:{}")[0].0, "{}");
        assert!(
            diagnostics("order}:<id>")[0]
                .1
                .starts_with("`}` closes no hash tag")
        );
        assert!(
            diagnostics("a}b{c")[0]
                .1
                .starts_with("`}` closes no hash tag")
        );
        assert!(
            diagnostics("order:{}")[0]
                .1
                .starts_with("`{}` is an empty hash tag")
        );
        assert!(
            diagnostics("{}{a}")[0]
                .1
                .starts_with("`{}` is an empty hash tag")
        );
    }

    #[test]
    fn tagged_key_with_reserved_suffix_is_refused() {
        let found = diagnostics("{order}:<id>:f");
        assert_eq!(found[0].0, ":f");
        assert_eq!(
            found[0].1,
            "a key with a hash tag cannot end in `:f`, the suffix of another lock's record"
        );
        for suffix in [":w", ":r", ":h"] {
            assert_eq!(diagnostics(&format!("{{order}}{suffix}"))[0].0, suffix);
        }
    }

    #[test]
    fn key_above_512_bytes_is_refused() {
        assert_eq!(diagnostics(&"x".repeat(512)), []);
        assert!(diagnostics(&"x".repeat(513))[0].1.contains("513 bytes"));
    }

    #[test]
    fn unescaped_bytes_are_the_same_as_in_the_runtime() {
        let unescaped: String = (0..=0x7f_u8)
            .filter(|&byte| is_unescaped(byte))
            .map(char::from)
            .collect();
        assert_eq!(
            unescaped,
            "+-.0123456789@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
        );
    }
}
