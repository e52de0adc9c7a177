//! Characters of texts from other programs.

use std::fmt;

/// Returns whether a character of a key, a label or a reason may be shown without an escape: it is neither a control
/// character, which a terminal would obey, nor a character that reorders or hides the text around it.
///
/// Characters that are markup in a web page or a query language still need to be escaped.
///
/// # Examples
///
/// ```
/// use lock_runtime::inspect::is_printable;
///
/// let label = "api-7\u{1b}[2J ship";
/// let shown: String = label
///     .chars()
///     .map(|letter| if is_printable(letter) { letter } else { '\u{fffd}' })
///     .collect();
/// assert_eq!(shown, "api-7\u{fffd}[2J ship");
/// ```
#[must_use]
pub fn is_printable(character: char) -> bool {
    let hides = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    !character.is_control() && !hides
}

/// Escapes the characters of a text that are not [printable](is_printable), as `\u{1b}`, when it is displayed.
///
/// # Examples
///
/// ```
/// use lock_runtime::inspect::escape;
///
/// assert_eq!(escape("api-7\u{1b}[2J ship").to_string(), "api-7\\u{1b}[2J ship");
/// ```
pub fn escape(text: &str) -> Escaped<'_> {
    Escaped { text }
}

/// A text from another program, displayed without control characters; created by [`escape`].
#[derive(Clone, Copy, Debug)]
#[must_use = "it is a text only when it is displayed"]
pub struct Escaped<'a> {
    text: &'a str,
}

impl Escaped<'_> {
    fn write_to(self, out: &mut impl fmt::Write) -> fmt::Result {
        for character in self.text.chars() {
            if is_printable(character) {
                out.write_char(character)?;
            } else {
                write!(out, "{}", character.escape_unicode())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().or(f.precision()).is_none() {
            return self.write_to(f);
        }
        let mut padded = String::new();
        self.write_to(&mut padded)?;
        f.pad(&padded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_or_a_reader_misses_is_not_printable() {
        assert!("order:42 ü 漢 \"\\<b>🔒".chars().all(is_printable));
        let others = "\0\u{7}\r\n\u{1b}\u{7f}\u{9b}\u{ad}\u{200b}\u{202e}\u{2066}\u{feff}\u{e0041}";
        assert!(!others.chars().any(is_printable));
    }

    #[test]
    fn text_is_escaped_where_it_is_not_printable() {
        let text = "order:42 \u{1b}[31mred\u{7}\r\n\u{202e}txt.exe ü 漢 \\";
        assert_eq!(
            escape(text).to_string(),
            "order:42 \\u{1b}[31mred\\u{7}\\u{d}\\u{a}\\u{202e}txt.exe ü 漢 \\"
        );
    }

    #[test]
    fn escaped_text_fills_its_column() {
        assert_eq!(
            format!("{:>6}|{:.2}", escape("\u{7}"), escape("漢字漢")),
            " \\u{7}|漢字"
        );
    }
}
