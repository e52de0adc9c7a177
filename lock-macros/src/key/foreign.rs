//! Reports placeholders in the syntax of other languages. In a template they are literal text, so all
//! calls would share one lock.

use std::ops::Range;

use crate::suggest;

use super::Place;
use super::diagnostic::Diagnostic;
use super::lint::is_meant;
use super::scan::{Kind, Piece};
use super::scope::Scope;

/// A foreign placeholder, and the placeholder that it stands for.
struct Found {
    range: Range<usize>,
    /// The argument, if the foreign placeholder names one.
    argument: Option<String>,
    /// The text between `<` and `>` of the correct placeholder.
    placeholder: String,
}

/// Reports foreign placeholders, all in one diagnostic that shows the corrected template.
///
/// A placeholder that names an argument, such as `#id`, is always reported. Only `:id` may be part of a route, as
/// in `get /orders/:id:<id>`, and is text if the template also has a placeholder for the argument. A placeholder
/// that counts arguments, such as `%s`, may be meant as text: it is reported only if the template has no other
/// placeholder. A bare name, as in `reload:cache`, is never reported: an argument may have the resource's name.
pub(super) fn placeholders(
    template: &str,
    pieces: &[Piece],
    scope: &dyn Scope,
    place: Place,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let texts = || pieces.iter().filter(|piece| is_text(piece));
    let mut found: Vec<Found> = texts()
        .flat_map(|piece| named(template, piece.range.clone(), scope))
        .filter(|found| !template[found.range.clone()].starts_with(':') || !is_used(found, pieces))
        .collect();
    if found.is_empty() && pieces.iter().all(is_text) {
        found = texts()
            .flat_map(|piece| counted(template, piece.range.clone()))
            .collect();
        number(&mut found, &scope.listed());
    }
    let Some(first) = found.first() else {
        return;
    };
    let written = &template[first.range.clone()];
    let why = match &first.argument {
        Some(argument) => format!("but `{argument}` is {}", scope.noun().with_article()),
        None => "and nothing in this key tells one call from another".to_owned(),
    };
    let text = if written.starts_with("<<") {
        "KEY".to_owned()
    } else {
        format!("{template:?}")
    };
    let text = place.takes_expressions().then(|| {
        let option = place.option(&format!("String::from({text})"));
        format!(", or `{option}` if you mean the text")
    });
    diagnostics.push(Diagnostic::new(
        first.range.clone(),
        format_args!(
            "`{written}` is literal text here, {why}; write `{}`{}",
            corrected(template, &found),
            text.unwrap_or_default(),
        ),
    ));
}

/// Returns whether a placeholder of this library has the argument that the foreign one names.
fn is_used(found: &Found, pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match &piece.kind {
        Kind::Text(_) => false,
        Kind::Value(source) => {
            let source = source.trim_start().trim_start_matches('*').trim_start();
            word(source) == found.argument.as_deref()
        }
    })
}

fn is_text(piece: &Piece) -> bool {
    matches!(piece.kind, Kind::Text(_))
}

/// The template with correct placeholders.
fn corrected(template: &str, found: &[Found]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for Found {
        range, placeholder, ..
    } in found
    {
        text += &template[at..range.start];
        text += &format!("<{placeholder}>");
        at = range.end;
    }
    text += &template[at..];
    joined(&text).unwrap_or(text)
}

/// Joins a concatenation: `'order:' + <id>` becomes `order:<id>`.
fn joined(text: &str) -> Option<String> {
    let parts = text.split('+').map(|part| {
        let part = part.trim();
        let quoted = part
            .strip_prefix('\'')
            .and_then(|part| part.strip_suffix('\''));
        quoted.or_else(|| part.starts_with('<').then_some(part))
    });
    parts.collect()
}

/// Finds `#id`, `$id`, `:id`, `@id`, `%id%`, `%(id)s` and `<<id>>`, each with its chain of `.field`s.
fn named(template: &str, piece: Range<usize>, scope: &dyn Scope) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = piece.start;
    while at < piece.end {
        let (before, rest) = (&template[..at], &template[at..piece.end]);
        match named_here(before, rest, scope) {
            Some((name, length, argument)) => {
                // `#{#id}`, the nested form of Spring.
                let nested = (before.ends_with("#{") || before.ends_with("${"))
                    && rest[length..].starts_with('}');
                let range = if nested {
                    at - 2..at + length + 1
                } else {
                    at..at + length
                };
                at = range.end;
                found.push(Found {
                    range,
                    argument: Some(argument),
                    placeholder: name,
                });
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// A placeholder at the head of `rest`: its text for `<…>`, its length, and the argument that it names.
fn named_here(before: &str, rest: &str, scope: &dyn Scope) -> Option<(String, usize, String)> {
    const FORMS: [(&str, &str); 7] = [
        ("#", ""),
        ("$", ""),
        (":", ""),
        ("@", ""),
        ("%(", ")s"),
        ("%", "%"),
        ("<<", ">>"),
    ];
    FORMS.iter().find_map(|(open, close)| {
        let path = chain(rest.strip_prefix(open)?)?;
        let end = open.len() + path.len();
        let is_alone = match *open {
            ":" => before.is_empty() || before.ends_with([':', '/']),
            "@" => !ends_in_word(before),
            _ => true,
        };
        if !is_alone || !rest[end..].starts_with(close) {
            return None;
        }
        let name = path.split('.').next().unwrap_or(path);
        let argument = meant(name, scope)?;
        let placeholder = format!("{argument}{}", &path[name.len()..]);
        Some((placeholder, end + close.len(), argument))
    })
}

/// The argument with this name, even if it is spelt in camel case.
fn meant(name: &str, scope: &dyn Scope) -> Option<String> {
    // A name with a capital first letter is a type, as `Self` is.
    let snake = name
        .starts_with(char::is_lowercase)
        .then(|| suggest::snake(name));
    let spellings = std::iter::once(name.to_owned()).chain(snake);
    spellings.into_iter().find(|name| is_meant(name, scope))
}

/// A name, and the `.field`s and `.method()`s after it.
fn chain(text: &str) -> Option<&str> {
    let mut length = word(text)?.len();
    while let Some(next) = text[length..].strip_prefix('.').and_then(word) {
        length += 1 + next.len();
        if text[length..].starts_with("()") {
            length += 2;
        }
    }
    Some(&text[..length])
}

fn word(text: &str) -> Option<&str> {
    let is_part = |letter: char| letter == '_' || letter.is_alphanumeric();
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let starts = text.starts_with(|letter: char| is_part(letter) && !letter.is_numeric());
    starts.then_some(&text[..end])
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|letter: char| letter == '_' || letter.is_alphanumeric())
}

/// Finds `%s`, `%1$s`, `{0}`, `$1`, `#p0`, and `?` between separators. [`number`] assigns the arguments.
fn counted(template: &str, piece: Range<usize>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = piece.start;
    while at < piece.end {
        let (before, rest) = (&template[..at], &template[at..piece.end]);
        let length = counted_here(before, rest);
        if let Some(length) = length {
            found.push(Found {
                range: at..at + length,
                argument: None,
                placeholder: String::new(),
            });
        }
        at += length.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
    }
    found
}

/// The length of a placeholder that counts arguments, at the head of `rest`.
fn counted_here(before: &str, rest: &str) -> Option<usize> {
    let digits = |text: &str| {
        text.find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let length = if let Some(after) = rest.strip_prefix('%') {
        let position = match digits(after) {
            count if count > 0 && after[count..].starts_with('$') => count + 1,
            _ => 0,
        };
        after[position..]
            .starts_with(['s', 'd', 'i', 'u', 'x', 'v'])
            .then_some(position + 2)
    } else if let Some(after) = rest.strip_prefix('{') {
        let count = digits(after);
        return (count > 0 && after[count..].starts_with('}')).then_some(count + 2);
    } else if let Some(after) = rest.strip_prefix('$') {
        Some(digits(after))
            .filter(|count| *count > 0)
            .map(|count| count + 1)
    } else if let Some(after) = rest.strip_prefix("#p").or(rest.strip_prefix("#a")) {
        Some(digits(after))
            .filter(|count| *count > 0)
            .map(|count| count + 2)
    } else {
        let is_alone = before.is_empty() || before.ends_with([':', '/']);
        let ends = rest.len() == 1 || rest[1..].starts_with([':', '/']);
        return (rest.starts_with('?') && is_alone && ends).then_some(1);
    }?;
    word(rest[length..].get(..1).unwrap_or_default())
        .is_none()
        .then_some(length)
}

/// Assigns the arguments in order, and the last argument to all further placeholders.
fn number(found: &mut Vec<Found>, names: &[String]) {
    if names.is_empty() {
        found.clear();
    }
    let names = names.iter().chain(std::iter::repeat(match names.last() {
        Some(last) => last,
        None => return,
    }));
    for (found, name) in found.iter_mut().zip(names) {
        found.placeholder.clone_from(name);
    }
}

#[cfg(test)]
mod tests;
