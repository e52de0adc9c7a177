//! Cuts and folds texts that are too long for their place on the screen.

use ratatui::text::Span;

/// Stands for the remainder of a text.
const REST: char = '…';

/// A text in at most `width` columns. A cut text ends with an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if Span::raw(text).width() <= width {
        return text.to_owned();
    }
    match width {
        0 => String::new(),
        1 => REST.to_string(),
        _ => {
            let mut cut = folded(text, width - 1).swap_remove(0);
            cut.push(REST);
            cut
        }
    }
}

/// A text in lines of at most `width` columns; at least one line.
pub(crate) fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let (mut folded, mut used) = (String::new(), 0);
        for letter in line.chars() {
            let columns = Span::raw(letter.encode_utf8(&mut [0; 4]) as &str).width();
            if used + columns > width && !folded.is_empty() {
                lines.push(std::mem::take(&mut folded));
                used = 0;
            }
            folded.push(letter);
            used += columns;
        }
        lines.push(folded);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_cut_ends_with_an_ellipsis() {
        for (text, width, shown) in [
            ("order:42", 8, "order:42"),
            ("order:42", 7, "order:…"),
            ("order:42", 1, "…"),
            ("order:42", 0, ""),
            // Each of these has two columns.
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
        ] {
            assert_eq!(cut(text, width), shown, "{text} in {width}");
        }
    }

    #[test]
    fn folded_text_has_all_of_it() {
        assert_eq!(folded("abcdef\ng", 4), ["abcd", "ef", "g"]);
        assert_eq!(folded("日本語", 5), ["日本", "語"]);
        assert_eq!(folded("", 4), [""]);
    }
}
