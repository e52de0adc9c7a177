//! Characters of texts from other programs.

/// Returns whether a character of a key, a label or a reason can be shown as it is: it is neither a control character,
/// which a terminal would obey, nor a character that reorders or hides the text around it.
///
/// Characters that are markup in a web page or a query language still need to be escaped.
///
/// # Examples
///
/// ```
/// use lock_runtime::inspect::is_plain;
///
/// let label = "api-7\u{1b}[2J ship";
/// let shown: String = label
///     .chars()
///     .map(|letter| if is_plain(letter) { letter } else { '\u{fffd}' })
///     .collect();
/// assert_eq!(shown, "api-7\u{fffd}[2J ship");
/// ```
#[must_use]
pub fn is_plain(character: char) -> bool {
    let hides = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    !character.is_control() && !hides
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn control_and_invisible_characters_are_not_plain() {
        assert!("order:42 ü 漢 \"\\<b>🔒".chars().all(is_plain));
        let others = "\0\u{7}\r\n\u{1b}\u{7f}\u{9b}\u{ad}\u{200b}\u{202e}\u{2066}\u{feff}\u{e0041}";
        assert!(!others.chars().any(is_plain));
    }
}
