//! Splits a template into text and placeholders. The only Rust syntax it knows is brackets and
//! literals.

use std::ops::Range;

use super::diagnostic::Diagnostic;

/// A part of a template, and its bytes in the source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text of the key: `<<` is one `<`.
    Text(String),
    /// The text between `<` and `>`.
    Value(String),
}

/// Splits the template, up to the first `<` that is not closed.
pub(crate) fn scan(template: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < template.len() {
        let rest = &template[at..];
        if rest.starts_with("<<") || rest.starts_with(">>") {
            push_text(&mut pieces, &rest[..1], at..at + 2);
            at += 2;
        } else if let Some(after) = rest.strip_prefix('<') {
            let Some(length) = placeholder_length(after) else {
                diagnostics.push(Diagnostic::new(
                    at..template.len(),
                    "`<` is never closed; write `<<` for a literal one",
                ));
                return pieces;
            };
            let end = at + 1 + length + 1;
            pieces.push(Piece {
                range: at..end,
                kind: Kind::Value(after[..length].to_owned()),
            });
            at = end;
        } else if rest.starts_with('>') {
            diagnostics.push(Diagnostic::new(
                at..at + 1,
                "`>` closes nothing; write `>>` for a literal one",
            ));
            at += 1;
        } else {
            let length = rest.find(['<', '>']).unwrap_or(rest.len());
            push_text(&mut pieces, &rest[..length], at..at + length);
            at += length;
        }
    }
    pieces
}

fn push_text(pieces: &mut Vec<Piece>, text: &str, range: Range<usize>) {
    if let Some(Piece {
        range: before,
        kind: Kind::Text(joined),
    }) = pieces.last_mut()
    {
        joined.push_str(text);
        before.end = range.end;
    } else {
        pieces.push(Piece {
            range,
            kind: Kind::Text(text.to_owned()),
        });
    }
}

/// The length of a placeholder up to its `>`. A `>` inside brackets, literals or a turbofish does not
/// end it.
///
/// The compiler's lexer cannot be used to try candidates: it reports an error at once, even if the
/// macro then tries something else.
fn placeholder_length(text: &str) -> Option<usize> {
    let mut brackets = 0_usize;
    let mut angles = 0_usize;
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if let Some(length) = literal_length(text, at) {
            at += length;
            continue;
        }
        match letter {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            _ if brackets > 0 => (),
            '<' if angles > 0 || text[..at].ends_with("::") => angles += 1,
            '>' if angles > 0 => angles -= 1,
            '>' => return Some(at),
            _ => (),
        }
        at += letter.len_utf8();
    }
    None
}

/// The length of the string or character literal that starts at `at`, if there is one and it is closed.
fn literal_length(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    match rest.chars().next()? {
        '"' => quoted_length(rest, '"'),
        // `'a'` and `'\''` are characters; `'a` alone is a lifetime.
        '\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => {
            quoted_length(rest, '\'')
        }
        'r' if !ends_in_word(text[..at].trim_end_matches(['b', 'c'])) => raw_length(rest),
        _ => None,
    }
}

fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == quote {
            return Some(at + 1);
        }
    }
    None
}

/// The length of `r"…"`, `r#"…"#` and so on.
fn raw_length(text: &str) -> Option<usize> {
    let hashes = text[1..].len() - text[1..].trim_start_matches('#').len();
    let content = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = content.find(&end)?;
    Some(1 + hashes + 1 + length + end.len())
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|letter: char| letter == '_' || letter.is_alphanumeric())
}

/// The start of a format specification in a placeholder: a single `:` outside brackets.
pub(crate) fn format_specification(placeholder: &str) -> Option<usize> {
    let mut brackets = 0_usize;
    placeholder.char_indices().find_map(|(at, letter)| {
        match letter {
            '(' | '[' | '<' => brackets += 1,
            ')' | ']' | '>' => brackets = brackets.saturating_sub(1),
            ':' if brackets == 0
                && !placeholder[..at].ends_with(':')
                && !placeholder[at + 1..].starts_with(':') =>
            {
                return Some(at);
            }
            _ => (),
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(template: &str) -> (Vec<String>, Vec<String>) {
        let mut diagnostics = Vec::new();
        let pieces = scan(template, &mut diagnostics)
            .into_iter()
            .map(|piece| match piece.kind {
                Kind::Text(text) => text,
                Kind::Value(source) => format!("<{source}>"),
            })
            .collect();
        let diagnostics = diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.message)
            .collect();
        (pieces, diagnostics)
    }

    fn pieces(template: &str) -> Vec<String> {
        let (pieces, diagnostics) = scanned(template);
        assert_eq!(diagnostics, Vec::<String>::new(), "{template}");
        pieces
    }

    #[test]
    fn template_is_split_into_text_and_placeholders() {
        assert_eq!(pieces("order:<id>:x"), ["order:", "<id>", ":x"]);
        assert_eq!(pieces("<a>:<b.0>"), ["<a>", ":", "<b.0>"]);
        assert_eq!(pieces("plain"), ["plain"]);
        assert_eq!(pieces(""), [""; 0]);
        assert_eq!(pieces("é<漢>"), ["é", "<漢>"]);
    }

    #[test]
    fn doubled_bracket_is_literal() {
        assert_eq!(pieces("a<<b>>c"), ["a<b>c"]);
        assert_eq!(pieces("<<<id>>>"), ["<", "<id>", ">"]);
    }

    #[test]
    fn bracket_in_nested_code_does_not_end_a_placeholder() {
        assert_eq!(pieces("<m.get(a > b)>"), ["<m.get(a > b)>"]);
        assert_eq!(pieces("<m[a >> 2]>:"), ["<m[a >> 2]>", ":"]);
        assert_eq!(pieces("<a.to::<Vec<u8>>()>:"), ["<a.to::<Vec<u8>>()>", ":"]);
        assert_eq!(pieces(r#"<m.get(">\")")>:"#), [r#"<m.get(">\")")>"#, ":"]);
    }

    #[test]
    fn bracket_in_a_literal_does_not_end_a_placeholder() {
        for placeholder in [
            "<m.strip('(')>",
            "<m.strip('\\'', ')')>",
            r#"<m.replace('"', "x")>"#,
            r##"<m.get(r#"")>"#)>"##,
            r#"<m.get(br"\)>")>"#,
            "<m.get(b'>')>",
            "<m.parse::<Kind<'a>>()>",
            "<m.r(')')>",
            "<m['}']>",
        ] {
            let template = format!("a:{placeholder}:b");
            assert_eq!(pieces(&template), ["a:", placeholder, ":b"]);
        }
        // These are not literals. The compiler reports them.
        assert_eq!(pieces("<m.a'>"), ["<m.a'>"]);
        assert_eq!(pieces("<m.a\">:"), ["<m.a\">", ":"]);
    }

    #[test]
    fn unpaired_bracket_is_reported() {
        assert_eq!(
            scanned("a<id").1,
            ["`<` is never closed; write `<<` for a literal one"]
        );
        assert_eq!(
            scanned("a->b:<id>"),
            (
                vec!["a-b:".to_owned(), "<id>".to_owned()],
                vec!["`>` closes nothing; write `>>` for a literal one".to_owned()]
            )
        );
    }

    #[test]
    fn single_colon_starts_a_format_specification() {
        assert_eq!(format_specification("id:08"), Some(2));
        assert_eq!(format_specification("id:?"), Some(2));
        assert_eq!(format_specification("Self::ID"), None);
        assert_eq!(format_specification("id.to::<u8>()"), None);
        assert_eq!(format_specification("m.get(|x: u8| x)"), None);
    }
}
