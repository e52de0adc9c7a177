//! Reports a mistake inside a template. On stable Rust, the compiler's carets mark the whole literal, so
//! the message contains carets of its own.

use std::fmt;
use std::ops::Range;

/// A mistake, and the bytes of the template that it concerns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
}

impl Diagnostic {
    pub(crate) fn new(range: Range<usize>, message: impl fmt::Display) -> Diagnostic {
        Diagnostic {
            range,
            message: message.to_string(),
        }
    }

    /// The message, followed by the template with carets under the part in question.
    pub(crate) fn rendered(&self, template: &str) -> String {
        // A string literal needs no escape for `'`.
        let shown = |range: Range<usize>| {
            let escaped = template[range].escape_debug().to_string();
            escaped.replace("\\'", "'")
        };
        let before = shown(0..self.range.start).chars().count();
        let under = shown(self.range.clone()).chars().count().max(1);
        format!(
            "{}\n\n    {}\n    {}{}",
            self.message,
            shown(0..template.len()),
            " ".repeat(before),
            "^".repeat(under),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_mark_the_part() {
        let diagnostic = Diagnostic::new(6..11, "no such argument");
        assert_eq!(
            diagnostic.rendered("order:<oid>"),
            "no such argument\n\n    order:<oid>\n          ^^^^^"
        );
    }

    #[test]
    fn carets_follow_the_escaped_text() {
        let diagnostic = Diagnostic::new(4..7, "m");
        assert_eq!(
            diagnostic.rendered("é\n:<a>"),
            "m\n\n    é\\n:<a>\n        ^^^"
        );
        assert_eq!(
            diagnostic.rendered("'a':<b>"),
            "m\n\n    'a':<b>\n        ^^^"
        );
        assert_eq!(Diagnostic::new(0..0, "m").rendered(""), "m\n\n    \n    ^");
    }
}
