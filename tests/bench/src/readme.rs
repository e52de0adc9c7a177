//! The place of the figures in a text.

/// Stands before and behind them.
const MARK: &str = "<!-- figures -->\n";

/// The text with other figures; none if it has no place for them.
pub(crate) fn with_figures(text: &str, figures: &str) -> Option<String> {
    let (before, rest) = text.split_once(MARK)?;
    let (_, after) = rest.split_once(MARK)?;
    Some(format!("{before}{MARK}{figures}{MARK}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced_and_nothing_else() {
        let text = "# Figures\n<!-- figures -->\nold\n\nolder\n<!-- figures -->\nprose\n";
        let new = with_figures(text, "new\n").unwrap();
        assert_eq!(
            new,
            "# Figures\n<!-- figures -->\nnew\n<!-- figures -->\nprose\n"
        );
        assert_eq!(with_figures(&new, "new\n"), Some(new));
    }

    #[test]
    fn a_text_without_both_marks_is_left_alone() {
        assert_eq!(with_figures("prose\n", "new\n"), None);
        assert_eq!(with_figures("<!-- figures -->\nold\n", "new\n"), None);
    }
}
